# SPDX-License-Identifier: MIT
"""Pictures with codes. Tests that need the reader are skipped without its library, but for CI, where they fail."""
import io
import os

import pytest
from PIL import Image

import daemon

LIBRARY = daemon.ROOT / 'build/codes/libblurd-zxing.so'
needed = pytest.mark.skipif(not LIBRARY.exists() and os.environ.get('CI') != 'true', reason=f'no {LIBRARY.name}')

SECRET = 'a secret'
QR = """#######.#.#...####### #.....#.##..#.#.....# #.###.#..#..#.#.###.# #.###.#..##.#.#.###.# #.###.#...#.#.#.###.# #.....#..##...#.....#
 #######.#.#.#.####### .........#.##........ .#....###.#..#.....## .#####...#.#####..#.. ....#####.#.#.....#.. ####.#...###...#.###.
 .#.#.##..######.#..## ........#.##.##.#.#.# #######.#..##.#..#.#. #.....#...####...##.# #.###.#..#.#...#....# #.###.#..##.#..####..
 #.###.#..##...#.#.### #.....#.##.....####.. #######...##.#.#...#.""".split()  # says SECRET
LINEAR = '##.#..#....##.###.#...#...##.#...#...#...##.##...#.###.#...##.#...##.###...#.##.##..##..#.###.####.#...###.##.##...#..#..##.####.##.##...###.#.##'


def drawn(rows, module, height=1):
    """A grey picture of dark and light modules."""
    code = Image.new('L', (len(rows[0]), len(rows)), 255)
    for y, row in enumerate(rows):
        for x, dark in enumerate(row):
            code.putpixel((x, y), 20 if dark == '#' else 235)
    return code.resize((code.width * module, code.height * module * height), Image.Resampling.NEAREST)


def page(*places, size=(640, 480), ground=235):
    """A page with codes, each with its left upper corner."""
    made = Image.new('L', size, ground)
    for code, place in places:
        made.paste(code, place)
    return made


def encoded(picture, form='PNG', **how):
    output = io.BytesIO()
    picture.save(output, form, **how)
    return output.getvalue()


def holds(box, rectangle):
    left, top, right, bottom = rectangle
    return box['x'] <= left and box['y'] <= top and box['x'] + box['width'] >= right and box['y'] + box['height'] >= bottom
