#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Draws screenshots: an editor, a page with a photograph, a table and a chat, each as PNG in RGB, in RGBA with full alpha, in grey and
in grey stored as RGB, in 250, 64, 16 and 4 colours, in 64 colours with alpha and in black and white. The same every time.

    tests/python.sh bench/screens.py FOLDER [KIND]... [--size 1920x1080]     all kinds without one: rgb, rgba, grey …
    build/release/bench/codecs --effort 1 FOLDER/*.png     time of a core and bytes of the PNG encoder

Letters are DejaVu's (fonts-dejavu-core), without colours at their edges."""
import argparse
import pathlib
import random

from PIL import Image, ImageDraw, ImageFont

import pictures

FONTS = pathlib.Path('/usr/share/fonts/truetype/dejavu')
WORDS = 'invoice region server picture blur the of and to in deploy account with for queue customer filter street on by review quarter'.split()
CODE = ((212, 212, 212), (86, 156, 214), (206, 145, 120), (106, 153, 85))


class Screen:
    """A picture, its scale against 1080 rows, and words by chance."""

    def __init__(self, size, paper):
        self.picture = Image.new('RGB', size, paper)
        self.draw, self.chance = ImageDraw.Draw(self.picture), random.Random(7)
        self.width, self.height = size
        self.scale = self.height / 1080

    def units(self, number):
        return round(number * self.scale)

    def words(self, count):
        return ' '.join(self.chance.choice(WORDS) for _ in range(count))

    def text(self, x, y, text, pen, points=14, face='DejaVuSans'):
        self.draw.text((x, y), text, pen, ImageFont.truetype(str(FONTS / f'{face}.ttf'), self.units(points)))

    def box(self, left, top, right, bottom, paper, radius=0):
        self.draw.rounded_rectangle((left, top, right, bottom), radius, paper)

    def rows(self, first, step):
        return range(self.units(first), self.height - self.units(40), self.units(step))


def editor(size):
    screen = Screen(size, (30, 30, 30))
    screen.box(0, 0, screen.units(280), screen.height, (37, 37, 38))
    for number, y in enumerate(screen.rows(40, 19)):
        screen.text(screen.units(24), y, screen.words(1) + '.c', (204, 204, 204), 12)
        screen.text(screen.units(300), y, str(100 + number), (133, 133, 133), face='DejaVuSansMono')
        x = screen.units(350 + 32 * screen.chance.randrange(4))
        for _ in range(screen.chance.randrange(10)):
            word = screen.words(1) + screen.chance.choice((' ', '(', ') ', ' = ', ';', '->'))
            screen.text(x, y, word, screen.chance.choice(CODE), face='DejaVuSansMono')
            x += screen.units(8.4 * len(word))
    return screen.picture


def page(size):
    screen = Screen(size, (255, 255, 255))
    screen.box(0, 0, screen.width, screen.units(90), (25, 75, 140))
    screen.text(screen.units(200), screen.units(30), 'The Daily Example', (255, 255, 255), 28)
    photograph = Image.open(pictures.several(pictures.FULL, 'png')[0]).convert('RGB').resize((screen.units(820), screen.units(460)))
    screen.picture.paste(photograph, (screen.units(200), screen.units(130)))
    for y in screen.rows(620, 25):
        screen.text(screen.units(200), y, screen.words(14), (34, 34, 34), 16, 'DejaVuSerif')
    for y in screen.rows(130, 46):
        screen.text(screen.units(1080), y, screen.words(5), (26, 13, 171), 15)
    return screen.picture


def table(size):
    screen = Screen(size, (255, 255, 255))
    screen.box(0, 0, screen.width, screen.units(34), (33, 115, 70))
    for y in screen.rows(60, 21):
        screen.draw.line((0, y, screen.width, y), (212, 212, 212))
        for column, x in enumerate(range(0, screen.width, screen.units(96))):
            screen.draw.line((x, screen.units(60), x, screen.height), (212, 212, 212))
            value = screen.words(1) if column % 4 == 0 else f'{screen.chance.randrange(10**6) / 100:.2f}'
            screen.text(x + screen.units(6), y + 2, value, (0, 0, 0), 13)
    return screen.picture


def chat(size):
    screen = Screen(size, (239, 234, 226))
    screen.box(0, 0, screen.units(420), screen.height, (255, 255, 255))
    for y in screen.rows(60, 72):
        screen.box(screen.units(16), y, screen.units(62), y + screen.units(46), (223, 229, 231), screen.units(23))
        screen.text(screen.units(76), y + screen.units(8), screen.words(4), (17, 27, 33))
        x = screen.units(460 + 400 * screen.chance.randrange(2))
        screen.box(x, y, x + screen.units(560), y + screen.units(58), screen.chance.choice(((217, 253, 211), (255, 255, 255))), screen.units(9))
        screen.text(x + screen.units(12), y + screen.units(8), screen.words(10), (17, 27, 33))
    return screen.picture


def variants(picture):
    yield 'rgb', picture
    opaque = picture.copy()
    opaque.putalpha(255)
    yield 'rgba', opaque
    grey = picture.convert('L')
    yield 'grey', grey
    yield 'grey-rgb', grey.convert('RGB')
    yield 'palette', picture.quantize(250)
    for count in (64, 16, 4):
        yield f'palette-{count}', picture.quantize(count)
    clear = picture.quantize(64).convert('RGBA')
    clear.putalpha(clear.getchannel('G').point(lambda value: 255 if value < 240 else 0))
    yield 'palette-alpha', clear
    yield 'bits', picture.convert('L').point(lambda value: 255 * (value > 140)).convert('1')


def draw(folder, size, kinds=()):
    folder.mkdir(parents=True, exist_ok=True)
    for drawn in (editor, page, table, chat):
        for name, picture in variants(drawn(size)):
            if name in kinds or not kinds:
                picture.save(folder / f'{drawn.__name__}-{name}.png')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('kinds', nargs='*')
    parser.add_argument('--size', default='1920x1080')
    arguments = parser.parse_args()
    size = tuple(map(int, arguments.size.split('x')))
    draw(arguments.folder, size, arguments.kinds)


if __name__ == '__main__':
    main()
