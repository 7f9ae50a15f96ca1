# SPDX-License-Identifier: MIT
"""That everybody can use it: names, roles, contrast, focus, keys alone, small windows, dark and quiet ones."""

import pytest
from selenium.webdriver.common.keys import Keys

import daemon
import pictures

AXE = daemon.ROOT / 'build/tools/axe/axe_core_python/axe.min.js'

# Every text that is seen, with its colours and size: [text, foreground, background, pixels, bold].
TEXTS = """
const seen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && element.getClientRects().length;
function behind(element) {
    for (let one = element; one; one = one.parentElement) {
        const colour = getComputedStyle(one).backgroundColor;
        if (!/, 0\\)|transparent/.test(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
}
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const found = [];
const add = (element, text, style) => found.push([text.trim().slice(0, 40), style.color, behind(element), parseFloat(style.fontSize), Number(style.fontWeight) >= 700]);
while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (walker.currentNode.textContent.trim() && seen(element) && !element.closest('script, style, option, :disabled')) {
        add(element, walker.currentNode.textContent, getComputedStyle(element));
    }
}
document.querySelectorAll('input[type=number], select, textarea').forEach((field) => {
    if (!seen(field)) return;
    add(field, `value of ${field.id}`, getComputedStyle(field));
    if (field.placeholder) add(field, `placeholder of ${field.id}`, getComputedStyle(field, '::placeholder'));
});
// Borders say what is a control: they stand out from what is around them, too.
document.querySelectorAll('button:enabled, .button, select, input[type=number], textarea').forEach((field) => {
    const style = getComputedStyle(field);
    // Buttons of a toolbar have none: their icons and texts are what stands out.
    if (seen(field) && !/, 0\\)|transparent/.test(style.borderTopColor)) found.push([`border of ${field.id || field.textContent}`, style.borderTopColor, behind(field.parentElement), 100, true]);
});
return found;
"""
# Controls that can be reached, with the name that is read out.
NAMES = """
return [...document.querySelectorAll('button, input, select, textarea, a[href], summary, [tabindex], [role]')].map((element) => {
    const labelled = element.getAttribute('aria-labelledby');
    const name = element.getAttribute('aria-label') || (labelled && document.getElementById(labelled)?.textContent) ||
        [...(element.labels ?? [])].map((label) => label.textContent).join(' ') || element.textContent;
    return [element.outerHTML.slice(0, 90), name.trim(), element.getAttribute('role')];
});
"""
# References to elements that are not there.
REFERENCES = """
const names = ['for', 'aria-describedby', 'aria-labelledby'];
return [...document.querySelectorAll(names.map((name) => `[${name}]`).join())].flatMap((element) => names.flatMap((name) =>
    (element.getAttribute(name) ?? '').split(' ').filter((id) => id && !document.getElementById(id))));
"""
# Elements that are cut off at a side, and elements that are too small to be touched. Narrow screens scroll the row of filters.
OUTSIDE = """
return [...document.querySelectorAll('button, input, select, textarea, img, pre, .field, li')].filter((element) => {
    const box = element.getBoundingClientRect();
    return element.checkVisibility() && !element.closest('.hidden, table') && !(element.closest('#filters, #sources, #strip-list') && innerWidth <= 820) && box.width && (box.left < -1 || box.right > innerWidth + 1);
}).map((element) => element.outerHTML.slice(0, 80));
"""
SMALL = """
return [...document.querySelectorAll('button, .button, select, .choice, summary, input:not([type=radio], [type=checkbox], [type=file], #split)')].filter((element) =>
    element.checkVisibility() && !element.closest('.hidden') && element.getBoundingClientRect().height < 44).map((element) => element.outerHTML.slice(0, 80));
"""
STATES = {
    'blur': lambda page: None,
    'convolve': lambda page: page.choose('convolve'),
    'pipeline': lambda page: page.choose('pipeline'),
    'tiles': lambda page: page.choose('redact') or page.look('pixelate') or page.find('#add').click(),
    'drawing': lambda page: page.tool('polygon') or [page.click_at(*point) for point in ((0.2, 0.3), (0.5, 0.3), (0.4, 0.6))],
    'stats': lambda page: page.choose('stats'),
    'all open': lambda page: page.js('document.getElementById("access").hidden = false; document.querySelectorAll("details").forEach((one) => (one.open = true))'),
    'hide': lambda page: page.choose('redact') or page.find('#add').click(),
    'kept': lambda page: page.find('#add').click() or page.find('#region-list .chip').click(),
    'several': lambda page: several(page),
    'blurred': lambda page: page.choose('blur'),
    'formats': lambda page: page.find('#compare-formats').click(),
    'refused': lambda page: page.js('document.getElementById("formats").close()') or page.choose('blur') or page.set('#output-quality', 101),
}


def several(page):
    """A strip whose pictures have been sent: with a box in the first, and nothing to be found in the other."""
    page.js("""const transfer = new DataTransfer();
               for (const name of ['first.png', 'second.png']) transfer.items.add(new File([new Uint8Array(arguments[0])], name, { type: 'image/png' }));
               document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));""", list(pictures.small_png()))
    page.until(lambda: len(page.all('.thumb')) == 2 and page.js('return document.getElementById("before").naturalWidth') == 40, what='the strip')
    page.find('#add').click()
    page.settled()
    page.find('#hide-all').click()
    page.until(lambda: ' hidden.' in page.text('#strip-status'), what='the end')


def light_of(colour):
    """Relative luminance (WCAG 2.2)."""
    if colour.startswith('color(srgb'):
        parts = [float(value) for value in colour[11:-1].split()[:3]]
    else:
        parts = [float(value) / 255 for value in colour[colour.index('(') + 1:-1].replace(',', ' ').split()[:3]]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    bright, dark = sorted((light_of(one), light_of(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def put(page, state):
    if state == 'formats':  # statistics have none
        page.js('document.querySelector("[data-sample=Landscape]").click()')
        page.choose('blur')
        page.js('document.getElementById("clear").click()')
        page.settled()
    STATES[state](page)
    if state == 'refused':
        page.refused()
    else:
        page.settled('Statistics' if state == 'stats' else ' · ')


def states(page, dark=False, width=1280, height=900):
    """The page in one state after the other."""
    page.open(width, height, dark=dark, touch=width < 500)
    page.settled()
    for state in STATES:
        put(page, state)
        yield state


@pytest.mark.parametrize('dark', (False, True), ids=('light', 'dark'))
def test_contrast(page, dark):
    for state in states(page, dark):
        texts = page.js(TEXTS)
        low = [(text, round(contrast(front, back), 2)) for text, front, back, size, bold in texts
               if contrast(front, back) < (3 if size >= 24 or bold and size >= 18.66 else 4.5)]
        assert len(texts) > 40 and not low, state


def test_names(page):
    for state in states(page):
        assert not [what for what, name, role in page.js(NAMES) if not name and role not in ('status', 'alert', 'group', 'img')], state
        ids = page.js('return [...document.querySelectorAll("[id]")].map((element) => element.id)')
        assert len(ids) == len(set(ids)), state
        assert page.js(REFERENCES) == [], state
    assert page.js('return document.documentElement.lang') == 'en' and len(page.all('h1')) == 1 and len(page.all('main')) == 1


@pytest.mark.skipif(not AXE.exists(), reason='no axe-core: run make check-browser')
@pytest.mark.parametrize('dark', (False, True), ids=('light', 'dark'))
@pytest.mark.parametrize('width,height', ((1280, 900), (390, 844)), ids=('desktop', 'phone'))
def test_axe(page, dark, width, height):
    for state in states(page, dark, width, height):
        page.driver.execute_cdp_cmd('Runtime.evaluate', {'expression': AXE.read_text()})
        done = page.driver.execute_async_script('axe.run().then(arguments[0])')
        wrong = [(one['id'], [node['html'] for node in one['nodes']]) for one in done['violations']]
        assert wrong == [] and len(done['passes']) > 20, state


def test_everything_is_reached_by_tab_and_shows_the_focus(page):
    page.find('#add').click()
    page.js('document.activeElement.blur(); document.getElementById("access").hidden = false; document.querySelectorAll("details").forEach((one) => (one.open = true))')
    reached, plain = set(), []
    for _ in range(160):
        page.keys(Keys.TAB)
        here, outlined = page.js('''const here = document.activeElement;
            const style = getComputedStyle(here.closest('.choice') ? here.nextElementSibling : here.id === 'file' ? document.querySelector('[for=file]') : here);
            const drawn = here.closest('#overlay') || here.id === 'split';
            return [here.id || here.getAttribute('aria-label') || here.textContent, drawn ? true : style.outlineStyle === 'solid' && parseFloat(style.outlineWidth) >= 2]''')
        if here in reached and len(reached) > 20 and 'playground' in here:
            break
        reached.add(here)
        if not outlined and here and page.js('return document.activeElement !== document.body'):
            plain.append(here)
    assert plain == []
    assert {'file', 'token', 'theme', 'add', 'clear', 'hold', 'copy', 'download', 'reset', 'output-format', 'input-colorspace', 'region-feather'} <= reached
    assert any('Region 1' in name for name in reached) and any(name.startswith('Corner 4') for name in reached)


def test_filters_are_chosen_by_arrow_keys(page):
    page.js('document.querySelector("input[name=filter]:checked").focus()')
    page.keys(Keys.ARROW_RIGHT)
    page.settled()
    assert '/sharpen' in page.command()


# --- looks -------------------------------------------------------------------------------------------
def background(page):
    return light_of(page.js('return getComputedStyle(document.body).backgroundColor'))


def test_light_and_dark(page):
    assert background(page) > 0.7
    page.open(dark=True)
    page.settled()
    assert background(page) < 0.05
    for text, dark in (('Light', False), ('Dark', True), ('Auto', True)):
        page.find('#theme').click()
        assert page.text('#theme') == text and (background(page) < 0.05) == dark


def test_nothing_moves_for_those_who_asked(page):
    fill = 'return getComputedStyle(document.querySelector(".fill")).transitionDuration'
    assert page.js(fill) == '0.2s'
    page.open(motion='reduce')
    page.settled()
    assert page.js(fill) == '0s'


@pytest.mark.parametrize('width,height', ((320, 560), (360, 740), (740, 360), (820, 1100), (1600, 1000)))
def test_sizes(page, width, height):
    """Nothing is cut off or needs scrolling aside; on phones controls are large enough to touch."""
    page.open(width, height, touch=width < 500)
    page.settled()
    for state in STATES:
        put(page, state)
        assert page.js('return document.documentElement.scrollWidth') <= width, state
        assert page.js(OUTSIDE) == [], state
        assert width > 500 or page.js(SMALL) == [], state


ROWS = """
return [...document.querySelectorAll('#command > .bar, #answer > .bar, #page-tools, .card .bar')].filter((row) => {
    const boxes = [...row.children].filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect());
    return boxes.some((box) => box.top >= boxes[0].bottom || box.bottom <= boxes[0].top);
}).map((row) => row.outerHTML.slice(0, 80));
"""
CUT = """
const wide = (element) => element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight;
return [...document.querySelectorAll('#facts > *, #legend > *, #statistics, .help, h2')].filter((one) => one.checkVisibility()).filter(wide).map((one) => one.outerHTML.slice(0, 80));
"""


@pytest.mark.parametrize('width,height', ((1440, 900), (1024, 768), (768, 1024), (390, 844), (360, 640)))
def test_rows_and_words_stay_whole(page, width, height):
    page.open(width, height, touch=width < 800)
    page.settled()
    assert page.js('return scrollY') == 0, 'a window that scrolls begins at its top'
    for state in ('blur', 'stats', 'formats'):
        put(page, state)
        assert page.js(ROWS) == [] and page.js(CUT) == [], state
        if state == 'stats':
            heights = page.js('return [...document.querySelectorAll("#statistics th")].map((cell) => cell.clientHeight)')
            assert len(heights) == 8 and min(heights) > 10 and max(heights) < 2 * min(heights)
