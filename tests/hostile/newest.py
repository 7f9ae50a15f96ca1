# SPDX-License-Identifier: MIT
"""JPEG XL, GIF, animations and gain maps: small files, and such that claim or hold too much."""

import functools
import struct

import numpy
import pytest

import lab  # it finds the modules of tests/http
import animated
import foreign
import gainmaps
import jxls
import pictures
import test_sequences
from animated import Frame

del lab

PHOTO = pictures.photograph(96, 80)


def frame(width, height, **more):
    return Frame(numpy.full((height, width, 4), 255, numpy.uint8), **more)


def moving():
    whole = numpy.dstack([PHOTO & 0xc0, numpy.full(PHOTO.shape[:2], 255, numpy.uint8)])
    return [Frame(whole), Frame(whole[10:40, 4:60], 4, 10)]


@functools.lru_cache(None)
def good():
    """name -> file, as far as the programs that write them are installed."""
    found = {f'animated {kind}': animated.write(kind, moving(), 96, 80) for kind in animated.KINDS}
    found['gif'] = animated.gif(moving()[:1], 96, 80)
    found['gain map'] = gainmaps.ultra_hdr(*gainmaps.photograph(96, 80))
    for name, make in (('jxl', lambda: foreign.write('jxl', PHOTO)), ('animated jxl', lambda: jxls.animation([PHOTO, PHOTO[::-1].copy()], [50, 50])),
                       ('animated avif', lambda: test_sequences.avif([PHOTO, PHOTO[::-1]], [50, 50]))):
        try:
            found[name] = make()
        except pytest.skip.Exception:
            pass
    return found


# --- sizes in headers ----------------------------------------------------------------------------
def number(bits, at, count):
    return sum(bits[at + i] << i for i in range(count))


def jxl_sized(data, width, height):
    """The same codestream, whose size header says another size: ISO/IEC 18181-1, SizeHeader, bits from the lowest on."""
    bits = [byte >> i & 1 for byte in data[2:] for i in range(8)]

    def skip(at):  # a U32 of 9, 13, 18 or 30 bits
        return at + 2 + (9, 13, 18, 30)[number(bits, at, 2)]

    small = bits[0]
    at = 6 if small else skip(1)
    ratio = number(bits, at, 3)
    at += 3 if ratio else 3 + 5 if small else skip(at + 3) - at
    said = [0]
    for value, more in ((height, []), (width, [0, 0, 0])):
        said += more + [1, 1] + [(value - 1) >> i & 1 for i in range(30)]
    bits = said + bits[at:]
    bits += [0] * (-len(bits) % 8)
    return data[:2] + bytes(sum(bits[i + k] << k for k in range(8)) for i in range(0, len(bits), 8))


def gif_sized(width, height, own):
    """A canvas of that size; `own`: the frame has it, too."""
    data = bytearray(animated.gif([frame(4, 4)], 4, 4))
    data[6:10] = struct.pack('<HH', width, height)
    if own:
        at = data.index(b'\x2c', 13)
        data[at + 5:at + 9] = struct.pack('<HH', width, height)
    return bytes(data)


def canvases(width, height):
    """name -> file: frames of 4x4 pixels on a canvas of that size, of at most 16383 a side."""
    dots = [frame(4, 4)] * 2
    return {f'{kind}, frames of 4x4 on {width}x{height}': animated.write(kind, dots, width, height) for kind in ('gif', 'webp')} | {
        f'still gif of 4x4 on {width}x{height}': gif_sized(width, height, False)}


def claims(width, height):
    """name -> file: small ones that claim to be that large."""
    side = min(65535, width), min(65535, height)
    found = {'gif': gif_sized(*side, True), 'animated png': animated.png([frame(4, 4)] * 2, width, height)}
    if 'jxl' in good():
        found |= {name: jxl_sized(good()[name], width, height) for name in ('jxl', 'animated jxl') if good()[name][:2] == b'\xff\x0a'}
    base, gain = gainmaps.photograph(64, 64)
    large = pictures.jpeg(gain)
    at = large.index(b'\xff\xc0')
    large = large[:at + 5] + struct.pack('>HH', min(height, 65500), min(width, 65500)) + large[at + 9:]
    found['gain map'] = gainmaps.assemble(pictures.jpeg(base), pictures.with_segments(large, (0xE1, gainmaps.XMP + gainmaps.xmp(gainmaps.USUAL))))
    return found


# --- very many parts -----------------------------------------------------------------------------
def lzw_bomb(side):
    """A GIF of one colour: codes that stand for ever longer runs, and a reset where the table is full."""
    bits, count, data = 0, 0, bytearray()
    left = side * side

    def put(code, size):
        nonlocal bits, count
        bits |= code << count
        count += size
        while count >= 8:
            data.append(bits & 255)
            bits >>= 8
            count -= 8

    while left > 0:
        put(4, 3)  # reset
        size, code, run = 3, 6, 1
        put(0, size)
        left -= 1
        while left > 0 and code < 4096:
            put(code, size)
            run += 1
            left -= run
            code += 1
            if code == 1 << size and size < 12:
                size += 1
    put(5, 12)
    data.append(bits & 255)
    blocks = b''.join(bytes((len(data[i:i + 255]),)) + data[i:i + 255] for i in range(0, len(data), 255))
    head = b'GIF89a' + struct.pack('<HHBBB', side, side, 0x80, 0, 0) + bytes(6)
    return head + b'\x2c' + struct.pack('<HHHHB', 0, 0, side, side, 0) + b'\x02' + blocks + b'\0\x3b'


def animations():
    """name -> file: very many frames, and frames of much work."""
    dot, count = frame(1, 1, delay=20), 20000
    whole = [frame(4000, 4000) for _ in range(2)]
    webp = animated.webp_frame(frame(2, 2))
    found = {f'GIF, {count} frames': animated.gif([dot], 64, 64)[:-1] + animated.gif([dot], 64, 64)[13 + 19:-1] * count + b'\x3b',
             'GIF, 1000000 comments': animated.gif([dot], 64, 64)[:-1] + b'\x21\xfe\x01x\0' * 1000000 + b'\x3b',
             'GIF, 64 MP of one colour': lzw_bomb(8000),
             f'animated PNG, {count} frames': animated.png([frame(64, 64)] + [dot] * count, 64, 64),
             'animated PNG that states 2^31 frames': animated.png([frame(64, 64)], 64, 64, stated=1 << 31),
             'animated PNG, frames of 16 MP': animated.png(whole, 4000, 4000),
             f'animated WebP, {count} frames': animated.webp_file(webp * count, 64, 64), 'animated WebP, frames of 16 MP': animated.webp(whole, 4000, 4000)}
    if 'jxl' in good():
        found['JPEG XL, 16 MP of one colour'] = foreign.write('jxl', numpy.zeros((4000, 4000, 3), numpy.uint8), '-e', '1')
        found['JPEG XL, 3000 frames'] = jxls.animation([PHOTO[:8, :8].copy()] * 3000, [10] * 3000)
        found['JPEG XL, 100000 boxes'] = b'\0\0\0\x0cJXL \x0d\x0a\x87\x0a\0\0\0\x14ftypjxl \0\0\0\0jxl ' + struct.pack('>I4s', 8, b'Exif') * 100000 + \
            struct.pack('>I4s', 0, b'jxlc') + good()['jxl'] if good()['jxl'][:2] == b'\xff\x0a' else good()['jxl']
    return found


def gain_maps():
    """name -> file: JPEGs behind a JPEG, indexed or not, and metadata that is large."""
    base, gain = gainmaps.photograph(96, 80)
    dot = pictures.jpeg(gain[:8, :8])
    packet = (0xE1, gainmaps.XMP + gainmaps.xmp(gainmaps.USUAL))
    maps = pictures.with_segments(pictures.jpeg(gain), packet)
    indexed = gainmaps.assemble(pictures.jpeg(base), maps)
    return {'gain map, 3000 JPEGs behind it': gainmaps.assemble(pictures.jpeg(base), maps, indexed=False) + dot * 3000,
            'gain map, a million ends of JPEGs': indexed + b'\xff\xd8\xff\xd9' * 1000000,
            'gain map, an index of 4000 pictures': gainmaps.assemble(pictures.jpeg(base), maps, behind=[dot] * 4000),
            'gain map, 200 packets of XMP': gainmaps.assemble(pictures.with_segments(pictures.jpeg(base), *[packet] * 200), maps),
            'gain map whose map is 16 MP': gainmaps.assemble(pictures.jpeg(base), pictures.with_segments(pictures.jpeg(numpy.zeros((4000, 4000), numpy.uint8)), packet))}


def floods():
    return animations() | gain_maps()
