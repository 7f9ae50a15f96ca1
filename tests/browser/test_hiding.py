# SPDX-License-Identifier: MIT
"""Hiding, as a person who never saw the page does it; and that nothing leaves that is not hidden."""

import io
import subprocess
import time

import numpy
import pytest
from PIL import Image, ImageDraw, ImageFont

import browser
import faces
from test_regions import near, numbers

PHONE = {'width': 390, 'height': 844, 'touch': True}
DESKTOP = {'width': 1280, 'height': 800}
LINES = ('Mara Alder, 14 Quay Street', 'Account 4417 0032 9985', 'Balance 1,284.50')
HEADS = ((40, 20, 150), (330, 30, 140), (610, 20, 150))  # left, top and width on the screenshot
ROWS = (300, 380, 460)  # tops of its lines
AT = 0.03, 0.62  # left and right of them, as parts of the width


def screenshot():
    """800x560: three faces, and three lines of text below them."""
    picture = faces.composed((800, 560), HEADS)
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 270, 800, 560), '#ffffff')
    for top, line in zip(ROWS, LINES):
        draw.text((40, top + 8), line, '#202020', ImageFont.truetype('DejaVuSans', 30))
    return faces.encoded(picture, 'PNG')


def pixels(content):
    return numpy.asarray(Image.open(io.BytesIO(content)).convert('RGB')).astype(int)


def middles():
    """Where faces are on the screenshot."""
    scale = [width / (faces.HEAD[2] - faces.HEAD[0]) for _, _, width in HEADS]
    return [(left + 95 * s, top + 118 * s) for (left, top, _), s in zip(HEADS, scale)]


def begin(page, state='', **window):
    page.open(**(window or DESKTOP), state=state)
    page.until(lambda: 'Draw a box' in page.text('#marked') and page.all('#finds button'), what='the page')
    return page


@pytest.fixture
def hide(page):
    """The page as it opens."""
    return begin(page)


def find(page, name):
    page.find(f'[data-find={name}]').click()
    page.until(lambda: not page.js('return document.querySelector("#finds [aria-busy]")'), what='the search')


def download_there(page):
    return page.js('const link = document.getElementById("download"); return link.checkVisibility() && link.hasAttribute("href")')


# --- a person, counted -----------------------------------------------------------------------------
class Person:
    """Does one thing at a time, with a finger on a phone."""

    def __init__(self, page, touch):
        self.page, self.touch, self.actions = page, touch, 0

    def upload(self, path):
        self.actions += 1
        self.page.upload(path)
        self.page.until(lambda: self.page.js('return document.getElementById("before").naturalWidth') == 800, what='the picture')

    def press(self, selector):
        """Only what is seen without scrolling."""
        self.actions += 1
        box = self.page.js('const box = document.querySelector(arguments[0]).getBoundingClientRect(); return [box.left, box.top, box.right, box.bottom, innerWidth, innerHeight]', selector)
        assert box[0] >= 0 and box[1] >= 0 and box[2] <= box[4] and box[3] <= box[5], selector
        self.page.find(selector).click()

    def drag(self, begin, end):
        self.actions += 1
        (self.page.touch_drag if self.touch else self.page.drag)(begin, end)


@faces.needed
@pytest.mark.parametrize('window', (DESKTOP, PHONE), ids=('desktop', 'phone'))
def test_faces_and_three_lines_of_a_screenshot_in_six_actions(page, driver, tmp_path, window):
    touch = window.get('touch', False)
    path = tmp_path / 'screen.png'
    path.write_bytes(screenshot())
    driver.execute_cdp_cmd('Emulation.setTouchEmulationEnabled', {'enabled': touch})
    try:
        begin(page, **window)
        person, start = Person(page, touch), time.monotonic()
        person.upload(path)
        person.press('[data-find=faces]')
        page.until(lambda: len(page.regions()) == 3, what='three faces')
        for top in ROWS:
            person.drag((AT[0], top / 560), (AT[1], (top + 56) / 560))
        page.until(lambda: len(page.regions()) == 6, what='three boxes')
        page.settled('PNG')
        assert download_there(page) and page.js('return document.getElementById("download").getBoundingClientRect().bottom <= innerHeight')
        person.actions += 1
        name, content = page.download()
        took = time.monotonic() - start
    finally:
        driver.execute_cdp_cmd('Emulation.setTouchEmulationEnabled', {'enabled': False})
    print(f'{person.actions} actions, {took:.1f} s')
    assert person.actions <= 6 and took < 30 and name == 'screen-hidden.png'
    after = pixels(content)
    assert all(after[int(y), int(x)].max() == 0 for x, y in middles())
    assert all(after[top + 6:top + 50, 40:480].max() == 0 for top in ROWS)
    assert (after[540:] == pixels(path.read_bytes())[540:]).all(), 'the rest is as it was'


# --- nothing leaves --------------------------------------------------------------------------------
def test_there_is_nothing_to_download_until_something_is_hidden(hide):
    time.sleep(0.5)
    assert not download_there(hide) and not hide.find('#download').is_displayed() and not hide.find('#compare-formats').is_displayed() and not hide.find('#original').is_displayed()
    assert not hide.find('#after').is_displayed() and hide.text('#facts') == 'Nothing is hidden yet.'
    assert hide.js('return performance.getEntriesByType("resource").filter((entry) => entry.name.includes("/redact")).length') == 0
    hide.find('#add').click()
    hide.settled()
    assert download_there(hide)
    hide.find('#clear').click()
    hide.until(lambda: hide.text('#facts') == 'Nothing is hidden yet.')
    assert not download_there(hide) and not hide.find('#after').is_displayed() and not hide.find('#download').is_displayed()
    time.sleep(0.5)
    assert not download_there(hide), 'no late answer brings it back'


def test_an_answer_without_the_latest_box_is_not_downloaded(hide):
    """From the moment that a box is drawn until it is hidden."""
    hide.find('#add').click()
    hide.settled()
    href = 'return document.getElementById("download").getAttribute("href")'
    assert hide.js(href)
    assert hide.js('document.getElementById("add").click();' + href) is None
    hide.settled()
    assert hide.js(href) and hide.command().count('region=') == 2


def test_a_slow_answer_does_not_come_back_after_a_change(hide):
    """All boxes go while the answer is shown."""
    hide.js("""const decode = HTMLImageElement.prototype.decode;
               HTMLImageElement.prototype.decode = function () {
                   return this.id === 'after' ? new Promise((go) => { window.goOn = go; }) : decode.call(this);
               };""")
    hide.find('#add').click()
    hide.until(lambda: hide.js('return Boolean(window.goOn)'), what='an answer')
    hide.find('#clear').click()
    hide.until(lambda: hide.text('#facts') == 'Nothing is hidden yet.')
    hide.js('window.goOn()')
    time.sleep(0.3)
    assert not download_there(hide) and hide.text('#facts') == 'Nothing is hidden yet.'


def test_another_picture_is_untouched(hide, folder):
    hide.find('#add').click()
    hide.settled()
    hide.upload(folder / 'photo.jpg')
    hide.until(lambda: hide.text('#facts') == 'Nothing is hidden yet.')
    assert hide.regions() == [] and not download_there(hide) and 'Draw a box over what must go' in hide.text('#marked')


@pytest.mark.parametrize('filter', ('blur', 'pixelate'))
def test_blurred_is_not_hidden(hide, filter):
    line = hide.find('#unhidden')
    hide.choose(filter)
    hide.settled()
    assert not line.is_displayed(), 'the whole picture is no place that is hidden'
    hide.find('#add').click()
    hide.settled()
    assert line.is_displayed() and 'Blurred, not hidden.' in line.text
    hide.find('#hide-instead').click()
    hide.settled()
    assert not line.is_displayed() and '/redact?region=' in hide.command() and len(hide.regions()) == 1


# --- what is found -----------------------------------------------------------------------------------
def sample(page, title):
    page.find(f'[data-sample={title}]').click()
    page.until(lambda: page.find(f'[data-sample={title}]').get_attribute('aria-pressed') == 'true')


@faces.needed
@pytest.mark.parametrize('title,wanted', (('Pass', (143, 256, 173, 220)), ('Portrait', (371, 204, 221, 251))))
def test_a_sample_has_a_face_that_is_found(hide, title, wanted):
    sample(hide, title)
    find(hide, 'faces')
    hide.settled()
    (box,) = [numbers(text) for text in hide.regions()]
    left, top, width, height = wanted
    assert box[0] <= left + 15 and box[1] <= top + 15 and box[0] + box[2] >= left + width - 15 and box[1] + box[3] >= top + height - 15
    assert hide.text('#region-list .chip').startswith('Face 1, ') and download_there(hide)


@faces.needed
def test_a_chip_points_out_its_box_and_keeps_it(hide):
    sample(hide, 'Pass')
    find(hide, 'text')
    hide.settled()
    count = len(hide.regions())
    assert count > 3 and hide.command().count('region=') == count
    chip = hide.find('#region-list li:nth-child(2) .chip')
    hide.js('arguments[0].dispatchEvent(new PointerEvent("pointerenter"))', chip)
    assert len(hide.all('#overlay .pointed')) == 1 and hide.find('#overlay .pointed').get_attribute('data-region') == '1'
    chip.click()
    hide.settled()
    assert chip.get_attribute('aria-pressed') == 'false' and chip.text.endswith(': kept')
    assert hide.command().count('region=') == count - 1 and f"region={chip.get_attribute('data-shape')}" not in hide.command()
    assert f'{count - 1} places hidden, 1 kept' in hide.text('#marked')
    hide.find('#undo').click()
    hide.settled()
    assert hide.command().count('region=') == count and hide.text('#region-list .chip').startswith('Text 1')
    for one in hide.all('#region-list .chip'):
        one.click()
    hide.until(lambda: hide.text('#facts') == 'Nothing is hidden yet.')
    assert not download_there(hide), 'all are kept'


@faces.needed
def test_who_draws_does_not_move_what_was_found(hide):
    sample(hide, 'Portrait')
    find(hide, 'faces')
    (found,) = hide.regions()
    hide.drag((0.5, 0.5), (0.9, 0.9))
    hide.settled()
    assert hide.regions()[0] == found and near(numbers(hide.regions()[1]), [480, 320, 384, 256])
    hide.click_at(0.45, 0.4)  # a click selects
    assert len(hide.regions()) == 2 and hide.find('#overlay .selected').get_attribute('data-region') == '0'


def test_nothing_is_found(hide, folder):
    hide.upload(folder / 'photo.jpg')
    hide.until(lambda: hide.js('return document.getElementById("before").naturalWidth') == 320)
    find(hide, 'faces')
    hide.until(lambda: 'No face was found. Draw a box' in hide.text('#marked'), what='the sentence')
    assert hide.regions() == [] and not download_there(hide)


# --- the request ---------------------------------------------------------------------------------------
@faces.needed
def test_the_copied_request_searches_any_picture(hide, tmp_path):
    """It hides in the same picture what the page hides there."""
    content = faces.photograph()
    (tmp_path / 'group.jpg').write_bytes(content)
    hide.upload(tmp_path / 'group.jpg')
    find(hide, 'faces')
    hide.settled('500 ×')
    assert hide.command().count('region=') == 6 and 'detect' not in hide.command()
    hide.js('document.querySelector("input[name=scope][value=any]").click()')
    assert '/redact?detect=faces&detect_shape=box' in hide.command() and 'region=' not in hide.command()
    done = subprocess.run(['bash', '-euc', hide.command()], cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0 and (tmp_path / 'group-hidden.jpg').read_bytes() == hide.download()[1]
    hide.js('document.querySelector("input[name=scope][value=boxes]").click()')
    assert hide.command().count('region=') == 6


# --- how it looks ------------------------------------------------------------------------------------------
def test_the_result_is_shown_whole_and_before_while_a_button_is_held(hide):
    hide.drag((0.1, 0.1), (0.4, 0.4))  # left of where the divider was
    hide.settled()
    hide.keys(browser.Keys.ESCAPE)
    assert not hide.find('#split').is_displayed()
    dark = lambda: numpy.asarray(hide.pixels('#frame').convert('L')).astype(int)
    def part():
        seen = dark()
        height, width = seen.shape
        return seen[height * 2 // 10:height * 3 // 10, width * 2 // 10:width * 3 // 10].mean()
    assert part() < 12
    hide.js('document.getElementById("hold").dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }))')
    assert part() > 40
    hide.js('document.getElementById("hold").dispatchEvent(new PointerEvent("pointerup", { bubbles: true }))')
    assert part() < 12
    hide.js('document.getElementById("hold").focus()')
    hide.driver.execute_cdp_cmd('Input.dispatchKeyEvent', {'type': 'keyDown', 'key': ' ', 'code': 'Space', 'windowsVirtualKeyCode': 32})
    assert part() > 40
    hide.driver.execute_cdp_cmd('Input.dispatchKeyEvent', {'type': 'keyUp', 'key': ' ', 'code': 'Space', 'windowsVirtualKeyCode': 32})
    assert part() < 12


def test_a_sentence_over_the_picture_leaves_by_itself(page):
    page.tool('ellipse')
    assert 'Drag' in page.text('#hint')
    page.until(lambda: page.text('#hint') == '', timeout=9, what='its end')


def test_plain_words(hide):
    text = hide.js('document.querySelectorAll("details").forEach((one) => (one.open = true)); return document.body.innerText')
    assert 'Cannot be undone.' in text
    for name in ('blur', 'convolve', 'resize', 'adjust'):
        hide.choose(name)
        text += hide.js('return document.body.innerText')
    hide.settled()
    for word in ('clamp', 'Convolve', 'Dilate', 'Erode', 'everywhere', 'Outside', 'Input', 'Answer', 'bits per'):
        assert word not in text, word
