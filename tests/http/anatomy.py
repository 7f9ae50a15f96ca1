# SPDX-License-Identifier: MIT
"""The insides of JPEG and PNG files, as far as the tests look."""

import io
import struct
import zlib

import numpy
from PIL import Image


def pixels(data):
    """Decoded by Pillow, as height x width x channels; 8 bits. A palette is its colours."""
    with Image.open(io.BytesIO(data)) as picture:
        picture.load()
        if picture.mode == 'P':
            picture = picture.convert('RGBA' if 'transparency' in picture.info else 'RGB')
        elif picture.mode == '1':
            picture = picture.convert('L')
        array = numpy.asarray(picture)
    return array if array.ndim == 3 else array[:, :, None]


# --- JPEG ------------------------------------------------------------------------------
def segments(data):
    """(marker, payload) of everything before the first scan's data."""
    assert data[:2] == b'\xff\xd8', 'no JPEG'
    at, found = 2, []
    while data[at + 1] != 0xDA:
        assert data[at] == 0xFF
        size = struct.unpack('>H', data[at + 2:at + 4])[0]
        found.append((data[at + 1], data[at + 4:at + 2 + size]))
        at += 2 + size
    return found


def frame(data):
    """(is progressive, width, height, [(h, v) of each component])"""
    marker, payload = next((m, p) for m, p in segments(data) if 0xC0 <= m <= 0xCF and m not in (0xC4, 0xC8, 0xCC))
    height, width, count = struct.unpack('>HHB', payload[1:6])
    return marker == 0xC2, width, height, [(payload[7 + 3 * i] >> 4, payload[7 + 3 * i] & 15) for i in range(count)]


def subsampling(data):
    names = {(2, 2): '420', (2, 1): '422', (1, 1): '444', (1, 2): '440'}
    factors = frame(data)[3]
    return 'gray' if len(factors) == 1 else names[factors[0]]


def exif_of(data):
    """The TIFF structure of a JPEG's EXIF segment, or None."""
    return next((p[6:] for m, p in segments(data) if m == 0xE1 and p.startswith(b'Exif\0\0')), None)


def xmp_of(data):
    """The XMP packet of a JPEG or PNG, or None."""
    if data[:2] == b'\xff\xd8':
        name = b'http://ns.adobe.com/xap/1.0/\0'
        return next((p[len(name):] for m, p in segments(data) if m == 0xE1 and p.startswith(name)), None)
    name = b'XML:com.adobe.xmp\0\0\0\0\0'
    return next((p[len(name):] for tag, p in chunks(data) if tag == 'iTXt' and p.startswith(name)), None)


def icc_of(data):
    parts = sorted((p[12], p[14:]) for m, p in segments(data) if m == 0xE2 and p.startswith(b'ICC_PROFILE\0'))
    return b''.join(part for _, part in parts)


# --- EXIF ------------------------------------------------------------------------------
def tags(tiff):
    """tag -> value of the first directory, and whether a second one (the thumbnail's) follows."""
    order = '<' if tiff[:2] == b'II' else '>'
    at = struct.unpack(order + 'I', tiff[4:8])[0]
    count = struct.unpack(order + 'H', tiff[at:at + 2])[0]
    found = {}
    for i in range(count):
        tag, kind, _, value = struct.unpack(order + 'HHI4s', tiff[at + 2 + 12 * i:at + 14 + 12 * i])
        found[tag] = struct.unpack(order + ('HH' if kind == 3 else 'I'), value)[0]
    following = struct.unpack(order + 'I', tiff[at + 2 + 12 * count:at + 6 + 12 * count])[0]
    return found, following != 0


# --- PNG -------------------------------------------------------------------------------
def chunks(data):
    """(tag, payload); every checksum is checked."""
    assert data[:8] == b'\x89PNG\r\n\x1a\n', 'no PNG'
    at, found = 8, []
    while at < len(data):
        size, tag = struct.unpack('>I4s', data[at:at + 8])
        payload = data[at + 8:at + 8 + size]
        assert zlib.crc32(tag + payload) == struct.unpack('>I', data[at + 8 + size:at + 12 + size])[0]
        found.append((tag.decode(), payload))
        at += 12 + size
    assert found[-1][0] == 'IEND'
    return found


def png_header(data):
    """(width, height, depth, colour type)"""
    return struct.unpack('>IIBB', dict(chunks(data))['IHDR'][:10])


def _paeth(left, up, corner):
    to_left, to_up, to_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
    if to_left <= to_up and to_left <= to_corner:
        return left
    return up if to_up <= to_corner else corner


def _unfilter(kind, line, above, step):
    """The bytes of a row. `above` is the row before it; both have `step` zeros in front, as the specification wants.
    Bytes and not numpy's arrays, whose single elements take ten times as long to reach."""
    row = bytearray(step) + line
    if kind == 1:
        for i in range(step, len(row)):
            row[i] = (row[i] + row[i - step]) & 255
    elif kind == 2:
        for i in range(step, len(row)):
            row[i] = (row[i] + above[i]) & 255
    elif kind == 3:
        for i in range(step, len(row)):
            row[i] = (row[i] + (row[i - step] + above[i]) // 2) & 255
    elif kind == 4:
        for i in range(step, len(row)):
            row[i] = (row[i] + _paeth(row[i - step], above[i], above[i - step])) & 255
    return row


def read_png(data):
    """Samples of a PNG of 8 or 16 bits, or of fewer that are expanded, not interlaced. Pillow would cut 16 bits to 8."""
    width, height, depth, kind = png_header(data)
    if depth <= 8:
        return pixels(data).astype(numpy.uint16)
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[kind]
    raw = zlib.decompress(b''.join(payload for tag, payload in chunks(data) if tag == 'IDAT'))
    step = channels * depth // 8
    pitch = 1 + width * step
    rows = [bytearray(pitch - 1 + step)]
    for at in range(0, height * pitch, pitch):
        rows.append(_unfilter(raw[at], raw[at + 1:at + pitch], rows[-1], step))
    samples = numpy.frombuffer(b''.join(row[step:] for row in rows[1:]), '>u2')
    return samples.reshape(height, width, channels).astype(numpy.uint16)
