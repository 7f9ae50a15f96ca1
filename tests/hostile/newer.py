# SPDX-License-Identifier: MIT
"""WebP, AVIF, HEIC, TIFF and BMP files: small ones, and such that claim or hold too much."""

import functools
import io
import struct

import numpy
import pytest
from PIL import Image

import lab  # it finds the modules of tests/http
import foreign
import bmps
import pictures
import tiffs
from heif import box, full, inside, ispe, items  # noqa: F401

MODERN = lab.CORPUS.parent / 'modern'
KINDS = ('webp', 'avif', 'heic')


def webp(samples, **more):
    out = io.BytesIO()
    Image.fromarray(samples).save(out, 'WEBP', **more)
    return out.getvalue()


@functools.lru_cache(None)
def good():
    """name -> file, as far as the programs that write them are installed."""
    photo, alpha = pictures.photograph(96, 80), pictures.photograph(64, 48, 4)
    found = {'webp': webp(photo), 'webp lossless': webp(photo[:40, :40], lossless=True), 'webp alpha': webp(alpha)}
    for kind in KINDS[1:]:
        try:
            found[kind] = foreign.write(kind, photo)
            found[f'{kind} alpha'] = foreign.write(kind, alpha)
        except pytest.skip.Exception:
            pass
    return found | {kind: foreign.write(kind, photo) for kind in ('tiff', 'bmp')}


def samples(maximum):
    """Files of the shared folder, good, odd and broken, up to that many bytes."""
    files = sorted(MODERN.iterdir()) if MODERN.is_dir() else []
    return {path.name: path.read_bytes() for path in files if path.suffix != '.txt' and path.stat().st_size <= maximum}


# --- AVIF and HEIC ---------------------------------------------------------------------------------
def with_ispe(data, width, height):
    """The same file, whose boxes claim another size."""
    out, at = bytearray(data), data.find(b'ispe')
    while at >= 0:
        out[at + 8:at + 16] = struct.pack('>II', width, height)
        at = data.find(b'ispe', at + 4)
    return bytes(out)


@functools.lru_cache(None)
def parts(kind):
    """(type, configuration, data) of a picture of 64x64."""
    data = foreign.write(kind, numpy.full((64, 64, 3), 120, numpy.uint8))
    coded = inside(data, b'mdat')[8:]
    return (b'av01', inside(data, b'av1C'), coded) if kind == 'avif' else (b'hvc1', inside(data, b'hvcC'), coded)


def grid(kind, rows, columns, width, height, tile=(64, 64)):
    """A grid whose tiles share their data."""
    tag, config, coded = parts(kind)
    count = rows * columns
    head = struct.pack('>BBBBII', 0, 1, rows - 1, columns - 1, width, height)
    return items(kind, [(b'grid', head)] + [(tag, coded)] * count, [(b'dimg', 1, list(range(2, count + 2)))],
                 [config, ispe(*tile), ispe(width, height), full(b'pixi', b'\3\10\10\10')], [(3, 4)] + [(0x81, 2, 4)] * count)


def overlay(kind, layers, others=0):
    """The same picture that many times over another, each time by way of two items that are the same as it."""
    tag, config, coded = parts(kind)
    head = struct.pack('>BB4HHH', 0, 0, 0, 0, 0, 65535, 64, 64) + bytes(4 * layers)
    chain = [(b'dimg', 9, [1])] * others + [(b'dimg', 1, [2] * layers), (b'dimg', 2, [3]), (b'dimg', 3, [4])]
    return items(kind, [(b'iovl', head), (b'iden', b''), (b'iden', b''), (tag, coded)], chain,
                 [config, ispe(64, 64), full(b'pixi', b'\3\10\10\10')], [(2, 3)] * 3 + [(0x81, 2, 3)])


def loops(kind):
    """name -> file: items that refer to themselves, to each other, or to very many."""
    tag, config, coded = parts(kind)
    boxes = [config, ispe(64, 64), full(b'pixi', b'\3\10\10\10')]
    head = struct.pack('>BBBBHH', 0, 0, 0, 0, 64, 64)
    count = 20000
    deep = [(b'iden', b'')] * count + [(tag, coded)]
    return {
        'grid of itself': items(kind, [(b'grid', head)], [(b'dimg', 1, [1])], boxes, [(2, 3)]),
        'two grids of each other': items(kind, [(b'grid', head)] * 2, [(b'dimg', 1, [2]), (b'dimg', 2, [1])], boxes, [(2, 3)] * 2),
        'alpha of itself': items(kind, [(tag, coded)], [(b'auxl', 1, [1])],
                                 boxes + [full(b'auxC', b'urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0')], [(0x81, 2, 3, 4)]),
        f'{count} items, each of the next': items(kind, deep, [(b'dimg', i, [i + 1]) for i in range(1, count + 1)], boxes,
                                                  [(2, 3)] * count + [(0x81, 2, 3)]),
        '4900 items': items(kind, [(tag, coded)] * 4900, (), boxes, [(0x81, 2, 3)] * 4900),
        f'{count} thumbnails': items(kind, [(tag, coded)] * count, [(b'thmb', i, [1]) for i in range(2, count + 1)], boxes, [(0x81, 2, 3)] * count),
        f'{count} references': items(kind, [(tag, coded)] * 2, [(b'cdsc', 2, [1])] * count, boxes, [(0x81, 2, 3)] * 2),
        'an overlay of 3000 layers': overlay(kind, 3000),
        '1900 layers that are the next, among 19000 references': overlay(kind, 1900, 19000),
        '250 turns': items(kind, [(tag, coded)], (), boxes + [box(b'irot', b'\1')], [(0x81, 2, 3) + (0x84,) * 250]),
        'a profile of 1 MiB': items(kind, [(tag, coded)], (), boxes + [box(b'colr', b'prof', pictures.icc(), bytes(1 << 20))], [(0x81, 2, 3, 4)]),
    }


def tagged(exif, xmp):
    """name -> file with these in the places that the formats have."""
    photo = pictures.photograph(64, 48)
    found = {f'webp {more}': webp(photo, exif=exif, xmp=xmp, **more) for more in ({}, {'lossless': True})}
    found['webp, unknown chunk'] = vp8x(96, 80, 0, vp8(96, 80), (b'juNk', pictures.CANARY)) + pictures.CANARY
    for kind in KINDS[1:]:
        if kind in good():
            tag, config, coded = parts(kind)
            entries = [(tag, coded), (b'Exif', bytes(4) + exif), (b'mime', xmp)]
            boxes = [config, ispe(64, 64), full(b'pixi', b'\3\10\10\10'), box(b'juNk', pictures.CANARY)]
            found[kind] = items(kind, entries, [(b'cdsc', 2, [1]), (b'cdsc', 3, [1])], boxes, [(0x81, 2, 3, 4)]) + box(b'uuid', pictures.CANARY * 9)
    return found


# --- bombs ---------------------------------------------------------------------------------------
def riff(*chunks):
    body = b'WEBP' + b''.join(tag + struct.pack('<I', len(data)) + data + bytes(len(data) % 2) for tag, data in chunks)
    return b'RIFF' + struct.pack('<I', len(body)) + body


def vp8x(width, height, flags, *chunks):
    return riff((b'VP8X', struct.pack('<I', flags) + struct.pack('<I', width - 1)[:3] + struct.pack('<I', height - 1)[:3]), *chunks)


def vp8l(width, height, data=bytes(40)):
    return b'VP8L', b'\x2f' + struct.pack('<I', width - 1 | height - 1 << 14) + data


def vp8(width, height):
    data = bytearray(good()['webp'][20:])
    data[6:10] = struct.pack('<HH', width, height)
    return b'VP8 ', bytes(data)


def claims(width, height):
    """name -> file: small ones that claim to be that large."""
    side = min(width, 16383), min(height, 16383)
    found = {'VP8': riff(vp8(*side)), 'VP8L': riff(vp8l(*side)), 'VP8X': vp8x(width, height, 0, vp8(*side)),
             'VP8X, alpha': vp8x(width, height, 16, (b'ALPH', bytes(20)), vp8(*side))}
    for kind in KINDS[1:]:
        if kind in good():
            found[kind] = with_ispe(good()[kind], width, height)
            found[f'{kind} alpha'] = with_ispe(good()[f'{kind} alpha'], width, height)
    return found | scans(width, height)


def scans(width, height):
    """name -> file: TIFFs in each compression, and BMPs, of a few bytes."""
    size = {'t256': (tiffs.LONG, width), 't257': (tiffs.LONG, height), 't278': (tiffs.LONG, height)}
    ink, photo = numpy.zeros((8, 8, 1), int), pictures.photograph(8, 8)
    found = {f'tiff, compression {number}': tiffs.tiff(ink, 1, 0, compression=number, compress=lambda part: bytes(40), **size) for number in (1, 2, 3, 4, 32773)}
    found |= {f'tiff of colours, compression {number}': tiffs.tiff(photo, compression=number, compress=lambda part: bytes(40), **size)
              for number in (5, 7, 8, 32773, 34925, 50000, 50001)}
    found['tiff, tiles'] = tiffs.tiff(photo, tile=(256, 256), compression=5, compress=lambda part: bytes(40), **size)
    found['BMP'] = bmps.bmp(numpy.zeros((8, 8)), 24)[:18] + struct.pack('<ii', width, height) + bmps.bmp(numpy.zeros((8, 8)), 24)[26:]
    return found


def scan_floods():
    """name -> file: TIFFs of many pages, tags, strips, and data that are there many times; BMPs of runs that lead nowhere."""
    photo = pictures.photograph(64, 64)
    many = tiffs.File()
    for _ in range(70000):
        many.directory({256: (tiffs.SHORT, 1)})
    circle = tiffs.File().page(photo).page(photo)
    struct.pack_into('<I', circle.data, circle.link, struct.unpack_from('<I', circle.data, 4)[0])
    repeated = tiffs.File()
    at = repeated.append(bytes(1 << 20))
    repeated.page(photo[:, :1], rows=1, compression=5, t257=(tiffs.LONG, 30000), t273=(tiffs.LONG, [at] * 30000), t279=(tiffs.LONG, [1 << 20] * 30000), compress=bytes)
    tags = {f't{40000 + i}': (tiffs.BYTE, b'x' * 9) for i in range(4000)}
    large = numpy.zeros((8000, 8000, 1), numpy.uint8)
    return {'TIFF, 70000 pages': many.write(), 'TIFF, pages in a circle': circle.write(), 'TIFF, 30000 strips that are the same MiB': repeated.write(),
            'TIFF, 4000 tags': tiffs.tiff(photo, **tags), 'TIFF, a profile of 1 MiB': tiffs.tiff(photo, t34675=(tiffs.UNDEFINED, pictures.icc() + bytes(1 << 20))),
            'TIFF, 64 MP by Deflate': tiffs.tiff(large, compression=8), 'TIFF, 64 MP in strips': tiffs.tiff(large, compression=8, rows=1),
            'TIFF, 64 MP in tiles': tiffs.tiff(large, compression=8, tile=(16, 16)), 'TIFF, 262145 tiles': tiffs.tiff(photo, tile=(1, 1), t256=(tiffs.LONG, 16384), t257=(tiffs.LONG, 17)),
            'TIFF, tiles wider than the picture': tiffs.tiff(photo[:, :1], tile=(60000, 1), compression=8),
            'BMP, moves': bmps.bmp(numpy.zeros((8000, 8000), numpy.uint8), 8, coding=1, palette=numpy.zeros((2, 3)), data=b'\0\2\1\0' * 10 ** 6),
            'BMP, runs of none': bmps.bmp(numpy.zeros((8000, 8000), numpy.uint8), 8, coding=1, palette=numpy.zeros((2, 3)), data=b'\0\3\0\0\0\0' * 10 ** 6)}


def floods():
    """name -> file: much work, or many parts, in a few bytes."""
    photo = pictures.photograph(64, 64)
    huffman = numpy.random.default_rng(1).integers(0, 2 ** 8, 1 << 20, numpy.uint8).tobytes()
    found = {'VP8L of noise, 64 MP': riff(vp8l(8000, 8000, b'\x08' + huffman)),
             'VP8L, many codes': riff(vp8l(8000, 8000, b'\x28\x00' + huffman)),
             'WebP, a profile of 1 MiB': webp(photo, icc_profile=pictures.icc() + bytes(1 << 20)),
             'WebP, 800000 chunks': vp8x(96, 80, 0, *[(b'juNk', b'')] * 800000, vp8(96, 80)),
             'WebP, 400000 profiles': vp8x(96, 80, 32, *[(b'ICCP', pictures.icc()[:16])] * 400000, vp8(96, 80)),
             'WebP, 100000 frames': vp8x(96, 80, 2, (b'ANIM', bytes(6)), *[(b'ANMF', bytes(16))] * 100000)}
    for kind in KINDS[1:]:
        if kind in good():
            found[f'{kind}, 60025 tiles of 64x64'] = grid(kind, 245, 245, 8000, 8000)
            found[f'{kind}, 60025 tiles for 245x245'] = grid(kind, 245, 245, 245, 245)
            found[f'{kind}, 60025 tiles of 1x1'] = grid(kind, 245, 245, 245, 245, (1, 1))
            found.update({f'{kind}, {name}': data for name, data in loops(kind).items()})
    return found | scan_floods()
