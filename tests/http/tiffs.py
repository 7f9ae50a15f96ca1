# SPDX-License-Identifier: MIT
"""TIFF files, put together tag by tag; tiffcp of libtiff-tools compresses them in other ways."""

import pathlib
import shutil
import struct
import subprocess
import tempfile
import zlib

import numpy
import pytest

BYTE, ASCII, SHORT, LONG, RATIO, UNDEFINED, LONG8 = 1, 2, 3, 4, 5, 7, 16
UNITS = {BYTE: 'B', ASCII: 'B', SHORT: 'H', LONG: 'I', RATIO: 'I', UNDEFINED: 'B', LONG8: 'Q'}
WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE, MASK, CMYK, YCBCR, LAB = 0, 1, 2, 3, 4, 5, 6, 8
NONE, GROUP4, LZW, JPEG, DEFLATE, PACKBITS = 1, 4, 5, 7, 8, 32773


def packed(samples, bits, order='<'):
    """Rows of samples, each filled to whole bytes."""
    rows = samples.reshape(samples.shape[0], -1)
    if bits == 16:
        return rows.astype(order + 'u2').tobytes()
    if bits == 8:
        return rows.astype(numpy.uint8).tobytes()
    single = (rows[..., None].astype(numpy.uint32) >> numpy.arange(bits - 1, -1, -1)) & 1
    return numpy.packbits(single.reshape(len(rows), -1).astype(numpy.uint8), axis=1).tobytes()


def pieces(samples, bits, order, tile, rows):
    """The data of each strip, or of each tile, which is filled at the borders."""
    height, width = samples.shape[:2]
    if not tile:
        return [packed(samples[y:y + rows], bits, order) for y in range(0, height, rows)]
    across, down = tile
    filled = numpy.pad(samples, ((0, -height % down), (0, -width % across), (0, 0)), mode='edge')
    return [packed(filled[y:y + down, x:x + across], bits, order)
            for y in range(0, height, down) for x in range(0, width, across)]


class File:
    """The pages of a file, in either order of bytes, with offsets of 32 or 64 bits."""

    def __init__(self, order='<', big=False):
        self.order, self.big = order, big
        mark = b'II' if order == '<' else b'MM'
        self.data = bytearray(mark + struct.pack(order + ('HHH' if big else 'H'), *((43, 8, 0) if big else (42,))))
        self.link = len(self.data)  # where the offset of the next directory goes
        self.data += bytes(8 if big else 4)

    def append(self, data):
        """Its place, which is even."""
        self.data += bytes(len(self.data) % 2)
        self.data += data
        return len(self.data) - len(data)

    def values(self, kind, values):
        if isinstance(values, bytes):
            return values, len(values)
        values = list(values) if isinstance(values, (list, tuple)) else [values]
        return struct.pack(f'{self.order}{len(values)}{UNITS[kind]}', *values), len(values) // (2 if kind == RATIO else 1)

    def directory(self, tags, linked=True):
        """Writes {tag: (type, values)}; a page comes behind the one before."""
        wide = 8 if self.big else 4
        entries = b''
        for tag, (kind, values) in sorted(tags.items()):
            value, count = self.values(kind, values)
            if len(value) > wide:
                value = struct.pack(self.order + ('Q' if self.big else 'I'), self.append(value))
            entries += struct.pack(self.order + ('HHQ' if self.big else 'HHI'), tag, kind, count) + value.ljust(wide, b'\0')
        place = self.append(struct.pack(self.order + ('Q' if self.big else 'H'), len(tags)) + entries + bytes(wide))
        if linked:
            struct.pack_into(self.order + ('Q' if self.big else 'I'), self.data, self.link, place)
            self.link = len(self.data) - wide
        return place

    def page(self, samples, bits=8, colours=None, separate=False, tile=None, rows=None, compression=NONE, compress=None, **more):
        """`samples` has the values that are stored; `more`: t320=(SHORT, [...]), and None to leave out a tag."""
        samples = samples if samples.ndim == 3 else samples[:, :, None]
        height, width, channels = samples.shape
        rows = rows or height
        planes = [samples[:, :, c:c + 1] for c in range(channels)] if separate else [samples]
        parts = [piece for plane in planes for piece in pieces(plane, bits, self.order, tile, rows)]
        compress = compress or {NONE: bytes, DEFLATE: zlib.compress}[compression]
        parts = [compress(part) for part in parts]
        tags = {256: (LONG, width), 257: (LONG, height), 258: (SHORT, [bits] * channels), 259: (SHORT, compression),
                262: (SHORT, colours if colours is not None else (BLACK_IS_ZERO if channels < 3 else RGB)), 277: (SHORT, channels),
                284: (SHORT, 2 if separate else 1)}
        places, sizes = (LONG, [self.append(part) for part in parts]), (LONG, [len(part) for part in parts])
        if tile:
            tags |= {322: (LONG, tile[0]), 323: (LONG, tile[1]), 324: places, 325: sizes}
        else:
            tags |= {273: places, 278: (LONG, rows), 279: sizes}
        tags |= {int(name[1:]): value for name, value in more.items()}
        self.directory({tag: value for tag, value in tags.items() if value is not None})
        return self

    def write(self):
        return bytes(self.data)


def tiff(samples, *arguments, order='<', big=False, **more):
    """A file of one page."""
    return File(order, big).page(samples, *arguments, **more).write()


def tiffcp(data, *options):
    """The file as tiffcp writes it with these options."""
    if not shutil.which('tiffcp'):
        pytest.skip('tiffcp is not installed')
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, 'in.tif'), pathlib.Path(folder, 'out.tif')
        source.write_bytes(data)
        done = subprocess.run(['tiffcp', *options, source, target], capture_output=True, timeout=60, check=False)
        if done.returncode:
            pytest.skip(f'tiffcp cannot do it: {done.stderr.decode()[-200:]}')
        return target.read_bytes()
