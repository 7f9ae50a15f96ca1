# SPDX-License-Identifier: MIT
"""Makes the pictures of the playground beside this file, by a daemon of this tree and Chromium.

    make check-browser && tests/python.sh docs/pictures/playground.py
    tests/python.sh docs/pictures/playground.py FOLDER [SCREEN]...     screens at all sizes, light and dark, to be looked at
"""

import io
import pathlib
import sys
import tempfile

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'tests/http'), str(ROOT / 'tests/browser')]

import browser
import daemon
import faces
import pictures

SIZES = ((1920, 1080), (1280, 800), (1024, 768), (768, 1024), (390, 844), (360, 780))


def save(page, name):
    """As WebP: a PNG has five times the bytes."""
    path = ROOT / f'docs/pictures/{name}.webp'
    with Image.open(io.BytesIO(page.driver.get_screenshot_as_png())) as picture:
        picture.convert('RGB').save(path, quality=88, method=6)
    print(f'{path.relative_to(ROOT)} {path.stat().st_size} bytes')


def find(page, *names):
    for name in names:
        page.find(f'[data-find={name}]').click()
        page.until(lambda: not page.js('return document.querySelector("#finds [aria-busy]")'))
    page.settled()


def draw(page, shape, begin, end):
    page.tool(shape)
    page.drag(begin, end)
    page.settled()


def repeat(page):
    """The first request of a picture takes longer than those that people make by moving a slider."""
    for _ in range(5):
        page.set('#input-colorspace', 'rgb')
        page.settled()
        page.set('#input-colorspace', 'native')
        page.settled()


def picture_of_a_pass(page):
    find(page, 'faces', 'text', 'codes')
    page.find('#region-list li:nth-child(2) .chip').click()  # the heading stays
    repeat(page)


def picture_of_several(page):
    several(page)
    repeat(page)
    page.find('#hide-all').click()
    page.until(lambda: 'hidden.' in page.text('#strip-status'))


# name, what is done, how the page is opened
PICTURES = (
    ('playground', picture_of_a_pass, {'width': 1280, 'height': 800}),
    ('playground-dark', picture_of_several, {'width': 1280, 'height': 800, 'dark': True}),
    ('playground-phone', lambda page: find(page, 'faces'), {'width': 390, 'height': 844, 'touch': True}),
)


def begin(page, state='', **window):
    page.open(**window, state=state)
    page.until(lambda: page.all('#finds button') and page.text('#facts') != 'Not computed yet.')


def make(page):
    for name, prepare, window in PICTURES:
        begin(page, **window)
        prepare(page)
        page.mouse('mouseMoved', 2, 2)
        save(page, name)


# --- screens to look at ------------------------------------------------------------------
def regions(page):
    draw(page, 'rectangle', (0.1, 0.3), (0.4, 0.7))
    draw(page, 'ellipse', (0.55, 0.2), (0.9, 0.6))


def polygon(page):
    page.tool('polygon')
    for point in ((0.2, 0.2), (0.5, 0.15), (0.6, 0.6)):
        page.click_at(*point)


def several(page):
    """Two groups, and a picture without a face."""
    paths = [pathlib.Path(page.folder) / name for name in ('group.jpg', 'three.jpg', 'pattern.png')]
    for path, content in zip(paths, (faces.photograph(), faces.large(), pictures.png(pictures.photograph(320, 200)))):
        path.write_bytes(content)
    page.upload('\n'.join(map(str, paths)))
    page.until(lambda: len(page.all('.thumb')) == len(paths) and page.js('return document.getElementById("before").naturalWidth') == 500)
    find(page, 'faces')


def blurred(page):
    draw(page, 'rectangle', (0.1, 0.3), (0.4, 0.7))
    page.choose('blur')
    page.settled()


def formats(page):
    page.choose('blur')
    page.settled()
    page.find('#compare-formats').click()
    page.until(lambda: not page.js('return document.getElementById("compare-cards").hasAttribute("aria-busy")') and page.text('[data-format=png] strong'))


def choose(name, needle=' · '):
    return lambda page: page.choose(name) or page.settled(needle)


def language(name):
    return lambda page: page.js('document.querySelector(`input[name=language][value="${arguments[0]}"]`).click()', name)


def opened(selector):
    return lambda page: page.js('document.querySelectorAll(arguments[0]).forEach((one) => (one.open = true))', selector)


SCREENS = {
    'first': lambda page: None, 'regions': regions, 'polygon': polygon, 'found': picture_of_a_pass, 'strip': picture_of_several, 'formats': formats,
    'blurred': blurred, 'colours': choose('adjust'),
    'go': language('Go'), 'csharp': language('C#'), 'stats': choose('stats', 'Statistics'), 'placeholder': choose('placeholder', 'Placeholder'),
    'pipeline': choose('pipeline'), 'convolve': choose('convolve'), 'timing': opened('#timing'), 'parameters': opened('#controls details'),
    'refused': lambda page: page.choose('blur') or page.set('#output-quality', 101) or page.refused(),
}


def look(page, folder, names):
    folder.mkdir(parents=True, exist_ok=True)
    for width, height in SIZES:
        for dark in (False, True):
            for name in names or SCREENS:
                begin(page, width=width, height=height, dark=dark, touch=width < 800)
                SCREENS[name](page)
                page.screenshot(folder / f'{name}-{width}x{height}-{"dark" if dark else "light"}.png')


def main():
    with tempfile.TemporaryDirectory() as folder, daemon.Daemon('--gpus', 'none', port=8080) as server, browser.running(folder) as driver:
        page = browser.Playground(driver, server.url(''), folder)
        if sys.argv[1:]:
            look(page, pathlib.Path(sys.argv[1]), sys.argv[2:])
        else:
            make(page)


main()
