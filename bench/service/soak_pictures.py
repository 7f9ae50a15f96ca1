# SPDX-License-Identifier: MIT
"""The requests of the soak: pictures of many kinds, made from given photographs with Pillow, and targets."""
import collections

from PIL import Image

import photographs
from photographs import jpeg, png, scaled

# name: of the picture; weight: how often it is sent, less for large ones; damaged: the answer must be 400.
Kind = collections.namedtuple("Kind", "name target body weight damaged")

TARGETS = ("/blur?sigma=1.5", "/blur?sigma=5", "/blur?sigma=20", "/blur?sigma=100", "/blur?sigma=3&quality=95",
           "/sharpen?sigma=1.5&amount=0.8", "/pixelate?block=12", "/blur?sigma=5&colorspace=linear",
           "/blur?sigma=8&format=png", "/blur?sigma=8&format=jpeg")
FEW_TARGETS = TARGETS[1:6:4]  # for pictures that take long to prepare: a blur and a sharpening
SIZES = ((64, 48), (161, 121), (320, 240), (641, 481), (1280, 720), (1920, 1080), (4000, 3000))
SMALL = (320, 240)
MIDDLE = (641, 481)
ORIENTATION = 274


def turned(picture, orientation):
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    return jpeg(picture, exif=exif.tobytes())


def pictures(originals, largest):
    """(name, width x height, bytes) of whole pictures; no side is longer than `largest`."""
    sizes = [size for size in SIZES if size[0] <= largest]
    for i, size in enumerate(sizes):
        source = originals[i % len(originals)]
        color, grey = scaled(source, size), scaled(source, size, "L")
        for subsampling in photographs.SUBSAMPLING:
            yield f"JPEG {subsampling}, {size[0]}x{size[1]}", size, jpeg(color, subsampling)
        yield f"grey JPEG, {size[0]}x{size[1]}", size, jpeg(grey)
        yield f"progressive JPEG, {size[0]}x{size[1]}", size, jpeg(color, progressive=True)
        if size[0] <= 1280:
            yield f"PNG, {size[0]}x{size[1]}", size, png(color)
    for orientation in range(1, 9):
        yield f"JPEG, orientation {orientation}", MIDDLE, turned(scaled(originals[-1], MIDDLE), orientation)
        yield f"JPEG, orientation {orientation}, even", SMALL, turned(scaled(originals[-1], SMALL), orientation)
    yield "grey PNG", SMALL, png(scaled(originals[0], SMALL, "L"))
    yield "RGBA PNG", SMALL, png(scaled(originals[0], SMALL, "RGBA"))
    for side in (1, 8, 17):
        yield f"JPEG {side}x{side}", (side, side), jpeg(scaled(originals[0], (side, side)))


def kinds(originals, largest):
    """Every Kind: whole pictures with their targets, and truncated ones."""
    for name, size, body in pictures(originals, largest):
        megapixels = size[0] * size[1] / 1e6
        for target in TARGETS if megapixels < 3 else FEW_TARGETS:
            yield Kind(name, target, body, 1 / (1 + 8 * megapixels), False)
        if size in (SMALL, MIDDLE, photographs.FULL):
            for percent in (30, 75, 99):
                yield Kind("cut " + name.split(",")[0], TARGETS[1], body[:len(body) * percent // 100], 0.1, True)
