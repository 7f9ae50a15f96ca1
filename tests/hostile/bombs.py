# SPDX-License-Identifier: MIT
"""Small files that need much time or memory to decode. Each takes at most a second or two to make."""

import functools
import io
import struct
import zlib

import numpy
from PIL import Image

import lab  # noqa: F401, it finds the modules of tests/http
import pictures

SIGNATURE = b'\x89PNG\r\n\x1a\n'
BODY_MAX = 20 << 20


# --- PNG -----------------------------------------------------------------------------------------
def header(width, height, depth, kind, interlaced=0):
    return pictures.chunk('IHDR', struct.pack('>IIBBBBB', width, height, depth, kind, 0, 0, interlaced))


def png(head, *chunks, data=zlib.compress(b'\0\0')):
    return SIGNATURE + head + b''.join(chunks) + pictures.chunk('IDAT', data) + pictures.chunk('IEND', b'')


@functools.lru_cache(None)
def zeros(size):
    """A zlib stream of that many zeros, complete and valid."""
    packer = zlib.compressobj(6)
    piece = bytes(1 << 22)
    out = [packer.compress(piece) for _ in range(size // len(piece))]
    return b''.join(out) + packer.compress(bytes(size % len(piece))) + packer.flush()


def png_of_zeros(width, height, depth, kind):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind]
    return png(header(width, height, depth, kind), data=zeros(height * (1 + (width * depth * channels + 7) // 8)))


def png_with(tag, payload, count, interlaced=0):
    return png(header(1, 1, 8, 0, interlaced), pictures.chunk(tag, payload) * count)


def png_ancillary():
    """name -> file: chunks that libpng inflates, copies or keeps by default."""
    eight = zlib.compress(bytes(7900000), 9)
    profile = zlib.compress(struct.pack('>I', 7900000) + bytes(7899996), 9)
    empty = pictures.chunk('IDAT', b'')
    return {
        'zTXt of 8 MB x 2000': png_with('zTXt', b'k\0\0' + eight, 2000),
        'zTXt x 50000': png_with('zTXt', b'k\0\0' + zlib.compress(b'a' * 9000), 50000),
        'iTXt of 8 MB x 2000': png_with('iTXt', b'k\0\1\0\0\0' + eight, 2000),
        'iCCP of 8 MB': png_with('iCCP', b'p\0\0' + profile, 1),
        'iCCP of 8 MB x 1000': png_with('iCCP', b'p\0\0' + profile, 1000),
        'sPLT of 1 MB x 19': png_with('sPLT', b'p\0\x08' + bytes(1 << 20), 19),
        'eXIf of 1 MB x 19': png_with('eXIf', b'II*\0' + bytes(1 << 20), 19),
        'tEXt of 10 MB x 2': png_with('tEXt', b'k\0' + b'a' * (10 << 20), 1),
        'unknown x 800000': png_with('juNk', b'', 800000),
        'empty IDAT x 800000': SIGNATURE + header(1, 1, 8, 0) + empty * 800000 + pictures.chunk('IDAT', zlib.compress(b'\0\0'))
                               + pictures.chunk('IEND', b''),
        'chunks behind the picture x 800000': png_with('IDAT', b'', 0)[:-12] + pictures.chunk('juNk', b'') * 800000
                                              + pictures.chunk('IEND', b''),
    }


# --- JPEG ----------------------------------------------------------------------------------------
def save(picture, **options):
    out = io.BytesIO()
    picture.save(out, 'JPEG', **options)
    return out.getvalue()


def with_size(data, width, height):
    """The same file, whose frame header claims another size."""
    out, at = bytearray(data), 2
    while not 0xC0 <= out[at + 1] <= 0xC2:
        at += 2 + struct.unpack('>H', out[at + 2:at + 4])[0]
    out[at + 5:at + 9] = struct.pack('>HH', height, width)
    return bytes(out)


def scans(data):
    """(everything before the last scan, the last scan with its data)"""
    at, begin = 2, 0
    while data[at + 1] != 0xD9:
        begin = at
        is_scan = data[at + 1] == 0xDA
        at += 2 + struct.unpack('>H', data[at + 2:at + 4])[0]
        while is_scan and not (data[at] == 0xFF and data[at + 1] not in (0, *range(0xD0, 0xD8))):
            at += 1
    return data[:begin], data[begin:at]


@functools.lru_cache(None)
def blank_progressive(width, height):
    return save(Image.new('L', (width, height), 0), progressive=True)


def scan_bomb(width, height, count):
    """A valid start and the last scan again and again: each is a pass over all coefficients."""
    before, scan = scans(blank_progressive(width, height))
    return before + scan * count + b'\xff\xd9'


def markers():
    """name -> file: segments without end before the picture."""
    base = pictures.small_jpeg()
    exif = b'\xff\xe1' + struct.pack('>H', 2 + 65000) + b'Exif\0\0' + bytes(64994)
    icc = b'\xff\xe2' + struct.pack('>H', 2 + 65000) + b'ICC_PROFILE\0\1\1' + bytes(64986)
    return {name: base[:2] + segment * min(count, (BODY_MAX - len(base)) // len(segment)) + base[2:] for name, segment, count in (
        ('COM, empty, x 5 million', b'\xff\xfe\0\2', 5000000),
        ('APP9, empty, x 5 million', b'\xff\xe9\0\2', 5000000),
        ('APP1 of 64 KiB x 300', b'\xff\xe1' + struct.pack('>H', 65535) + bytes(65533), 300),
        ('EXIF x 300', exif, 300),
        ('ICC profile x 300', icc, 300),
        ('restart interval x 3 million', b'\xff\xdd\0\4\0\0', 3000000),
        ('fill bytes', b'\xff', 19 << 20),
    )}


def huge_jpegs():
    small = Image.fromarray(numpy.arange(256, dtype=numpy.uint8).reshape(16, 16))
    return {'baseline': with_size(save(small), 65500, 65500), 'progressive': with_size(save(small, progressive=True), 65500, 65500),
            'RGB': with_size(save(small.convert('RGB')), 65500, 65500),
            'RGB, progressive': with_size(save(small.convert('RGB'), progressive=True), 65500, 65500)}
