# SPDX-License-Identifier: MIT
"""The pictures of the benchmarks, made once under build/bench/pictures: photographs of ../shared/corpus,
scaled (CORPUS: another place), or without it variants of the sample of `make build/sample.jpg`. JPEG is
quality 90, 4:2:0, as cameras and web sites have it; PNG is RGB, as Pillow writes it."""

import os
import pathlib

import numpy
from PIL import Image, ImageOps

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDER = ROOT / 'build' / 'bench' / 'pictures'
PHOTOS = pathlib.Path(os.environ.get('CORPUS', ROOT.parent / 'shared' / 'corpus')) / 'photos'

FULL = (1920, 1080)
SIZES = [(160, 90), (320, 180), (640, 360), (1280, 720), FULL, (3840, 2160)]
TINY = (16, 16)

# As they are, where they have the size; the others are scaled.
ORIGINALS = {('sunset', FULL, 'jpeg'): 'sunset_1920x1080_420_q90.jpg',
             ('sunset', FULL, 'png'): 'sunset_1920x1080_rgb.png'}
SCALED = {'sunset': 'sunset_1920x1080_rgb.png', 'roses': 'roses_4000x3000_420_q90.jpg',
          'dog': 'dog_4032x3024_420_icc_orient6_xmp.jpg', 'park': 'park_3296x2472_422_dri4.jpg'}
LARGE = ['roses', 'dog']  # at least as large as the largest of SIZES


def have_photos():
    return all((PHOTOS / name).exists() for name in [*SCALED.values(), *ORIGINALS.values()])


def about():
    return 'photographs of the corpus' if have_photos() else 'the generated sample and variants of it'


def original(subject):
    if have_photos():
        return Image.open(PHOTOS / SCALED[subject]).convert('RGB')
    picture = Image.open(ROOT / 'build' / 'sample.jpg').convert('RGB')
    number = list(SCALED).index(subject)
    picture = ImageOps.mirror(picture) if number % 2 else picture
    grain = numpy.random.default_rng(number).normal(0, 3 * number, (picture.height, picture.width, 1))
    return Image.fromarray(numpy.clip(numpy.asarray(picture) + grain, 0, 255).astype(numpy.uint8))


def make(subject, size, form):
    """The path of the picture, which is made when it is not there yet."""
    if have_photos() and (subject, size, form) in ORIGINALS:
        return PHOTOS / ORIGINALS[subject, size, form]
    kind = 'photo' if have_photos() else 'sample'
    path = FOLDER / f'{kind}-{subject}-{size[0]}x{size[1]}.{form}'
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        picture = ImageOps.fit(original(subject), size, Image.Resampling.LANCZOS)
        options = {'quality': 90, 'subsampling': '4:2:0'} if form == 'jpeg' else {}
        picture.save(path, form, **options)
    return path


def several(size, form):
    """Four pictures of the size."""
    return [make(subject, size, form) for subject in SCALED]


def large(size, form):
    """Two, at any of SIZES."""
    return [make(subject, size, form) for subject in LARGE]
