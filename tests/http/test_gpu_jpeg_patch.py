# SPDX-License-Identifier: MIT
"""JPEGs whose blocks outside of the regions are kept, by a fake GPU: every kind of file gives the bytes of the CPU."""

import struct

import numpy
import pytest

import anatomy
import daemon
import fake_gpu
import fake_jpeg
import pictures
from fake_jpeg import BY_GPU, ask, await_places, jpeg_options
from test_gpu_jpeg import SHAPES, form_440

pytestmark = fake_gpu.needed

WIDTH, HEIGHT = 75, 61
REGIONS = 'region=10,9,30.5,20&region=ellipse:40.3,35,40,44'
TARGETS = tuple(f'/{filter}&{REGIONS}{mode}' for filter, mode in (('pixelate?block=6', '&mode=redact'), ('blur?sigma=3', '&feather=4'),
                                                                  ('pixelate?block=8', '&invert=1')))
PHOTO = SHAPES['420'](WIDTH, HEIGHT)
BY_CPU = 'cuda:0'  # its kernels filter, and the CPU's codecs keep the blocks


@pytest.fixture(scope='module')
def gpu():
    with daemon.Daemon(*jpeg_options(), environment=fake_gpu.settings()) as own:
        await_places(own)
        yield own


def same(gpu, cpu, body, name=BY_GPU, more='', targets=TARGETS):
    """The answers."""
    results = []
    for target in targets:
        by, result = ask(gpu, body, target + more)
        assert (by, result) == (name, ask(cpu, body, target + more)[1]), target
        results.append(result)
    return results


def frame_at(body):
    return next(body.index(marker) for marker in (b'\xff\xc0', b'\xff\xc1') if marker in body)


def edited(body, component, place, value):
    """With another id (0), factors (1) or quantisation table (2) of a component; its id in the scan follows."""
    data, scan = bytearray(body), body.index(b'\xff\xda')
    data[frame_at(body) + 10 + 3 * component + place] = value
    if place == 0:
        data[scan + 5 + 2 * component] = value
    return bytes(data)


def steps_of(body):
    return [payload for marker, payload in anatomy.segments(body) if marker == 0xdb]


# --- by the GPU ----------------------------------------------------------------------------
@pytest.mark.parametrize('quality', (1, 30, 75, 95, 100))
@pytest.mark.parametrize('shape', SHAPES)
def test_qualities(gpu, cpu, shape, quality):
    samples = pictures.photograph(WIDTH, HEIGHT, 1 if shape == 'gray' else 3)
    body = form_440(WIDTH, HEIGHT) if shape == '440' else pictures.jpeg(samples, quality, '444' if shape == 'gray' else shape)
    for result in same(gpu, cpu, body):
        assert steps_of(result)[0] == steps_of(body)[0][:65], 'the steps are those of the file'


def test_tables_in_one_segment(gpu, cpu):
    body = pictures.jpeg(pictures.photograph(WIDTH, HEIGHT), qtables=[[n + 1 for n in range(64)], [200 - n for n in range(64)]], subsampling='420')
    same(gpu, cpu, body)


def test_noise_of_the_best_quality(gpu, cpu):
    """The answer takes more bytes than a picture of the usual quality may."""
    body = pictures.jpeg(pictures.noise(WIDTH, HEIGHT), 100, subsampling='444')
    results = same(gpu, cpu, body)
    assert len(results[0]) > 3 * WIDTH * HEIGHT / 2


@pytest.mark.parametrize('interval', (1, 3, 7))
def test_restart_markers(gpu, cpu, interval):
    body = pictures.mosaic_jpeg(numpy.arange(99).reshape(9, 11) * 2, interval=interval)
    assert b'\xff\xdd' in body
    assert all(b'\xff\xdd' not in result for result in same(gpu, cpu, body))


@pytest.mark.parametrize('version', (b'\1\0', b'\1\1', b'\1\2', b'\1\xff', b'\2\7', b'\0\1'), ids=repr)
def test_version_of_jfif(gpu, cpu, version):
    at = PHOTO.index(b'JFIF\0') + 5
    body = PHOTO[:at] + version + PHOTO[at + 2:]
    for result in same(gpu, cpu, body):
        assert result[11:13] == (version if version[0] == 1 else b'\1\1')
    same(gpu, cpu, pictures.with_segments(body, (0xe0, b'JFIF\0\1\x05\1\0\x48\0\x48\0\0')))  # the last one counts
    for own in (gpu, cpu):  # but not of an answer that is encoded anew
        assert ask(own, body, TARGETS[0] + '&quality=80')[1][11:13] == b'\1\1'


@pytest.mark.parametrize('transform', (1, 3, 255))
def test_transform_of_adobe(gpu, cpu, transform):
    """YCbCr is the usual one, which an unknown number means."""
    size = struct.unpack('>H', PHOTO[4:6])[0]
    body = pictures.with_segments(PHOTO[:2] + PHOTO[4 + size:], (0xee, b'Adobe\0\x64\0\0\0\0' + bytes([transform])))
    for one, other in zip(same(gpu, cpu, body), same(gpu, cpu, PHOTO)):
        assert (anatomy.pixels(one) == anatomy.pixels(other)).all()


def test_without_jfif(gpu, cpu):
    size = struct.unpack('>H', PHOTO[4:6])[0]
    same(gpu, cpu, PHOTO[:2] + PHOTO[4 + size:])


def test_density(gpu, cpu):
    body = pictures.jpeg(pictures.photograph(WIDTH, HEIGHT), subsampling='420', dpi=(300, 150))
    same(gpu, cpu, body)
    result = ask(gpu, body, TARGETS[1] + '&metadata=keep')
    assert result == (BY_GPU, ask(cpu, body, TARGETS[1] + '&metadata=keep')[1]) and result[1][13:18] == body[13:18]


@pytest.mark.parametrize('more', ('&metadata=keep', '&metadata=strip', '&autorotate=false', '&subsampling=420', '&huffman=standard'))
def test_parameters(gpu, cpu, more):
    body = pictures.with_segments(PHOTO, pictures.exif_segment(1), (0xfe, b'hello'))
    for target in TARGETS[1 if 'keep' in more else 0:]:
        assert ask(gpu, body, target + more) == (BY_GPU, ask(cpu, body, target + more)[1])


def test_411(gpu, cpu):
    same(gpu, cpu, edited(fake_jpeg.PHOTO, 0, 1, 0x41), targets=TARGETS[1:])  # tiles of 6 pixels have no quarter


def test_one_pixel(gpu, cpu):
    """Each pixel at the borders of blocks, and all corners of the picture."""
    for x, y in ((0, 0), (7, 7), (8, 8), (15, 16), (16, 15), (WIDTH - 1, 0), (0, HEIGHT - 1), (WIDTH - 1, HEIGHT - 1), (71, 56), (72, 55), (63, 63 - 8)):
        target = f'/blur?sigma=5&region={x},{y},1,1'
        assert ask(gpu, PHOTO, target) == (BY_GPU, ask(cpu, PHOTO, target)[1]), (x, y)


@pytest.mark.parametrize('size', ((1, 1), (2, 3), (9, 8), (16, 16), (17, 33), (40, 7)), ids=str)
def test_sizes(gpu, cpu, size):
    for shape, make in SHAPES.items():
        if shape != '440':
            body = make(*size)
            for target in ('/blur?sigma=1&region=0,0,1,1', '/pixelate?block=4&region=50%25,50%25,50%25,50%25&unit=percent', '/blur?sigma=2&region=0,0,1,1&invert=1'):
                assert ask(gpu, body, target)[1] == ask(cpu, body, target)[1], (shape, target)


def test_blocks_that_no_pixel_touches(gpu, cpu):
    """Their coefficients stay: decoded, each pixel outside of the region's blocks is the one it was."""
    body = SHAPES['444'](64, 48)
    before, after = anatomy.pixels(body), anatomy.pixels(ask(gpu, body, '/pixelate?block=8&mode=redact&region=17,18,3,3')[1])
    changed = (before != after).any(axis=2)
    assert changed[16:24, 16:24].any()
    changed[16:24, 16:24] = False
    assert not changed.any()


# --- by the CPU ----------------------------------------------------------------------------
def other_files():
    gray = SHAPES['gray'](WIDTH, HEIGHT)
    three = pictures.jpeg(pictures.photograph(WIDTH, HEIGHT), subsampling='420', qtables=[[9] * 64, [11] * 64, [13] * 64])
    wide = bytearray()
    for at, payload in ((m, p) for m, p in anatomy.segments(PHOTO) if m == 0xdb):
        for table in range(len(payload) // 65):
            steps = payload[65 * table:65 * table + 65]
            wide += b'\xff\xdb' + struct.pack('>HB', 131, 0x10 | steps[0]) + b''.join(struct.pack('>H', 300 + n) for n in steps[1:])
    at, scan = frame_at(PHOTO), PHOTO.index(b'\xff\xda')
    return {'names': edited(edited(edited(PHOTO, 0, 0, 0), 1, 0, 1), 2, 0, 2), 'names of letters': edited(PHOTO, 1, 0, 77),
            'tables exchanged': edited(edited(edited(PHOTO, 0, 2, 1), 1, 2, 0), 2, 2, 0), 'one table': edited(edited(PHOTO, 1, 2, 0), 2, 2, 0),
            'a table for Cr': edited(three, 2, 2, 2), 'wide steps': PHOTO[:at] + bytes(wide) + PHOTO[at:],
            'factors of grey': edited(gray, 0, 1, 0x22), 'name of grey': edited(gray, 0, 0, 5)}


@pytest.mark.parametrize('kind', other_files())
def test_others(gpu, cpu, kind):
    """Frames that no encoder of ours writes."""
    same(gpu, cpu, other_files()[kind], BY_CPU)


def test_progressive_answer(gpu, cpu):
    same(gpu, cpu, PHOTO, BY_CPU, '&progressive=1')


def test_differences_without_a_symbol(gpu, cpu):
    """Between a kept block and a new one, DC may differ by more than a file can say: all is encoded anew."""
    same(gpu, cpu, pictures.mosaic_jpeg(128 + numpy.arange(99).reshape(9, 11) * 255), BY_CPU)
