# SPDX-License-Identifier: MIT
"""BMP: each header, width of pixels and compression gives the picture that was stored, and what is not read is refused."""

import io
import struct

import numpy
import pytest
from PIL import Image

import anatomy
import bmps
import ffmpeg
import pictures
from bmps import bmp
from problems import check_problem

SAME = '/pixelate?block=1&format=png&png_reduce=false'  # changes no pixel
WIDTH, HEIGHT = 61, 45
RGB = pictures.photograph(WIDTH, HEIGHT)
RANDOM = numpy.random.default_rng(11)


def pixels(server, body):
    answer = server.post(SAME, body)
    assert answer.status_code == 200, answer.text
    return anatomy.pixels(answer.content)


def indexed(bits, colours=None):
    palette = RANDOM.integers(0, 256, (colours or 1 << bits, 3))
    return palette, RANDOM.integers(0, len(palette), (HEIGHT, WIDTH))


def by_pillow(body):
    with Image.open(io.BytesIO(body)) as picture:
        return numpy.asarray(picture.convert('RGB'))


def by_ffmpeg(body):
    samples = ffmpeg.run('-f', 'bmp_pipe', '-i', '-', '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-', body=body)
    return numpy.frombuffer(samples, numpy.uint8).reshape(HEIGHT, WIDTH, 3)


def check(server, body, wanted, oracles=(by_pillow,)):
    assert (pixels(server, body) == wanted).all()
    for oracle in oracles:
        if oracle is not by_ffmpeg or ffmpeg.PROGRAM:
            assert numpy.abs(oracle(body).astype(int) - wanted).max() <= 1, oracle.__name__


@pytest.mark.parametrize('form', (bmps.CORE, bmps.OS2_SHORT, bmps.INFO, bmps.V2, bmps.V3, bmps.OS2, bmps.V4, bmps.V5))
@pytest.mark.parametrize('bits', (1, 2, 4, 8, 24))
def test_headers(server, form, bits):
    masks = (0,) * {bmps.V2: 3, bmps.V3: 4}.get(form, 0)
    oracles = (by_pillow, by_ffmpeg) if form in (bmps.INFO, bmps.V4, bmps.V5) and bits != 2 else ()
    for top_down in (False, True)[:1 if form in (bmps.CORE, bmps.OS2_SHORT, bmps.OS2) else 2]:
        if bits == 24:
            check(server, bmps.of(RGB, form, masks=masks, top_down=top_down), RGB, oracles)
            continue
        for colours in (None, (1 << bits) - 1)[:1 if form < bmps.INFO else 2]:
            palette, index = indexed(bits, colours)
            check(server, bmp(index, bits, form, palette=palette, masks=masks, top_down=top_down), palette[index], oracles)


@pytest.mark.parametrize('form', (bmps.INFO, bmps.V2, bmps.V3, bmps.V4, bmps.V5))
@pytest.mark.parametrize('bits, masks', (
    (16, (0x7C00, 0x3E0, 0x1F)), (16, (0xF800, 0x7E0, 0x1F)), (16, (0xF00, 0xF0, 0xF)), (32, (0xFF0000, 0xFF00, 0xFF)), (32, (0xFF, 0xFF00, 0xFF0000)),
    (32, (0xFF000000, 0xFF0000, 0xFF00)), (32, (0x3FF00000, 0xFFC00, 0x3FF)), (32, (0xFFE00000, 0x1FFC00, 0x3FF)), (32, (0, 0xFF00, 1))), ids=str)
def test_masks(server, form, bits, masks):
    values = RANDOM.integers(0, 1 << bits, (HEIGHT, WIDTH))
    shift = [(mask & -mask).bit_length() - 1 if mask else 0 for mask in masks]
    most = [mask >> by if mask else 1 for mask, by in zip(masks, shift)]
    wanted = numpy.stack([(((values & mask) >> by) * 255 + top // 2) // top for mask, by, top in zip(masks, shift, most)], -1)
    more = (0,) if form not in (bmps.INFO, bmps.V2) else ()
    check(server, bmp(values, bits, form, bmps.MASKS, masks=masks + more), wanted, ())


def test_without_masks(server):
    values = RANDOM.integers(0, 1 << 32, (HEIGHT, WIDTH))
    check(server, bmp(values, 32), numpy.stack([values >> 16 & 255, values >> 8 & 255, values & 255], -1), (by_pillow, by_ffmpeg))
    fives = [(values & 0x7FFF) >> by & 31 for by in (10, 5, 0)]
    check(server, bmp(values & 0x7FFF, 16), numpy.stack([(five * 255 + 15) // 31 for five in fives], -1))


@pytest.mark.parametrize('form, coding', ((bmps.V3, bmps.MASKS), (bmps.V4, bmps.MASKS), (bmps.V5, bmps.MASKS), (bmps.INFO, bmps.ALPHA_MASKS)))
def test_alpha(server, form, coding):
    """Where the header has a mask for it: four bytes a pixel alone say nothing."""
    samples = pictures.photograph(WIDTH, HEIGHT, 4) | 1
    parts = samples.astype(int)
    values = parts[..., 0] << 16 | parts[..., 1] << 8 | parts[..., 2] | parts[..., 3] << 24
    assert (pixels(server, bmp(values, 32, form, coding, masks=(0xFF0000, 0xFF00, 0xFF, 0xFF000000))) == samples).all()
    assert (pixels(server, bmp(values, 32)) == samples[..., :3]).all()
    assert (pixels(server, bmp(values, 32, bmps.V5, bmps.PLAIN, masks=(0xFF0000, 0xFF00, 0xFF, 0xFF000000))) == samples[..., :3]).all()


# --- runs -----------------------------------------------------------------------------------------------------
def runs(index, half):
    """Rows of runs, and of literal pixels where they differ."""
    out = b''
    for line in index[::-1].tolist():
        at = 0
        while at < len(line):
            same = 1
            while at + same < len(line) and same < 255 and line[at + same] == line[at]:
                same += 1
            literal = line[at:at + 7]
            if same < 3 and len(literal) > 3:
                data = bytes(literal) if not half else bytes(a << 4 | b for a, b in zip(literal[::2], literal[1::2] + [0]))
                out += bytes((0, len(literal))) + data + bytes(len(data) % 2)
                at += len(literal)
            else:
                out += bytes((same, line[at] << 4 | line[at] if half else line[at]))
                at += same
        out += b'\0\0'
    return out + b'\0\1'


@pytest.mark.parametrize('half', (False, True), ids=('RLE8', 'RLE4'))
def test_runs(server, half):
    bits, coding = (4, bmps.RLE4) if half else (8, bmps.RLE8)
    palette, _ = indexed(bits)
    index = numpy.repeat(RANDOM.integers(0, 1 << bits, (HEIGHT, WIDTH)), RANDOM.integers(1, 9, WIDTH), 1)[:, :WIDTH]
    data = runs(index, half)
    for form in (bmps.INFO, bmps.OS2, bmps.V5):
        check(server, bmp(index, bits, form, coding, palette=palette, data=data), palette[index], (by_pillow, by_ffmpeg) if form == bmps.INFO and not half else ())
    for size in range(1, len(data) - 2, max(1, len(data) // 60)):
        check_problem(server.post(SAME, bmp(index, bits, bmps.INFO, coding, palette=palette, data=data[:size])), 'corrupt-image', says='runs do not end')


def test_runs_that_skip(server):
    """What no run reaches has the first colour; what lies beyond a row is left out."""
    palette, index = numpy.array([[1, 2, 3], [200, 100, 50]]), numpy.zeros((5, 8), int)
    data = b'\3\1' + b'\0\2\2\1' + b'\2\1' + b'\0\0' + b'\x0c\1' + b'\0\1'
    wanted = numpy.tile(palette[0], (5, 8, 1))
    wanted[4, :3] = wanted[3, 5:7] = wanted[2, :] = palette[1]
    assert (pixels(server, bmp(index, 8, coding=bmps.RLE8, palette=palette, data=data)) == wanted).all()
    check_problem(server.post(SAME, bmp(index, 8, coding=bmps.RLE8, palette=palette, data=b'\1\2\0\1')), 'corrupt-image', says='the colour 2, and its palette has 2')


# --- what is refused ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize('body, slug, says', (
    (bmp(numpy.zeros((2, 2)), 24, coding=bmps.JPEG), 'unsupported-image', 'a JPEG in a BMP'),
    (bmp(numpy.zeros((2, 2)), 24, coding=bmps.PNG), 'unsupported-image', 'a PNG in a BMP'),
    (bmp(numpy.zeros((2, 2)), 24, coding=11), 'unsupported-image', 'CMYK'),
    (bmp(numpy.zeros((2, 2)), 24, coding=99), 'unsupported-image', 'compression 99'),
    (bmp(numpy.zeros((2, 2)), 24, bmps.OS2, coding=4), 'unsupported-image', 'compression of OS/2'),
    (bmp(numpy.zeros((2, 2)), 24, coding=bmps.RLE8), 'corrupt-image', '24 bits a pixel with compression 1'),
    (bmp(numpy.zeros((2, 2)), 24, coding=bmps.MASKS), 'corrupt-image', '24 bits'),
    (bmp(numpy.zeros((2, 2)), 16, coding=bmps.MASKS, masks=(0xF00F, 0xF0, 0xF00)), 'corrupt-image', 'masks'),
    (bmp(numpy.zeros((2, 2)), 16, coding=bmps.MASKS, masks=(0xFF, 0xF0, 0xF00)), 'corrupt-image', 'masks'),
    (bmp(numpy.zeros((2, 2)), 16, coding=bmps.MASKS, masks=(0xFF0000, 0xF0, 0xF00)), 'corrupt-image', 'masks'),
    (bmp(numpy.zeros((2, 2)), 24, offset=20), 'corrupt-image', 'begin with byte 20'),
    (bmp(numpy.zeros((2, 2)), 24, offset=2000), 'corrupt-image', 'begin with byte 2000'),
    (bmp(numpy.ones((2, 2)), 8, palette=numpy.zeros((1, 3))), 'corrupt-image', 'the colour 1, and its palette has 1'),
    (bmp(numpy.zeros((0, 2)), 24), 'corrupt-image', '2 x 0 pixels'),
    (b'BM' + bytes(12) + struct.pack('<IIIHH', 40, 1 << 20, 1 << 20, 1, 24) + bytes(80), 'limit-exceeded', 'pixels'),
    (b'BM' + bytes(12) + struct.pack('<IIIHH', 40, 1 << 31, 2, 1, 24) + bytes(80), 'corrupt-image', 'negative'),
    (b'BM' + bytes(12) + struct.pack('<IIIHH', 40, 2, 1 << 31, 1, 24) + bytes(80), 'limit-exceeded', '2147483648'),
    (b'BM' + bytes(12) + struct.pack('<IIIHH', 41, 2, 2, 1, 24) + bytes(80), 'unsupported-image', '41 bytes'),
), ids=range(18))
def test_refusals(server, body, slug, says):
    check_problem(server.post(SAME, body), slug, says=says)


def test_cut_files_are_an_error(server):
    palette, index = indexed(8)
    for body in (bmps.of(RGB), bmp(index, 8, palette=palette), bmps.of(pictures.photograph(9, 9, 4))):
        for size in (*range(2, 150), *range(150, len(body) - 4, max(1, len(body) // 40))):
            check_problem(server.post(SAME, body[:size]), 'corrupt-image')


# --- what is said beside the pixels -----------------------------------------------------------------------------------
def test_resolution_and_profile(server):
    answer = server.post(f'{SAME}&metadata=keep', bmps.of(RGB, bmps.V5, density=11811, kind=0x4D424544, profile=pictures.icc()))
    with Image.open(io.BytesIO(answer.content)) as picture:
        assert round(picture.info['dpi'][0]) == 300 and picture.info['icc_profile']
    plain = server.post(SAME, bmps.of(RGB, bmps.V5))
    with Image.open(io.BytesIO(plain.content)) as picture:
        assert 'icc_profile' not in picture.info and 'dpi' not in picture.info
    for damaged in (bmps.of(RGB, bmps.V5, kind=0x4D424544), bmps.of(RGB, bmps.V5, kind=0x4C494E4B)):
        assert server.post(SAME, damaged).headers['X-Metadata-Dropped'] == 'colour'


def test_calibrated_colours(server):
    """Those of Adobe RGB, in XYZ."""
    primaries, one = ((0.5767, 0.2974, 0.0270), (0.1856, 0.6273, 0.0707), (0.1882, 0.0753, 0.9911)), 1 << 30
    body = bmps.of(RGB, bmps.V4, kind=0, endpoints=[round(x * one) for xyz in primaries for x in xyz], gamma=(round(2.2 * 65536),) * 3)
    chunks = dict(anatomy.chunks(server.post(SAME, body).content))
    assert struct.unpack('>I', chunks['gAMA']) == (45455,)
    wanted = [31271, 32902, 64000, 33003, 21003, 70997, 15002, 6002]
    assert numpy.abs(numpy.array(struct.unpack('>8I', chunks['cHRM'])) - wanted).max() < 60
    plain = dict(anatomy.chunks(server.post(SAME, bmps.of(RGB, bmps.V4, kind=0)).content))
    assert 'gAMA' not in plain and 'cHRM' not in plain
