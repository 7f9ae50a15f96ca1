# SPDX-License-Identifier: MIT
"""Lossless JPEGs (SOF3), which the tests write themselves: each predictor, point transforms, restart markers, grey and RGB."""

import struct

import numpy
import pytest

import anatomy
import pictures
from problems import check_problem

PHOTO = pictures.photograph(37, 23)
LENGTHS = bytes((0, 1, 2, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0))  # 17 symbols


def table():
    """The code of each category: a value and its bits."""
    codes, code, category = {}, 0, 0
    for length, count in enumerate(LENGTHS, 1):
        for _ in range(count):
            codes[category], code, category = (code, length), code + 1, category + 1
        code <<= 1
    return codes


CODES = table()


def predicted(samples, above, x, predictor, middle):
    a, b = (int(samples[x - 1]) if x else None), (int(above[x]) if above is not None else None)
    if b is None:
        return middle if a is None else a
    if a is None:
        return b
    c = int(above[x - 1])
    return (a, b, c, a + b - c, a + ((b - c) >> 1), b + ((a - c) >> 1), (a + b) >> 1)[predictor - 1]


class Bits(list):
    def put(self, value, count):
        self.extend(value >> i & 1 for i in range(count - 1, -1, -1))

    def flush(self):
        self.extend([1] * (-len(self) % 8))
        data = numpy.packbits(numpy.array(self, numpy.uint8)).tobytes().replace(b'\xff', b'\xff\0')
        self.clear()
        return data


def segment(marker, *parts):
    body = b''.join(parts)
    return struct.pack('>BBH', 255, marker, len(body) + 2) + body


def lossless(samples, predictor=1, shift=0, rows=0, precision=8, ids=b'RGB', before=b'', factors=0x11):
    """`rows`: between restart markers; `shift`: low bits that are left out; `before`: segments in front."""
    samples = (samples if samples.ndim == 3 else samples[..., None]) >> shift
    height, width, count = samples.shape
    data, bits = b'', Bits()
    for y in range(height):
        begins = y == 0 or (rows and y % rows == 0)
        if begins and y:
            data += bits.flush() + bytes((255, 0xD0 + (y // rows - 1) % 8))
        for x in range(width):
            for c in range(count):
                want = predicted(samples[y, :, c], None if begins else samples[y - 1, :, c], x, predictor, 1 << (7 - shift))
                difference = int(samples[y, x, c]) - want
                size = abs(difference).bit_length()
                bits.put(*CODES[size])
                bits.put(difference if difference > 0 else difference + (1 << size) - 1, size)
    parts = [b'\xff\xd8', before, segment(0xC3, struct.pack('>BHHB', precision, height, width, count), *(bytes((i, factors, 0)) for i in ids[:count])),
             segment(0xC4, b'\0', LENGTHS, bytes(range(17)))]
    parts += [segment(0xDD, struct.pack('>H', rows * width))] if rows else []
    parts += [segment(0xDA, bytes((count,)), *(bytes((i, 0)) for i in ids[:count]), bytes((predictor, 0, shift)))]
    return b''.join(parts) + data + bits.flush() + b'\xff\xd9'


def read(server, body, target='/crop?format=png'):
    answer = server.post(target, body)
    assert answer.status_code == 200, answer.text
    return anatomy.pixels(answer.content)


@pytest.mark.parametrize('predictor', range(1, 8))
@pytest.mark.parametrize('shift', (0, 3))
@pytest.mark.parametrize('rows', (0, 1, 2))
def test_each_predictor(server, predictor, shift, rows):
    for samples in (PHOTO, PHOTO[..., 0]):
        wanted = samples >> shift << shift
        assert (read(server, lossless(samples, predictor, shift, rows)).reshape(wanted.shape) == wanted).all()


@pytest.mark.parametrize('shape', ((1, 1), (1, 9), (9, 1), (64, 80)))
def test_shapes(server, shape):
    samples = pictures.noise(shape[1], shape[0])
    assert (read(server, lossless(samples, 4)) == samples).all()


@pytest.mark.parametrize('target', ('/blur?sigma=2', '/blur?sigma=2&region=4,4,9,9', '/rotate?angle=90', '/resize?scale=0.25&shrink=fast', '/pixelate?block=8',
                                    '/adjust?grayscale=true', '/resize?scale=0.2&shrink=fast&format=png'))
def test_answers_are_those_of_other_files_with_these_pixels(server, target):
    for samples in (PHOTO, PHOTO[..., 0]):
        target += '' if 'format' in target else '&format=jpeg&subsampling=444'
        wanted = server.post(target.replace('&shrink=fast', ''), pictures.png(samples))
        answer = server.post(target, lossless(samples))
        assert wanted.status_code == answer.status_code == 200, answer.text
        assert (anatomy.pixels(answer.content) == anatomy.pixels(wanted.content)).all()
        assert answer.headers['Content-Type'] in ('image/jpeg', 'image/png')


def test_it_has_no_blocks(server):
    check_problem(server.post('/rotate?lossless=true', lossless(PHOTO)), 'bad-parameter', 'lossless', 'a lossless one has none')


@pytest.mark.parametrize('body,says', (
    (lossless(PHOTO, precision=12), '12 bits'),
    (lossless(PHOTO, before=segment(0xE0, b'JFIF\0\1\1\0\0\1\0\1\0\0')), 'in YCbCr'),
    (lossless(PHOTO, before=segment(0xEE, b'Adobe\0\x64\0\0\0\0\1')), 'in YCbCr'),
    (lossless(PHOTO, factors=0x21), 'subsampled'),
    (lossless(numpy.dstack([PHOTO, PHOTO[..., 0]]), ids=b'CMYK'), 'another number of components'),
))
def test_what_is_not_read(server, body, says):
    check_problem(server.post('/blur', body), 'unsupported-image', says=says)


def changed(body, old, new):
    assert body.count(old) >= 1
    return body.replace(old, new, 1)


WHOLE, PARTS = lossless(PHOTO), lossless(PHOTO, rows=2)
SCAN = WHOLE.index(b'\xff\xda')


@pytest.mark.parametrize('body,says', (
    (WHOLE[:-400], 'its data ends before the picture does'),
    (WHOLE[:SCAN + 2], 'it has no frame header before its scan, or ends there'),
    (WHOLE[:SCAN], 'it has no scan'),
    (WHOLE[:SCAN + 30], 'truncated'),
    (WHOLE[:SCAN + 14] + b'\xff\0' * 500, 'a bad Huffman code'),
    (changed(PARTS, b'\xff\xd0', b'\xff\xd1'), 'a restart marker is missing or wrong'),
    (changed(PARTS, b'\xff\xdd\0\4' + struct.pack('>H', 74), b'\xff\xdd\0\4' + struct.pack('>H', 75)), 'its restart interval is not of whole rows'),
    (WHOLE[:SCAN + 11] + b'\0' + WHOLE[SCAN + 12:], 'the scan\'s header'),
    (WHOLE[:SCAN + 11] + b'\x08' + WHOLE[SCAN + 12:], 'the scan\'s header'),
    (WHOLE[:SCAN + 13] + b'\x08' + WHOLE[SCAN + 14:], 'the scan\'s header'),
    (WHOLE[:SCAN + 6] + b'\x10' + WHOLE[SCAN + 7:], 'a component of the scan is unknown or lacks a table'),
    (WHOLE[:SCAN + 6] + b'\x40' + WHOLE[SCAN + 7:], 'a component of the scan is unknown or lacks a table'),
    (changed(WHOLE, b'\xff\xc4\0\x24\0\0\1', b'\xff\xc4\0\x24\0\2\1'), 'a Huffman table'),
))
def test_damage(server, body, says):
    check_problem(server.post('/blur', body), 'corrupt-image', says=says)


def test_surplus_before_a_restart_marker_is_allowed(server):
    at = PARTS.index(b'\xff\xd1')
    assert (read(server, PARTS[:at] + b'\x15\xff\0more' + PARTS[at:]) == PHOTO).all()


def test_a_sample_out_of_range(server):
    """The largest difference, again and again."""
    bits = Bits()
    for _ in range(PHOTO.size):
        bits.put(*CODES[8])
        bits.put(255, 8)
    check_problem(server.post('/blur', WHOLE[:SCAN + 14] + bits.flush()), 'corrupt-image', says='a sample is out of range')
