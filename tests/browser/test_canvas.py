# SPDX-License-Identifier: MIT
"""The picture in the window: what is seen without scrolling, zoom and pan, the slider at any zoom, undo, the address."""

import urllib.parse

import pytest
from selenium.webdriver.common.keys import Keys

import browser
import pictures
from test_regions import near, numbers

SIGMA = '#own > .panel:not([hidden]) [data-parameter=sigma] input'
BOX = 'const box = document.querySelector(arguments[0]).getBoundingClientRect(); return [box.x, box.y, box.right, box.bottom]'


def box(page, selector):
    return page.js(BOX, selector)


def scale(page):
    """Pixels of the screen for one of the picture."""
    left, _, right, _ = box(page, '#frame')
    return (right - left) / page.js('return document.getElementById("before").naturalWidth')


def wheel(page, x, y, delta):
    page.driver.execute_cdp_cmd('Input.dispatchMouseEvent', {'type': 'mouseWheel', 'x': x, 'y': y, 'deltaX': 0, 'deltaY': delta})


def pull(page, begin, end):
    page.mouse('mousePressed', *begin)
    page.mouse('mouseMoved', *end)
    page.mouse('mouseReleased', *end)


def undo(page, *more):
    page.js('document.activeElement.blur()')
    page.driver.execute_cdp_cmd('Input.dispatchKeyEvent', {'type': 'keyDown', 'modifiers': 2 + 8 * bool(more), 'key': 'z', 'code': 'KeyZ', 'windowsVirtualKeyCode': 90})
    return page.settled()


# --- the window -------------------------------------------------------------------------------------
@pytest.mark.parametrize('width,height', ((1920, 1080), (1440, 900), (1024, 768)))
def test_time_and_request_are_seen_without_scrolling(driver, server, downloads, width, height):
    page = browser.Playground(driver, server.url(''), downloads).open(width, height)
    page.settled()
    for selector in ('#frame', '#facts strong', '#stages', '#languages', '#code', '#copy', '#download', '#compare-formats', '#filters', SIGMA):
        left, top, right, bottom = box(page, selector)
        assert right > left >= 0 and bottom > top >= 0 and right <= width, selector
        assert (top if selector == '#code' else bottom) <= height, selector
    assert page.js('const facts = document.getElementById("facts").firstChild; return facts.offsetWidth <= facts.parentNode.clientWidth')
    assert page.js('return document.documentElement.scrollHeight') == height
    left, top, right, bottom = box(page, '#frame')
    for x, y in ((left + 2, top + 2), (right - 2, top + 2), (right - 2, bottom - 2), (left + 2, bottom - 2)):
        inside = 'return Boolean(document.elementFromPoint(arguments[0], arguments[1]).closest("#frame, #split"))'
        assert page.js(inside, x, y), 'nothing lies over the fitted picture'
    assert page.wrongs() == []


@pytest.mark.parametrize('width,height', ((768, 1024), (390, 844), (360, 780)))
def test_narrow_windows_have_the_controls_before_the_code(driver, server, downloads, width, height):
    page = browser.Playground(driver, server.url(''), downloads).open(width, height, touch=True)
    page.settled()
    for selector in ('#frame', '#facts strong', '#download', '#groups', '#filters', SIGMA):
        left, top, right, bottom = box(page, selector)
        assert right > left >= 0 and bottom > top >= 0 and bottom <= height and right <= width, selector
    seen = 'return document.querySelector("#code").checkVisibility()'
    assert not page.js(seen), 'folded away'
    assert box(page, '#controls')[3] <= box(page, '#command')[1]
    page.js('document.querySelector("#command > summary").click()')
    page.js('scrollTo(0, document.documentElement.scrollHeight)')
    assert page.js(seen) and box(page, '#frame')[3] > 0 and box(page, '#download')[3] <= height, 'picture and answer stay'
    assert page.wrongs() == []


def test_the_line_on_the_picture(page):
    time, size, backend = page.text('#facts strong').split(' · ')
    assert time.endswith(' ms') and ' to ' in size and size.endswith(' kB') and backend.startswith('cpu/')
    widths = page.js('return [...document.querySelectorAll("#stages .fill")].map((part) => part.getBoundingClientRect().width)')
    assert len(widths) == 4 and sum(widths) > 0.9 * page.js('return document.getElementById("stages").clientWidth')
    assert 'decoding' in page.text('#legend')


# --- zoom and pan -------------------------------------------------------------------------------------
def test_zoom_by_the_wheel_stays_at_the_pointer(page):
    x, y = map(round, page.place(0.25, 0.4))  # events of the wheel have whole numbers
    left, top, right, bottom = box(page, '#frame')
    part = (x - left) / (right - left), (y - top) / (bottom - top)
    before = scale(page)
    for _ in range(3):
        wheel(page, x, y, -200)
    page.until(lambda: scale(page) > 2 * before, what='a larger picture')
    assert near(page.place(*part), (x, y), 2)
    for _ in range(30):
        wheel(page, x, y, -240)
    page.until(lambda: abs(scale(page) - 64) < 0.01, what='single pixels')
    assert page.js('return getComputedStyle(document.getElementById("after")).imageRendering') == 'pixelated'
    assert page.text('#zoom-fit') == '6400%'


def test_zoom_by_keys_and_buttons(page):
    fitted = scale(page)
    page.js('document.getElementById("stage").focus()')
    page.keys('1')
    assert abs(scale(page) - 1) < 0.001 and page.text('#zoom-fit') == '100%'
    page.keys('+')
    assert abs(scale(page) - 2) < 0.001
    page.find('#zoom-in').click()
    assert abs(scale(page) - 4) < 0.001
    page.find('#zoom-out').click()
    page.js('document.getElementById("stage").focus()')
    page.keys('-')
    assert abs(scale(page) - 1) < 0.001
    page.keys('0')
    assert abs(scale(page) - fitted) < 0.001
    page.find('#zoom-fit').click()
    assert abs(scale(page) - 1) < 0.001


def test_pan_by_mouse_and_keys(page):
    page.js('document.getElementById("stage").focus()')
    page.keys('1', '+')
    left, top, *_ = box(page, '#frame')
    pull(page, (500, 400), (440, 370))
    assert near(box(page, '#frame')[:2], (left - 60, top - 30), 1)
    page.js('document.getElementById("stage").focus()')
    page.keys(Keys.ARROW_LEFT, Keys.ARROW_UP)
    assert near(box(page, '#frame')[:2], (left, top + 30), 1)
    pull(page, (500, 400), (5000, 4000))
    assert page.js('return document.elementFromPoint(...arguments) !== null', 900, 600)
    frame, stage = box(page, '#frame'), box(page, '#stage')
    assert frame[0] < stage[2] and frame[1] < stage[3], 'a piece of it can always be seen'


def test_pinch(driver, server, downloads):
    driver.execute_cdp_cmd('Emulation.setTouchEmulationEnabled', {'enabled': True, 'maxTouchPoints': 2})
    try:
        page = browser.Playground(driver, server.url(''), downloads).open(390, 844, touch=True)
        page.settled()
        page.tool('rectangle')
        before = scale(page)
        x, y = page.place(0.5, 0.5)
        def touch(kind, *xs):
            driver.execute_cdp_cmd('Input.dispatchTouchEvent', {'type': kind, 'touchPoints': [
                {'x': x + at, 'y': y, 'id': i} for i, at in enumerate(xs)]})
        touch('touchStart', -20)
        touch('touchStart', -20, 20)
        for apart in (30, 40, 60):
            touch('touchMove', -apart, apart)
        touch('touchEnd')
        assert 2.5 < scale(page) / before < 3.5 and page.regions() == [], 'a pinch draws nothing'
    finally:
        driver.execute_cdp_cmd('Emulation.setTouchEmulationEnabled', {'enabled': False})


def test_regions_are_drawn_at_any_zoom(page):
    page.js('document.getElementById("stage").focus()')
    page.keys('1', '+', '+')
    page.tool('rectangle')
    left, top, *_ = box(page, '#frame')
    pull(page, (400, 300), (480, 360))
    page.settled()
    wanted = [(400 - left) / 4, (300 - top) / 4, 20, 15]
    assert near(numbers(page.regions()[0]), wanted, 1)
    pull(page, (440, 330), (440, 330))  # a click selects
    radius = page.js('return document.querySelector(".knob").getBoundingClientRect().width')
    assert radius < 20, 'handles keep their size on the screen'


# --- before and after -----------------------------------------------------------------------------------
def test_the_slider_stays_in_the_window(page):
    page.js('document.getElementById("stage").focus()')
    page.keys('1', '+', '+')
    page.js('document.querySelector("#split").focus()')
    for value in (0, 50, 100):
        page.set('#split', value)
        left, _, right, bottom = box(page, '#split')
        divider = box(page, '#divider')[0] + 1
        assert left >= 0 and right <= 1280 and bottom <= 900
        assert abs(divider - (left + 15 + value / 100 * (right - left - 30))) < 2, 'the divider is below its handle'
    before = box(page, '#divider')[0]
    page.js('document.getElementById("stage").focus()')
    page.keys(Keys.ARROW_RIGHT)
    assert abs(box(page, '#divider')[0] - before) < 2, 'the picture is moved below it'


# --- undo, redo, the address ------------------------------------------------------------------------------
def address(page):
    return urllib.parse.unquote(page.js('return location.hash'))


def test_undo_and_redo_by_keys(page):
    page.set(SIGMA, 20)
    page.settled()
    page.choose('sharpen')
    page.settled()
    page.tool('rectangle')
    page.drag((0.2, 0.2), (0.5, 0.5))
    page.settled()
    drawn = page.regions()
    assert len(drawn) == 1
    undo(page)
    assert page.regions() == [] and '/sharpen' in page.command()
    undo(page)
    assert '/blur?sigma=20' in page.command()
    undo(page)
    assert '/blur?sigma=8' in page.command() and page.value(SIGMA) == '8' and not page.find('#undo').is_enabled()
    for _ in range(3):
        undo(page, 'shift')
    assert page.regions() == drawn and '/sharpen' in page.command() and not page.find('#redo').is_enabled()
    page.find('#undo').click()
    page.settled()
    assert page.regions() == [] and page.find('#redo').is_enabled()
    page.choose('median')
    page.settled()
    assert not page.find('#redo').is_enabled(), 'a new change ends what can be redone'


def test_undo_brings_the_picture_back(page):
    page.give('drop', pictures.small_png(), 'given.png', 'image/png')
    page.settled('40 ×')
    undo(page)
    assert '960 × 640 JPEG' in page.settled('960 ×') and '@landscape.jpg' in page.command()
    undo(page, 'shift')
    assert '40 × 30' in page.settled('40 ×') and '@given.png' in page.command()


STATES = ('blur?sigma=20&edge=mirror', 'redact?look=blur&sigma=9&region=100,120,200,80&region=ellipse:400,200,90,90&sample=Portrait',
          'redact?fill=ffffff&region=100,120,200,80',
          'pipeline?ops=blur:sigma=3|resize:width=200|pixelate&format=png', 'convolve?kernel=0,-1,0;-1,5,-1;0,-1,0&bias=10',
          'adjust?grayscale=true&sepia=0.5', 'sharpen?region=polygon:10,10,90,20,40,80&invert=true&feather=3&quality=70&backend=cpu')


@pytest.mark.parametrize('state', STATES)
def test_the_address_is_the_state(driver, server, downloads, state):
    """A page that is opened with it shows it, asks for it, and writes the same address."""
    page = browser.Playground(driver, server.url(''), downloads).open(state=state)
    page.settled()
    wanted = dict(urllib.parse.parse_qsl(state.partition('?')[2].replace('+', '%2B'), separator='&'))
    found = dict(urllib.parse.parse_qsl(address(page).lstrip('#').partition('?')[2].replace('+', '%2B')))
    assert address(page).startswith(f'#{state.split("?")[0]}?')
    assert found == {'sample': 'Landscape', **wanted}
    command = urllib.parse.unquote(page.command())
    assert all(value in command for name, value in wanted.items() if name not in ('sample', 'look'))
    assert f"@{found['sample'].lower()}.jpg" in command and page.wrongs() == []


def test_an_address_that_is_changed_is_followed(page):
    page.js('location.hash = "pixelate?block=40&sample=Letter"')
    page.until(lambda: '@letter.png' in page.command() and 'block=40' in page.command(), what='the letter')
    page.settled('PNG')
    for nonsense in ('nonsense', 'blur?region=1,2&sigma=', '%E0%A4%A', 'pipeline?ops=|||:::', 'blur?region=9999,1,2,3'):
        page.js('location.hash = arguments[0]', nonsense)
        page.settled('PNG')
    assert page.regions() == []


def test_the_address_has_no_token(page):
    page.js('const access = document.getElementById("access"); access.hidden = false; access.open = true')
    page.find('#token').send_keys('a-token-for-the-playground')
    page.settled()
    assert 'token' not in page.js('return location.href') and '$TOKEN' in page.command()
