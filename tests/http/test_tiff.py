# SPDX-License-Identifier: MIT
"""TIFF: every way in which samples are stored gives the picture that was stored."""

import io
import struct
import zlib

import numpy
import pytest
from PIL import Image

import anatomy
import pictures
import tiffs
from problems import check_problem
from tiffs import SHORT, tiff, tiffcp

SAME = '/pixelate?block=1&format=png&png_reduce=false'  # changes no pixel
WIDTH, HEIGHT = 61, 45
RGB = pictures.photograph(WIDTH, HEIGHT)
GREY = RGB[:, :, :1]


@pytest.fixture(autouse=True)
def _built(shared):
    if 'tiff' not in shared.get('/version').json()['formats']['reads']:
        pytest.skip('this build lacks tiff')


def pixels(server, body, target=SAME):
    answer = server.post(target, body)
    assert answer.status_code == 200, answer.text
    return deep(answer.content)


def deep(png):
    """The samples of a PNG of 8 or 16 bits: Pillow makes 8 bits of colours."""
    rows, header = b'', {}
    for tag, payload in anatomy.chunks(png):
        if tag == 'IHDR':
            header = dict(zip('width height depth kind'.split(), struct.unpack('>IIBB', payload[:10])))
        rows += payload if tag == 'IDAT' else b''
    if header['depth'] == 8:
        return anatomy.pixels(png)
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[header['kind']]
    lines = unfiltered(zlib.decompress(rows), header['width'] * channels * 2, channels * 2)
    return lines.view('>u2').astype(numpy.uint16).reshape(header['height'], header['width'], channels)


def unfiltered(data, size, pixel):
    """Rows of bytes without the filters of PNG."""
    lines = numpy.frombuffer(data, numpy.uint8).reshape(-1, size + 1)
    before, made = numpy.zeros(size, int), []
    for line in lines:
        kind, row = line[0], line[1:].astype(int)
        for i in range(size):
            a, b, c = (row[i - pixel] if i >= pixel else 0), before[i], (before[i - pixel] if i >= pixel else 0)
            p = (0, a, b, (a + b) // 2, None)[kind]
            if kind == 4:
                p = min((a, b, c), key=lambda value, base=a + b - c: abs(base - value))
            row[i] = (row[i] + p) & 255
        before = row
        made.append(row.astype(numpy.uint8))
    return numpy.stack(made)


def same(server, body, wanted, most=0):
    found, wanted = pixels(server, body).astype(int), wanted.astype(int)
    assert found.shape == wanted.shape
    if wanted.shape[2] in (2, 4):  # what is invisible has no colour
        wanted = wanted * (wanted[..., -1:] > 0)
    assert numpy.abs(found - wanted).max() <= most


ORDERS = [(order, big) for order in '<>' for big in (False, True)]


@pytest.mark.parametrize('order, big', ORDERS)
@pytest.mark.parametrize('separate', (False, True))
@pytest.mark.parametrize('where', ({}, {'rows': 7}, {'rows': 1}, {'tile': (16, 32)}, {'tile': (128, 128)}), ids=str)
def test_places(server, order, big, separate, where):
    same(server, tiff(RGB, order=order, big=big, separate=separate, **where), RGB)


@pytest.mark.parametrize('bits', range(1, 17))
@pytest.mark.parametrize('separate, where', ((False, {}), (True, {'rows': 9}), (False, {'tile': (16, 16)})), ids=str)
def test_bits(server, bits, separate, where):
    most, depth = (1 << bits) - 1, (65535 if bits > 8 else 255)
    samples = numpy.random.default_rng(bits).integers(0, most + 1, (HEIGHT, WIDTH, 3))
    wanted = (samples * depth + most // 2) // most
    for order in '<>':
        same(server, tiff(samples, bits, order=order, separate=separate, **where), wanted)
    same(server, tiff(samples[:, :, :1], bits, **where), wanted[:, :, :1])
    same(server, tiff(samples[:, :, :1], bits, tiffs.WHITE_IS_ZERO, **where), depth - wanted[:, :, :1])


# --- compressions -----------------------------------------------------------------------------------------
LOSSLESS = ('none', 'packbits', 'lzw', 'lzw:2', 'zip', 'zip:2', 'zstd', 'zstd:2', 'lzma')


@pytest.mark.parametrize('options', ((), ('-p', 'separate'), ('-t', '-w', '32', '-l', '16'), ('-r', '16'), ('-B', '-8'), ('-f', 'lsb2msb')), ids=' '.join)
@pytest.mark.parametrize('compression', LOSSLESS)
def test_compressions(server, compression, options):
    same(server, tiffcp(tiff(RGB), '-c', compression, *options), RGB)
    large = pictures.photograph(700, 600)  # one strip of more bytes than are read at once
    if '-t' not in options:
        same(server, tiffcp(tiff(large), '-c', compression, '-r', '10000', *options), large)


@pytest.mark.parametrize('compression', ('none', 'packbits', 'lzw:2', 'zip:2', 'zstd'))
def test_deep_compressions(server, compression):
    samples = numpy.random.default_rng(5).integers(0, 65536, (HEIGHT, WIDTH, 3))
    for options in ((), ('-B',), ('-t', '-w', '16', '-l', '16')):
        same(server, tiffcp(tiff(samples, 16), '-c', compression, *options), samples)


@pytest.mark.parametrize('compression', ('g3', 'g3:2d', 'g4', 'g3:1d:fill'))
@pytest.mark.parametrize('colours', (tiffs.WHITE_IS_ZERO, tiffs.BLACK_IS_ZERO))
def test_fax(server, compression, colours):
    ink = (pictures.photograph(200, 120)[:, :, :1] > 110).astype(numpy.uint8)
    wanted = 255 * (ink if colours else 1 - ink)
    for options in ((), ('-r', '16'), ('-f', 'lsb2msb')):
        same(server, tiffcp(tiff(ink, 1, colours), '-c', compression, *options), wanted)


def by_pillow(samples, mode='RGB', **more):
    output = io.BytesIO()
    Image.fromarray(samples, mode).save(output, 'TIFF', **more)
    return output.getvalue()


@pytest.mark.parametrize('form, options', [(form, options) for form in ('jpeg:r:90', 'jpeg:90') for options in
                                           (('-r', '48'), ('-t', '-w', '32', '-l', '16'), ('-r', '16'), ('-r', '48', '-p', 'separate'))][:-1], ids=str)
def test_jpeg(server, form, options):
    """Stored as RGB, or as YCbCr with half the colour: as Pillow reads it, by the same library, which reads no planes."""
    body, planes = tiffcp(tiff(RGB), '-c', form, *options), '-p' in options
    found = pixels(server, body)
    assert numpy.abs(found.astype(int) - RGB).mean() < (9 if form == 'jpeg:90' else 3)
    assert planes or (found == anatomy.pixels(body)).all()
    grey = tiffcp(tiff(GREY), '-c', 'jpeg:90', *options)
    assert (pixels(server, grey) == anatomy.pixels(grey)).all()


@pytest.mark.parametrize('subsampling', ('4:4:4', '4:2:2', '4:2:0'))
def test_jpeg_from_pillow(server, subsampling):
    body = by_pillow(RGB, compression='jpeg', quality=90, tiffinfo={530: {'4:4:4': (1, 1), '4:2:2': (2, 1), '4:2:0': (2, 2)}[subsampling]})
    assert (pixels(server, body) == anatomy.pixels(body)).all()


def test_inks_in_jpeg(server):
    """They are not inverted, other than in files that are JPEGs themselves."""
    inks = pictures.photograph(WIDTH, HEIGHT, 4)
    body = by_pillow(inks, 'CMYK', compression='jpeg', quality=100)
    with Image.open(io.BytesIO(body)) as picture:
        wanted = printed(numpy.asarray(picture))
    same(server, body, wanted)


# --- colours --------------------------------------------------------------------------------------------------
def printed(inks, most=255):
    paper = most - inks[..., :3].astype(int)
    return (paper * (most - inks[..., 3:4].astype(int)) + most // 2) // most


@pytest.mark.parametrize('separate', (False, True))
def test_inks(server, separate):
    inks = pictures.photograph(WIDTH, HEIGHT, 4)
    same(server, tiff(inks, colours=tiffs.CMYK, separate=separate), printed(inks))
    fine = inks.astype(int) * 257
    same(server, tiff(fine, 16, colours=tiffs.CMYK, separate=separate), printed(fine, 65535))
    body = by_pillow(inks, 'CMYK')
    with Image.open(io.BytesIO(body)) as picture:
        same(server, body, numpy.asarray(picture.convert('RGB')), 1)


@pytest.mark.parametrize('separate', (False, True))
@pytest.mark.parametrize('colours, channels', ((tiffs.BLACK_IS_ZERO, 1), (tiffs.WHITE_IS_ZERO, 1), (tiffs.RGB, 3), (tiffs.CMYK, 4)))
def test_extra_samples(server, colours, channels, separate):
    """Alpha is what a file calls alpha: nothing else is, and a second one is not."""
    samples = pictures.photograph(WIDTH, HEIGHT, channels + 2)
    straight = samples[..., :channels].astype(int)
    straight = printed(straight) if colours == tiffs.CMYK else 255 - straight if colours == tiffs.WHITE_IS_ZERO else straight
    alpha = [samples[..., channels + i:channels + i + 1] for i in range(2)]
    for kinds, index in (((0, 0), None), ((2, 0), 0), ((0, 2), 1), ((2, 2), 0), ((), None)):
        more = {'t338': (SHORT, kinds)} if kinds else {}
        wanted = straight if index is None else numpy.concatenate([straight, alpha[index]], -1)
        same(server, tiff(samples, colours=colours, separate=separate, **more), wanted)


@pytest.mark.parametrize('bits', (8, 16))
@pytest.mark.parametrize('channels', (1, 3))
def test_associated_alpha(server, bits, channels):
    most = (1 << bits) - 1
    random = numpy.random.default_rng(3)
    alpha = random.integers(0, most + 1, (HEIGHT, WIDTH, 1))
    colours = random.integers(0, most + 1, (HEIGHT, WIDTH, channels)) * alpha // most
    wanted = numpy.where(alpha > 0, (colours * most + alpha // 2) // numpy.maximum(alpha, 1), 0)
    for separate in (False, True):
        body = tiff(numpy.concatenate([colours, alpha], -1), bits, separate=separate, t338=(SHORT, 1))
        same(server, body, numpy.concatenate([wanted, alpha], -1))


@pytest.mark.parametrize('bits', (1, 2, 4, 8))
def test_palettes(server, bits):
    random = numpy.random.default_rng(bits)
    palette = random.integers(0, 256, (3, 1 << bits))
    index = random.integers(0, 1 << bits, (HEIGHT, WIDTH, 1))
    wanted = palette.T[index[:, :, 0]]
    for order in '<>':
        same(server, tiff(index, bits, tiffs.PALETTE, order=order, t320=(SHORT, (palette * 257).ravel().tolist())), wanted)
    same(server, tiff(index, bits, tiffs.PALETTE, t320=(SHORT, palette.ravel().tolist())), wanted)  # of 8 bits, as old programs wrote
    alpha = random.integers(0, 1 << bits, (HEIGHT, WIDTH, 1))
    body = tiff(numpy.concatenate([index, alpha], -1), bits, tiffs.PALETTE, t338=(SHORT, 2), t320=(SHORT, (palette * 257).ravel().tolist()))
    same(server, body, numpy.concatenate([wanted, (alpha * 255 + ((1 << bits) - 1) // 2) // ((1 << bits) - 1)], -1))
    check_problem(server.post(SAME, tiff(index, bits, tiffs.PALETTE)), 'corrupt-image', says='palette')


def blocks(ycbcr, across, down):
    """Samples of Y, each block followed by the mean of its Cb and Cr."""
    height, width = ycbcr.shape[:2]
    filled = numpy.pad(ycbcr, ((0, -height % down), (0, -width % across), (0, 0)), mode='edge').astype(int)
    cells = filled.reshape(filled.shape[0] // down, down, filled.shape[1] // across, across, 3).transpose(0, 2, 1, 3, 4)
    chroma = cells[..., 1:].mean((2, 3)).round().astype(int)
    lines = numpy.concatenate([cells[..., 0].reshape(*cells.shape[:2], -1), chroma], -1).astype(numpy.uint8)
    whole = numpy.repeat(numpy.repeat(chroma, down, 0), across, 1)[:height, :width]
    return lines.reshape(len(lines), -1), numpy.concatenate([ycbcr[..., :1].astype(int), whole], -1)


def shown(ycbcr, luma=(0.299, 0.587, 0.114)):
    y, cb, cr = ycbcr[..., 0].astype(float), ycbcr[..., 1] - 128., ycbcr[..., 2] - 128.
    red, blue = y + cr * (2 - 2 * luma[0]), y + cb * (2 - 2 * luma[2])
    return numpy.clip(numpy.stack([red, (y - luma[0] * red - luma[2] * blue) / luma[1], blue], -1).round(), 0, 255)


@pytest.mark.parametrize('across, down', ((1, 1), (2, 1), (2, 2), (4, 1), (4, 2), (4, 4), (1, 2)))
def test_ycbcr(server, across, down):
    """As the formula says, and as libtiff shows it through Pillow."""
    ycbcr = numpy.asarray(Image.fromarray(RGB).convert('YCbCr'))
    data, stored = blocks(ycbcr, across, down)
    for compression, compress in ((tiffs.NONE, bytes), (tiffs.DEFLATE, zlib.compress)):
        body = tiff(ycbcr, colours=tiffs.YCBCR, compression=compression, compress=lambda part, of=compress: of(data.tobytes()),
                    t530=(SHORT, [across, down]))
        found = pixels(server, body).astype(int)
        assert numpy.abs(found - shown(stored)).max() <= 1
        assert compression == tiffs.NONE or numpy.abs(found - by_libtiff(body)).max() <= 1
    strips = [data[y // down:(y + 8) // down].tobytes() for y in range(0, HEIGHT, 8)]
    body = tiff(ycbcr, colours=tiffs.YCBCR, rows=8, compress=lambda part: strips.pop(0), t530=(SHORT, [across, down]))
    same(server, body, shown(stored), 1)


def by_libtiff(body):
    """libtiff's own RGB, which Pillow takes for YCbCr that is compressed."""
    with Image.open(io.BytesIO(body)) as picture:
        return numpy.asarray(picture.convert('RGB')).astype(int)


def test_ycbcr_of_video(server):
    """Weights and a range of its own."""
    ycbcr = numpy.clip(numpy.asarray(Image.fromarray(RGB).convert('YCbCr')), 16, 235)
    weights = [2126, 10000, 7152, 10000, 722, 10000]
    wide = numpy.stack([(ycbcr[..., 0] - 16.) * 255 / 219, (ycbcr[..., 1] - 128.) * 127 / 112 + 128, (ycbcr[..., 2] - 128.) * 127 / 112 + 128], -1)
    for separate in (False, True):
        body = tiff(ycbcr, colours=tiffs.YCBCR, separate=separate, t529=(tiffs.RATIO, weights), t530=(SHORT, [1, 1]),
                    t532=(tiffs.RATIO, [16, 1, 235, 1, 128, 1, 240, 1, 128, 1, 240, 1]))
        same(server, body, shown(wide, (0.2126, 0.7152, 0.0722)), 1)
    check_problem(server.post(SAME, tiff(ycbcr, colours=tiffs.YCBCR, t530=(SHORT, [1, 1]), t529=(tiffs.RATIO, [0, 1] * 3))), 'corrupt-image', says='YCbCr')


@pytest.mark.parametrize('said', (None, (SHORT, [1, 1]), (SHORT, [2, 2]), (SHORT, [4, 4])), ids=str)
@pytest.mark.parametrize('subsampling', ('444', '422', '420'))
def test_the_subsampling_is_that_of_the_jpeg(server, subsampling, said):
    """Pillow writes no YCbCrSubSampling, which stands for 4:2:0, whatever the JPEG has."""
    jpeg = pictures.jpeg(RGB, 90, subsampling)
    body = tiff(RGB, colours=tiffs.YCBCR, compression=tiffs.JPEG, compress=lambda _: jpeg, t530=said)
    same(server, body, anatomy.pixels(jpeg), 1)
