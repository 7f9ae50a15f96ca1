# SPDX-License-Identifier: MIT
"""What a PNG or an animated PNG shows: its frames, read one by one with libpng and put over each other here."""

import pathlib
import struct
import tempfile

import anatomy
import animated
import numpy
import pictures
import truth
from animated import Frame


def stills(data):
    """(fields of fcTL, a PNG of that frame alone)"""
    header, shared, control, pixels = b'', [], None, b''
    for tag, payload in anatomy.chunks(data):
        if tag == 'IHDR':
            header = payload
        elif tag in ('PLTE', 'tRNS'):
            shared.append((tag, payload))
        elif tag in ('fcTL', 'IEND'):
            if control and pixels:
                yield control, _still(header, control, shared, pixels)
            control, pixels = struct.unpack('>IIIIIHHBB', payload) if tag == 'fcTL' else None, b''
        elif tag in ('IDAT', 'fdAT') and control:
            pixels += payload[4:] if tag == 'fdAT' else payload


def _still(header, control, shared, pixels):
    head = struct.pack('>II', *control[1:3]) + header[8:]
    return b'\x89PNG\r\n\x1a\n' + b''.join(pictures.chunk(*one) for one in (('IHDR', head), *shared, ('IDAT', pixels), ('IEND', b'')))


def samples(data):
    """All samples of a PNG."""
    with tempfile.NamedTemporaryFile(suffix='.png') as file:
        pathlib.Path(file.name).write_bytes(data)
        return truth.read_png(file.name)


def with_alpha(pixels):
    """8 bits of red, green, blue and alpha."""
    pixels = ((pixels.astype(numpy.uint32) + 128) // 257).astype(numpy.uint8) if pixels.dtype == numpy.uint16 else pixels
    channels = pixels.shape[2]
    colour = numpy.repeat(pixels[..., :1], 3, axis=2) if channels < 3 else pixels[..., :3]
    alpha = pixels[..., -1:] if channels % 2 == 0 else numpy.full_like(colour[..., :1], 255)
    return numpy.concatenate([colour, alpha], axis=2)


def is_animated(data):
    return any(tag == 'acTL' for tag, _ in anatomy.chunks(data))


def read(data):
    """(frames, their times in milliseconds or None): a still picture with all its bits, frames of an animation in 8."""
    if not is_animated(data):
        return [samples(data)], None
    width, height = anatomy.png_header(data)[:2]
    frames = [Frame(with_alpha(samples(still)), left=x, top=y, delay=round(1000 * time / (unit or 100)), disposal=disposal, blends=bool(blend))
              for (_, _, _, x, y, time, unit, disposal, blend), still in stills(data)]
    return animated.resolve(frames, width, height), [frame.delay for frame in frames]
