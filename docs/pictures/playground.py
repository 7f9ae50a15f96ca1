# SPDX-License-Identifier: MIT
"""Makes the pictures of the playground beside this file, by a daemon of this tree and Chromium.

    make check-browser && python3 docs/pictures/playground.py
"""

import pathlib
import sys
import tempfile

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'tests/http'), str(ROOT / 'tests/browser')]

import browser
import daemon


def save(page, name):
    """With 192 colours, mixed where there are more: half of the bytes."""
    path = ROOT / f'docs/pictures/{name}.png'
    page.screenshot(path)
    picture = Image.open(path).convert('RGB')
    picture.quantize(palette=picture.quantize(192), dither=Image.Dither.FLOYDSTEINBERG).save(path, optimize=True)
    print(f'{path.relative_to(ROOT)} {path.stat().st_size} bytes')


def sample(page, number):
    page.all('#samples button')[number].click()
    page.settled()


def draw(page, shape, begin, end):
    page.tool(shape)
    page.drag(begin, end)
    page.settled()


def main():
    with tempfile.TemporaryDirectory() as folder, daemon.Daemon('--gpus', 'none') as server, browser.running(folder) as driver:
        page = browser.Playground(driver, server.url(''), folder)
        page.open(1280, 800)
        page.settled()
        page.set('#split', 25)
        save(page, 'playground')
        page.open(1280, 800, dark=True)
        sample(page, 2)
        page.choose('redact')
        draw(page, 'rectangle', (0.147, 0.405), (0.82, 0.51))
        draw(page, 'rectangle', (0.147, 0.53), (0.43, 0.62))
        page.set('#split', 20)
        save(page, 'playground-dark')
        page.open(390, 844, touch=True)
        sample(page, 1)
        page.choose('pixelate')
        draw(page, 'ellipse', (0.345, 0.17), (0.655, 0.76))
        save(page, 'playground-phone')


main()
