# SPDX-License-Identifier: MIT
"""HEIC files whose pixels share samples of chroma: they are interpolated, as those of JPEG and AVIF are."""

import struct

import numpy
import pytest

import anatomy
import foreign
import heif
import pictures

WIDTH, HEIGHT = 200, 120
UNFILTERED = '/blur?sigma=1&format=png&png_reduce=false&region=999999,999999,1,1'  # changes no pixel


def smooth(width=WIDTH, height=HEIGHT, swing=127.5):
    """Colours that change slowly, so that interpolated chroma comes near to them."""
    y, x = numpy.mgrid[0:height, 0:width]
    waves = (numpy.sin(x / 17 + y / 29), numpy.sin(x / 23 - y / 13), numpy.cos((x + 2 * y) / 31))
    return (127.5 + swing * numpy.dstack(waves)).round().astype(numpy.uint8)


def pixels(server, body):
    answer = server.post(UNFILTERED, body)
    assert answer.status_code == 200, answer.text
    return anatomy.pixels(answer.content).astype(int)


def error(found, samples):
    return abs(found - samples).mean()


@pytest.mark.parametrize('width, height', ((WIDTH, HEIGHT), (WIDTH - 1, HEIGHT - 1)))
def test_chroma_is_interpolated(server, width, height):
    samples = smooth(width, height)
    assert error(pixels(server, foreign.write('heic', samples)), samples) < 1  # 2.5 with repeated chroma


def test_chroma_under_alpha_is_interpolated(server):
    samples = numpy.dstack([smooth(), smooth()[..., 1] // 2 + 100])
    assert error(pixels(server, foreign.write('heic', samples)), samples) < 1


def test_deep_chroma_is_interpolated(server):
    samples = smooth().astype(numpy.uint16) * 257
    body = foreign.convert(('heif-enc', '-q', '95', '-b', '10'), pictures.png(samples, depth=16), 'png', 'heic')
    answer = server.post(UNFILTERED, body)
    assert error(anatomy.read_png(answer.content).astype(int) / 257, smooth()) < 1


@pytest.mark.parametrize('turn', (b'irot', b'imir', b'clap'))
def test_turned_and_cut_chroma_is_interpolated(server, turn):
    samples, file = smooth(), heif.File('heic')
    expected = {b'irot': numpy.rot90(samples), b'imir': samples[:, ::-1], b'clap': samples[20:100, 20:180]}[turn]
    how = heif.clap((160, 1), (80, 1), (0, 1), (0, 1)) if turn == b'clap' else heif.box(turn, b'\1')
    file.picture(heif.coded('heic', samples), WIDTH, HEIGHT, how)
    assert error(pixels(server, file.write()), expected) < 1


def test_chroma_of_tiles_is_interpolated_over_their_seam(server):
    samples, file = smooth(2 * WIDTH), heif.File('heic')
    grid = file.add(b'grid', struct.pack('>BBBBHH', 0, 0, 0, 1, 2 * WIDTH, HEIGHT), heif.ispe(2 * WIDTH, HEIGHT))
    halves = (numpy.ascontiguousarray(half) for half in (samples[:, :WIDTH], samples[:, WIDTH:]))
    tiles = [heif.coded('heic', half) for half in halves]
    file.refer(b'dimg', grid, *(file.picture(tile, WIDTH, HEIGHT) for tile in tiles))
    assert error(pixels(server, file.write()), samples) < 1


@pytest.mark.parametrize('full', (False, True))
@pytest.mark.parametrize('matrix, red, blue', ((1, .2126, .0722), (6, .299, .114), (9, .2627, .0593)))
@pytest.mark.parametrize('chroma', ('420', '422'))
def test_the_matrix_and_the_range_that_a_file_states_count(server, chroma, matrix, red, blue, full):
    """The file is coded as BT.601 of full range, and states another: what it then shows is computed here."""
    samples = smooth(swing=50)
    file = heif.File('heic')
    file.picture(heif.coded('heic', samples, '-p', f'chroma={chroma}'), WIDTH, HEIGHT, heif.box(b'colr', b'nclx', struct.pack('>HHHB', 1, 13, matrix, full << 7)))
    r, g, b = numpy.moveaxis(samples.astype(float), 2, 0)
    luma = .299 * r + .587 * g + .114 * b
    cb, cr = (b - luma) / 1.772, (r - luma) / 1.402
    if not full:
        luma, cb, cr = (luma - 16) * 255 / 219, cb * 255 / 224, cr * 255 / 224
    shown_red, shown_blue = luma + 2 * (1 - red) * cr, luma + 2 * (1 - blue) * cb
    shown_green = (luma - red * shown_red - blue * shown_blue) / (1 - red - blue)
    assert error(pixels(server, file.write()), numpy.dstack([shown_red, shown_green, shown_blue]).clip(0, 255)) < 1.2
