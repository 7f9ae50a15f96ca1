# SPDX-License-Identifier: MIT
"""Pictures with faces: an astronaut's, whom NASA took a photograph of that is in the public domain. `config/pypi.sh faces`
brings it. Tests that need it are skipped without it, but for CI, where they fail."""

import functools
import io
import os
import struct
import zlib

import pytest
from PIL import Image

import daemon

FILE = daemon.ROOT / 'build/faces/python/skimage/data/astronaut.png'
MODEL = daemon.ROOT / 'build/models/centerface.face'

needed = pytest.mark.skipif(not (MODEL.exists() and FILE.exists()) and os.environ.get('CI') != 'true',
                            reason=f'no {MODEL.name}, or no {FILE.name}: config/pypi.sh faces')



def are_there():
    """Whether the model and the photograph are there; in CI they must be."""
    found = MODEL.exists() and FILE.exists()
    assert found or os.environ.get('CI') != 'true', f'no {MODEL.name}, or no {FILE.name}'
    return found


HEAD, FACE = (130, 0, 320, 260), (181, 56, 270, 180)  # places in that photograph
PLACES = ((5, 5, 110), (125, 10, 120), (255, 5, 100), (370, 12, 125), (40, 190, 95), (250, 185, 100))  # left, top and width of heads


@functools.lru_cache(1)
def astronaut():
    with Image.open(FILE) as picture:
        return picture.convert('RGB')


def composed(size, places):
    """Heads on a wall; every other one is mirrored."""
    wall = Image.new('RGB', size, (96, 112, 120))
    for i, (left, top, width) in enumerate(places):
        head = astronaut().crop(HEAD).resize((width, width * 260 // 190), Image.Resampling.LANCZOS)
        wall.paste(head.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if i % 2 else head, (left, top))
    return wall


def encoded(picture, form='JPEG', **how):
    output = io.BytesIO()
    picture.save(output, form, **how)
    return output.getvalue()


@functools.lru_cache(1)
def photograph():
    """A JPEG of six faces, 500x332."""
    return encoded(composed((500, 332), PLACES), quality=92)


@functools.lru_cache(1)
def large():
    """A JPEG of three large faces, 586x460, which are found at a quarter of its size, too."""
    return encoded(composed((586, 460), ((5, 30, 185), (200, 10, 185), (395, 40, 185))), quality=92)


@functools.lru_cache(2)
def crowd(side, width):
    """A PNG of so many faces on each side, each of that width and a fifth higher."""
    height = width * 6 // 5
    tile = astronaut().crop((145, 30, 305, 222)).resize((width, height), Image.Resampling.LANCZOS)
    wall = Image.new('RGB', (side * width, side * height))
    for i in range(side * side):
        wall.paste(tile, (i % side * width, i // side * height))
    return encoded(wall, 'PNG')


def model_of_a_face_everywhere():
    """The model file with other heads: a face of 4x4 pixels in each square of 4x4. detect/model.h has the layout."""
    data = bytearray(MODEL.read_bytes())
    weights, scales, biases, end = (len(data) - size for size in (640, 256, 192, 64))
    data[weights:scales] = bytes(scales - weights)
    data[biases:biases + 60] = struct.pack('<15i', round(4 / struct.unpack_from('<f', data, scales)[0]), *[0] * 14)
    data[end:end + 4] = struct.pack('<I', zlib.crc32(data[:end]))
    return bytes(data)


def reference():
    """The boxes of photograph(), as left, top, right, bottom."""
    boxes = []
    for i, (left, top, width) in enumerate(PLACES):
        scale = width / (HEAD[2] - HEAD[0])
        sides = [FACE[0] - HEAD[0], FACE[2] - HEAD[0]]
        if i % 2:
            sides = [HEAD[2] - FACE[2], HEAD[2] - FACE[0]]
        boxes.append((left + sides[0] * scale, top + FACE[1] * scale, left + sides[1] * scale, top + FACE[3] * scale))
    return boxes


def again(data, form='JPEG', change=lambda picture: picture, **how):
    """The photograph changed and encoded anew."""
    return encoded(change(Image.open(io.BytesIO(data))), form, **how)


def corners(face):
    return (face['x'], face['y'], face['x'] + face['width'], face['y'] + face['height'])


def overlap(a, b):
    """Intersection over union."""
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    both = max(wide, 0) * max(high, 0)
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def found(wanted, boxes, least=0.75):
    """How many of the wanted boxes are there."""
    return sum(any(overlap(box, other) >= least for other in boxes) for box in wanted)
