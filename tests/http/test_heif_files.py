# SPDX-License-Identifier: MIT
"""Layouts of AVIF and HEIC files that are legal and rare: each gives the picture, turned the same, with its metadata."""

import struct

import numpy
import pytest

import anatomy
import heif
import pictures

KINDS = ('avif', 'heic')
WIDTH, HEIGHT = 96, 64
SHOWN = '/blur?sigma=1&format=png&png_reduce=false&metadata=keep&region=999999,999999,1,1'  # changes no pixel
IROT, IMIR = heif.box(b'irot', b'\1'), heif.box(b'imir', b'\1')


def simple(kind, *properties):
    """A file of one picture, and the number of that."""
    file = heif.File(kind)
    return file, file.picture(heif.coded(kind, pictures.photograph(WIDTH, HEIGHT)), WIDTH, HEIGHT, *properties)


def ask(server, body, more=''):
    answer = server.post(SHOWN + more, body)
    assert answer.status_code == 200, answer.text
    return answer


def pixels(server, body, more=''):
    return anatomy.pixels(ask(server, body, more).content)


@pytest.mark.parametrize('kind', KINDS)
def test_a_turned_picture_is_turned_without_autorotate(server, kind):
    stored = pixels(server, simple(kind)[0].write())
    for properties, expected in (((IROT,), numpy.rot90(stored)), ((IMIR,), stored[:, ::-1]), ((IROT, IMIR), numpy.rot90(stored)[:, ::-1])):
        body = simple(kind, *properties)[0].write()
        for more in ('', '&autorotate=true', '&autorotate=false'):
            assert (pixels(server, body, more) == expected).all()


@pytest.mark.parametrize('kind', KINDS)
def test_the_base_of_offsets_counts(server, kind):
    file, _ = simple(kind)
    assert (pixels(server, file.write(base=20)) == pixels(server, file.write())).all()


@pytest.mark.parametrize('base', (0, 20))
def test_the_base_of_offsets_counts_for_tiles(server, base):
    """The description of a grid is read before the library."""
    tile = heif.coded('heic', pictures.photograph(WIDTH, HEIGHT))
    file = heif.File('heic')
    grid = file.add(b'grid', struct.pack('>BBBBHH', 0, 0, 0, 1, 2 * WIDTH, HEIGHT), heif.ispe(2 * WIDTH, HEIGHT))
    file.refer(b'dimg', grid, *(file.picture(tile, WIDTH, HEIGHT) for _ in range(2)))
    alone = pixels(server, simple('heic')[0].write())
    found, expected = pixels(server, file.write(base)), numpy.hstack([alone, alone])
    seam = slice(WIDTH - 1, WIDTH + 1)  # chroma is interpolated there
    assert (numpy.delete(found, seam, 1) == numpy.delete(expected, seam, 1)).all()


def exif_orientations(order):
    """A TIFF structure that says a camera and an orientation of 6."""
    mark, number = {'<': b'II', '>': b'MM'}[order], order + 'HHI'
    return mark + struct.pack(order + 'HIH', 42, 8, 2) + struct.pack(number + '4s', 0x10F, 2, 4, b'Cam\0') \
        + struct.pack(number + 'HH', 0x112, 3, 1, 6, 0) + bytes(4)


@pytest.mark.parametrize('order', '<>')
@pytest.mark.parametrize('prefix', (b'', b'Exif\0\0', b'other bytes before it'))
@pytest.mark.parametrize('kind', KINDS)
def test_exif_behind_a_prefix(server, kind, prefix, order):
    file, picture = simple(kind, IROT)
    file.refer(b'cdsc', file.add(b'Exif', struct.pack('>I', len(prefix)) + prefix + exif_orientations(order)), picture)
    answer = ask(server, file.write())
    assert anatomy.pixels(answer.content).shape[:2] == (WIDTH, HEIGHT)  # turned by the container alone
    tiff = dict(anatomy.chunks(answer.content))['eXIf']
    tags, _ = anatomy.tags(tiff)
    assert tiff[:2] == {'<': b'II', '>': b'MM'}[order] and b'Cam\0' in tiff
    assert tags[0x112] == 1
