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

SIZES = ((1440, 900), (1024, 768), (768, 1024), (390, 844), (360, 640))


def save(page, name):
    """As WebP: a PNG has five times the bytes."""
    path = ROOT / f'docs/pictures/{name}.webp'
    with Image.open(io.BytesIO(page.driver.get_screenshot_as_png())) as picture:
        picture.convert('RGB').save(path, quality=88, method=6)
    print(f'{path.relative_to(ROOT)} {path.stat().st_size} bytes')


def sample(page, number):
    page.all('#samples button')[number].click()
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


def picture_of_redaction(page):
    page.choose('redact')
    draw(page, 'rectangle', (0.147, 0.405), (0.82, 0.51))
    draw(page, 'rectangle', (0.147, 0.53), (0.43, 0.62))
    page.set('#split', 20)


def picture_of_a_face(page):
    page.choose('pixelate')
    draw(page, 'ellipse', (0.345, 0.17), (0.655, 0.76))


# name, the number of the sample, what is done to it, how the page is opened
PICTURES = (
    ('playground', 0, lambda page: page.set('#split', 25), {'width': 1280, 'height': 800}),
    ('playground-dark', 2, picture_of_redaction, {'width': 1280, 'height': 800, 'dark': True}),
    ('playground-phone', 1, picture_of_a_face, {'width': 390, 'height': 844, 'touch': True}),
)


def make(page):
    for name, number, prepare, window in PICTURES:
        page.open(**window)
        page.settled()
        if number:
            sample(page, number)
        prepare(page)
        repeat(page)
        save(page, name)


# --- screens to look at ------------------------------------------------------------------
def regions(page):
    draw(page, 'rectangle', (0.1, 0.3), (0.4, 0.7))
    draw(page, 'ellipse', (0.55, 0.2), (0.9, 0.6))


def polygon(page):
    page.tool('polygon')
    for point in ((0.2, 0.2), (0.5, 0.15), (0.6, 0.6)):
        page.click_at(*point)


def upload(page):
    name = '2008_002470.jpg'
    path = pathlib.Path(page.folder) / name
    path.write_bytes(faces.photograph(name))
    page.upload(path)
    page.settled('500 ×')


def found(page):
    upload(page)
    page.find('#faces').click()
    page.until(page.regions)
    page.choose('redact')
    page.settled('500 ×')


def formats(page):
    page.find('#compare-formats').click()
    page.until(lambda: not page.js('return document.getElementById("compare-cards").hasAttribute("aria-busy")') and page.text('[data-format=png] strong'))


def choose(name, needle=' · '):
    return lambda page: page.choose(name) or page.settled(needle)


def language(name):
    return lambda page: page.js('document.querySelector(`input[name=language][value="${arguments[0]}"]`).click()', name)


def opened(selector):
    return lambda page: page.js('document.querySelectorAll(arguments[0]).forEach((one) => (one.open = true))', selector)


SCREENS = {
    'first': lambda page: None, 'uploaded': upload, 'regions': regions, 'polygon': polygon, 'faces': found, 'formats': formats,
    'go': language('Go'), 'csharp': language('C#'), 'stats': choose('stats', 'Statistics'), 'placeholder': choose('placeholder', 'Placeholder'),
    'pipeline': choose('pipeline'), 'convolve': choose('convolve'), 'timing': opened('#timing'), 'parameters': opened('#controls details'),
    'refused': lambda page: page.set('#output-quality', 101) or page.refused(),
}


def look(page, folder, names):
    folder.mkdir(parents=True, exist_ok=True)
    for width, height in SIZES:
        for dark in (False, True):
            for name in names or SCREENS:
                page.open(width, height, dark=dark, touch=width < 800)
                page.settled()
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
