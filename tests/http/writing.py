# SPDX-License-Identifier: MIT
"""Pages with text, drawn with the font of pixels that Pillow brings, so that no font need be installed. The model comes with the build
(`make models`). Tests that need it are skipped without it, but for CI, where they fail."""

import os

import numpy
import pytest
from PIL import Image, ImageDraw, ImageFont

import daemon
from faces import encoded

MODEL = daemon.ROOT / 'build/models/ppocr.text'

needed = pytest.mark.skipif(not MODEL.exists() and os.environ.get('CI') != 'true', reason=f'no {MODEL.name}: make models')

LINES = ('Dear Ms Holloway', 'your account 4471 0927 is', 'overdue by 1289 pounds', 'Please call Peter Quill')


def word(text, height):
    """How much ink each pixel has, 0 to 255, for letters of that height."""
    font = ImageFont.load_default()
    left, top, right, bottom = font.getbbox(text)
    drawn = Image.new('L', (right, bottom))
    ImageDraw.Draw(drawn).text((0, 0), text, 255, font)
    return drawn.resize((right * height // bottom, height), Image.Resampling.BICUBIC)


def page(size, words, dark=False):
    """A picture and the boxes of its words. Words are (left, top, text, height)."""
    ink = Image.new('L', size)
    boxes = []
    for left, top, text, height in words:
        drawn = word(text, height)
        ink.paste(drawn, (left, top))
        boxes.append((left, top, left + drawn.width, top + drawn.height))
    paper, pen = ((24, 26, 30), (225, 225, 220)) if dark else ((250, 250, 247), (25, 25, 30))
    return Image.composite(Image.new('RGB', size, pen), Image.new('RGB', size, paper), ink), boxes


def letter(height=20, dark=False, size=(640, 400)):
    """LINES, below each other."""
    return page(size, [(40, 40 + i * height * 2, text, height) for i, text in enumerate(LINES)], dark)


def corners(box):
    return (box['x'], box['y'], box['x'] + box['width'], box['y'] + box['height'])


def covered(picture, boxes):
    """The share of the ink that lies in the boxes."""
    pixels = numpy.asarray(picture.convert('L')).astype(int)
    ink = numpy.abs(pixels - pixels[-1, -1]) > 40
    inside = numpy.zeros(ink.shape, bool)
    for left, top, right, bottom in boxes:
        inside[max(0, round(top)):round(bottom), max(0, round(left)):round(right)] = True
    return (ink & inside).sum() / ink.sum()


def png(picture):
    return encoded(picture, 'PNG')
