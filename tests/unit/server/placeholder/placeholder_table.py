# SPDX-License-Identifier: MIT
"""Writes placeholder_table.def: hashes by the reference encoders, for the pictures that test_placeholder.c draws.

    git clone https://github.com/evanw/thumbhash
    pip install blurhash-python pillow
    python3 tests/unit/server/placeholder/placeholder_table.py thumbhash/js/thumbhash.js > tests/unit/server/placeholder/placeholder_table.def

blurhash-python 1.2.2 has the C encoder of woltapp/blurhash. Node.js runs the encoder of ThumbHash."""
import itertools
import json
import pathlib
import subprocess
import sys

import blurhash
from PIL import Image

KINDS = ('FLAT', 'RAMP', 'NOISE', 'BOARD', 'BOWL', 'CLOUDS')
ALPHAS = ('OPAQUE', 'FADING', 'HOLE', 'CLEAR')
SIZES = ((1, 1), (1, 100), (100, 1), (2, 3), (7, 5), (16, 16), (33, 97), (64, 64), (75, 100), (100, 67), (99, 100), (100, 100))
COMPONENTS = ((4, 3), (1, 1), (9, 9), (1, 9), (9, 1), (3, 4), (5, 6), (2, 2))
SCRIPT = """
import {readFileSync} from 'fs';
const {rgbaToThumbHash} = await import('data:text/javascript;base64,' + readFileSync(process.argv[1]).toString('base64'));
const pictures = JSON.parse(readFileSync(0));
console.log(JSON.stringify(pictures.map(([w, h, rgba]) => Buffer.from(rgbaToThumbHash(w, h, rgba)).toString('base64'))));
"""


def mix(seed, x, y, channel):
    value = seed * 0x9E3779B1 + x * 0x85EBCA77 + y * 0xC2B2AE3D + channel * 0x27D4EB2F & 0xFFFFFFFF
    value = (value ^ value >> 15) * 0x2C1B3C6D & 0xFFFFFFFF
    value = (value ^ value >> 12) * 0x297A2D39 & 0xFFFFFFFF
    return (value ^ value >> 15) >> 24


def cloud(seed, x, y, channel):
    left, top, right, low = x // 16, y // 16, x % 16, y % 16
    above = mix(seed, left, top, channel) * (16 - right) + mix(seed, left + 1, top, channel) * right
    below = mix(seed, left, top + 1, channel) * (16 - right) + mix(seed, left + 1, top + 1, channel) * right
    return (above * (16 - low) + below * low) // 256


def colour(row, x, y, channel):
    kind, _, width, height, seed = row
    across, down = max(width - 1, 1), max(height - 1, 1)
    if kind == 'RAMP':
        return (x * 255 // across, y * 255 // down, 255 - (x + y) * 255 // (across + down))[channel]
    if kind == 'BOWL':
        return (abs(2 * x - width + 1) * 255 // across, abs(2 * y - height + 1) * 255 // down, 0)[channel]
    if kind == 'BOARD':
        return (x // 3 + y // 3) % 2 * 255
    return {'FLAT': mix(seed, 0, 0, channel), 'NOISE': mix(seed, x, y, channel), 'CLOUDS': cloud(seed, x, y, channel)}[kind]


def alpha(row, x, y):
    _, kind, width, height, _ = row
    distance = (2 * x - width + 1) ** 2 + (2 * y - height + 1) ** 2
    return {'OPAQUE': 255, 'FADING': (x + y) * 255 // (width + height), 'HOLE': 0 if distance < width * height // 4 else 255, 'CLEAR': 0}[kind]


def rows():
    for seed, (kind, (width, height)) in enumerate(itertools.product(KINDS, SIZES)):
        yield kind, 'OPAQUE', width, height, seed
    for seed, (kind, veil) in enumerate(itertools.product(KINDS, ALPHAS[1:])):
        width, height = SIZES[(5 * seed) % len(SIZES)]
        yield kind, veil, width, height, seed


def main():
    pictures, hashes = [], []
    for index, row in enumerate(rows()):
        width, height = row[2:4]
        places = [(x, y) for y in range(height) for x in range(width)]
        pixels = [(*(colour(row, x, y, channel) for channel in range(3)), alpha(row, x, y)) for x, y in places]
        image = Image.new('RGB', (width, height))
        image.putdata([pixel[:3] for pixel in pixels])
        components = COMPONENTS[index % len(COMPONENTS) if index % 2 else 0]
        hashes.append((row, components, blurhash.encode(image, *components)))
        pictures.append((width, height, list(itertools.chain(*pixels))))
    command = ['node', '--input-type=module', '-e', SCRIPT, str(pathlib.Path(sys.argv[1]).resolve())]
    thumbs = json.loads(subprocess.run(command, input=json.dumps(pictures), text=True, check=True, capture_output=True).stdout)
    print('/* SPDX-License-Identifier: MIT\n * Made by placeholder_table.py. Kind, alpha, width, height, seed, components; BlurHash, ThumbHash. */')
    for (row, components, text), thumb in zip(hashes, thumbs):
        kind, veil, width, height, seed = row
        text = text.replace('??', '?\\?')  # no trigraphs
        print(f'    {{{kind}, {veil}, {width}, {height}, {seed}, {components[0]}, {components[1]},\n     "{text}", "{thumb}"}},')


main()
