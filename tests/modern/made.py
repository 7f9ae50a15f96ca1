# SPDX-License-Identifier: MIT
"""Pictures that say how to turn them: WebP by EXIF; AVIF by its properties, beside which its EXIF says something
else, which counts for nothing. They are lossless, so that the upright pixels are known."""

import subprocess

import numpy
from PIL import Image

import pictures
import truth

FOLDER = truth.FOLDER / 'made'
SIZE = (48, 32)
NOT_THIS = 6  # the orientation that the EXIF of an AVIF file states


def run(*command):
    subprocess.run(list(map(str, command)), check=True, capture_output=True, timeout=truth.SECONDS)


def webp(orientation):
    """(file, upright samples)"""
    samples = pictures.photograph(*SIZE)
    plain, exif, path = (FOLDER / f'exif-{orientation}.{end}' for end in ('plain.webp', 'tiff', 'webp'))
    Image.fromarray(pictures.stored_as(samples, orientation)).save(plain, 'WEBP', lossless=True)
    exif.write_bytes(pictures.exif(orientation, extras=False))
    run('webpmux', '-set', 'exif', exif, plain, '-o', path)
    return path, samples


def avif(quarters, mirror):
    """The same; turned anticlockwise by quarters, then mirrored: 0 top to bottom, 1 left to right."""
    stored = pictures.photograph(*SIZE)
    png, exif, path = (FOLDER / f'irot-{quarters}-imir-{mirror}.{end}' for end in ('png', 'tiff', 'avif'))
    png.write_bytes(pictures.png(stored))
    exif.write_bytes(pictures.exif(NOT_THIS, extras=False))
    turns = ['--irot', quarters] + ([] if mirror is None else ['--imir', mirror])
    run('avifenc', '--lossless', '--speed', '10', '--exif', exif, *turns, png, path)
    samples = numpy.rot90(stored, quarters)
    return path, samples if mirror is None else samples[:, ::-1] if mirror else samples[::-1]


def files():
    """(file, upright samples) of each."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    yield from (webp(orientation) for orientation in range(1, 9))
    yield from (avif(quarters, mirror) for quarters in range(4) for mirror in (None, 0, 1))
