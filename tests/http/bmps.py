# SPDX-License-Identifier: MIT
"""BMP files, put together field by field."""

import struct

import numpy

CORE, OS2_SHORT, INFO, V2, V3, OS2, V4, V5 = 12, 16, 40, 52, 56, 64, 108, 124
PLAIN, RLE8, RLE4, MASKS, JPEG, PNG, ALPHA_MASKS = range(7)


def rows(values, bits):
    """Pixels as numbers of so many bits, in rows that are filled to four bytes."""
    lines = []
    for line in values.astype(numpy.uint64):
        if bits >= 8:
            data = b''.join(int(value).to_bytes(bits // 8, 'little') for value in line)
        else:
            single = (line[:, None] >> numpy.arange(bits - 1, -1, -1, dtype=numpy.uint64)) & numpy.uint64(1)
            data = numpy.packbits(single.astype(numpy.uint8)).tobytes()
        lines.append(data + bytes(-len(data) % 4))
    return lines


def bmp(values, bits, form=INFO, coding=PLAIN, palette=None, masks=(), top_down=False, data=None, after=b'', **fields):
    """`values`: numbers of pixels, height x width; `fields`: colours, density, kind, endpoints, gamma, profile."""
    height, width = values.shape
    stored = rows(values, bits) if data is None else None
    data = b''.join(stored if top_down else stored[::-1]) if data is None else data
    colours = b'' if palette is None else b''.join(bytes(c[::-1]) + (b'' if form == CORE else b'\0') for c in palette.astype(int).tolist())
    count = fields.get('colours', 0 if palette is None or len(palette) == 1 << bits else len(palette))
    if form == CORE:
        header = struct.pack('<IHHHH', form, width, height, 1, bits)
    else:
        density = fields.get('density', 0)
        header = struct.pack('<IIiHHIIIIII', form, width, -height if top_down else height, 1, bits, coding, len(data), density, density, count, 0)
        header = (header[:form] if form < INFO else header) + (struct.pack(f'<{len(masks)}I', *masks) if form in (INFO, V2, V3) else b'')
    if form >= V4:
        header += struct.pack('<4I', *(masks or (0, 0, 0, 0))) + struct.pack('<I', fields.get('kind', 0x73524742))
        header += struct.pack('<9I', *fields.get('endpoints', (0,) * 9)) + struct.pack('<3I', *fields.get('gamma', (0,) * 3))
    if form == V5:
        profile = fields.get('profile', b'')
        header += struct.pack('<4I', 4, 124 + len(colours) + len(data) if profile else 0, len(profile), 0)
        after += profile
    if form == OS2:
        header += bytes(24)
    offset = fields.get('offset', 14 + len(header) + len(colours))
    return struct.pack('<2sIII', b'BM', 14 + len(header) + len(colours) + len(data), 0, offset) + header + colours + data + after


def of(samples, form=INFO, **more):
    """A file of 24 bits, or of 32 with alpha."""
    parts = samples.astype(int)
    value = parts[..., 0] << 16 | parts[..., 1] << 8 | parts[..., 2]
    if samples.shape[2] == 3:
        return bmp(value, 24, form, **more)
    return bmp(value | parts[..., 3] << 24, 32, V5, MASKS, masks=(0xFF0000, 0xFF00, 0xFF, 0xFF000000), **more)
