# SPDX-License-Identifier: MIT
"""Animations, written frame by frame with all that their formats allow, and what they show, resolved here in whole numbers."""

import dataclasses
import io
import struct
import zlib

import numpy
from PIL import Image, ImageSequence

import pictures

KEEP, CLEAR, RESTORE = range(3)
KINDS = ('webp', 'png', 'gif')


@dataclasses.dataclass
class Frame:
    pixels: numpy.ndarray  # height x width x 4, 8 bits; GIF: alpha 0 or 255
    left: int = 0
    top: int = 0
    delay: int = 100  # milliseconds
    disposal: int = KEEP
    blends: bool = True


def over(above, below):
    """Straight RGBA over straight RGBA, each sample rounded to the nearest."""
    above, below = above.astype(numpy.int64), below.astype(numpy.int64)
    a = above[..., 3:] * 255
    b = below[..., 3:] * (255 - above[..., 3:])
    total = numpy.maximum(a + b, 1)
    colour = (above[..., :3] * a + below[..., :3] * b + total // 2) // total
    return numpy.concatenate([numpy.where(a + b > 0, colour, below[..., :3]), (a + b + 127) // 255], axis=2).astype(numpy.uint8)


def resolve(frames, width, height):
    """The canvas at each frame. What lies off it is cut."""
    canvas = numpy.zeros((height, width, 4), numpy.uint8)
    shown = []
    for frame in frames:
        rows, columns = frame.pixels.shape[:2]
        place = (slice(frame.top, frame.top + rows), slice(frame.left, frame.left + columns))
        before = canvas.copy()
        part = canvas[place]
        pixels = frame.pixels[:part.shape[0], :part.shape[1]]
        canvas[place] = over(pixels, part) if frame.blends else pixels
        shown.append(canvas.copy())
        if frame.disposal == CLEAR:
            canvas[place] = 0
        elif frame.disposal == RESTORE:
            canvas[place] = before[place]
    return shown


# --- writers ------------------------------------------------------------------------------
def png(frames, width, height, plays=0, apart=False, stated=None):
    """`apart`: the still picture is no frame."""
    parts, sequence = [], 0
    parts.append(pictures.chunk('IHDR', struct.pack('>IIBBBBB', width, height, 8, 6, 0, 0, 0)))
    parts.append(pictures.chunk('acTL', struct.pack('>II', len(frames) if stated is None else stated, plays)))
    if apart:
        parts.append(pictures.chunk('IDAT', zlib.compress(bytes((1 + width * 4) * height))))
    for index, frame in enumerate(frames):
        rows, columns = frame.pixels.shape[:2]
        parts.append(pictures.chunk('fcTL', struct.pack('>IIIIIHHBB', sequence, columns, rows, frame.left, frame.top, frame.delay, 1000,
                                                        frame.disposal, frame.blends)))
        sequence += 1
        data = zlib.compress(b''.join(b'\0' + row.tobytes() for row in frame.pixels), 1)
        if index == 0 and not apart:
            parts.append(pictures.chunk('IDAT', data))
        else:
            for piece in (data[:20], data[20:]):
                parts.append(pictures.chunk('fdAT', struct.pack('>I', sequence) + piece))
                sequence += 1
    return b'\x89PNG\r\n\x1a\n' + b''.join(parts) + pictures.chunk('IEND', b'')


def _codes(index):
    """Codes of 9 bits, with a reset before they would get longer."""
    bits, count, data = 0, 0, bytearray()

    def put(code):
        nonlocal bits, count
        bits |= code << count
        count += 9
        while count >= 8:
            data.append(bits & 255)
            bits >>= 8
            count -= 8

    for at, value in enumerate(index):
        if at % 250 == 0:
            put(256)
        put(int(value))
    put(257)
    data.append(bits & 255)
    blocks = b''.join(bytes((len(data[i:i + 255]),)) + data[i:i + 255] for i in range(0, len(data), 255))
    return b'\x08' + blocks + b'\0'


def gif(frames, width, height, plays=0, interlaced=False):
    """Each frame has a palette of its own, of at most 255 colours, and a transparent one behind them."""
    parts = [b'GIF89a' + struct.pack('<HHBBB', width, height, 0x70, 0, 0)]
    if plays != 1:
        parts.append(b'\x21\xff\x0bNETSCAPE2.0\x03\x01' + struct.pack('<H', max(plays - 1, 0)) + b'\0')
    for frame in frames:
        rows, columns = frame.pixels.shape[:2]
        pixels = frame.pixels.reshape(-1, 4)
        colours, index = numpy.unique(pixels[:, :3], axis=0, return_inverse=True)
        assert len(colours) < 256
        index = numpy.where(pixels[:, 3] > 0, index.reshape(-1), 255).reshape(rows, columns)
        palette = numpy.zeros((256, 3), numpy.uint8)
        palette[:len(colours)] = colours
        order = [y for first, step in ((0, 8), (4, 8), (2, 4), (1, 2)) for y in range(first, rows, step)] if interlaced else range(rows)
        disposal = {KEEP: 1, CLEAR: 2, RESTORE: 3}[frame.disposal]
        clear = bool((pixels[:, 3] == 0).any())
        parts.append(b'\x21\xf9\x04' + struct.pack('<BHB', disposal << 2 | clear, frame.delay // 10, 255) + b'\0')
        parts.append(b'\x2c' + struct.pack('<HHHHB', frame.left, frame.top, columns, rows, 0x87 | 0x40 * interlaced) + palette.tobytes())
        parts.append(_codes(index[list(order)].reshape(-1)))
    return b''.join(parts) + b'\x3b'


def chunk(name, data):
    return name + struct.pack('<I', len(data)) + data + b'\0' * (len(data) % 2)


def _le24(value):
    return struct.pack('<I', value)[:3]


def webp_frame(frame, width=None, height=None):
    """A chunk ANMF around what Pillow writes without losses; a size of its own for tests of wrong ones."""
    still = io.BytesIO()
    Image.fromarray(frame.pixels).save(still, 'WEBP', lossless=True, exact=True)
    data, at, inner = still.getvalue(), 12, b''
    while at < len(data):
        size = struct.unpack('<I', data[at + 4:at + 8])[0]
        if data[at:at + 4] in (b'ALPH', b'VP8 ', b'VP8L'):
            inner += data[at:at + 8 + size + size % 2]
        at += 8 + size + size % 2
    rows, columns = frame.pixels.shape[:2]
    return chunk(b'ANMF', _le24(frame.left // 2) + _le24(frame.top // 2) + _le24((width or columns) - 1) + _le24((height or rows) - 1) +
                 _le24(frame.delay) + bytes((2 * (not frame.blends) + (frame.disposal == CLEAR),)) + inner)


def webp_file(chunks, width, height, plays=0):
    body = chunk(b'VP8X', bytes((0x12, 0, 0, 0)) + _le24(width - 1) + _le24(height - 1)) + chunk(b'ANIM', struct.pack('<IH', 0, plays)) + chunks
    return b'RIFF' + struct.pack('<I', len(body) + 4) + b'WEBP' + body


def webp(frames, width, height, plays=0):
    return webp_file(b''.join(map(webp_frame, frames)), width, height, plays)


def write(kind, *arguments, **more):
    return {'webp': webp, 'png': png, 'gif': gif}[kind](*arguments, **more)


# --- readers ------------------------------------------------------------------------------
@dataclasses.dataclass
class Read:
    frames: list
    delays: list  # milliseconds
    plays: int  # 0: for ever


def read(data):
    """By Pillow, which is right about what the daemon writes: opaque rectangles that replace, and whole frames."""
    with Image.open(io.BytesIO(data)) as picture:
        frames, delays = [], []
        for frame in ImageSequence.Iterator(picture):
            frames.append(numpy.asarray(frame.convert('RGBA')))
            delays.append(round(frame.info.get('duration', 0)))
        loop = picture.info.get('loop')
        gif_plays = 1 if loop is None else loop + 1 if loop else 0
        return Read(frames, delays, gif_plays if picture.format == 'GIF' else loop)


def hidden(pixels):
    """The same, with the colours of transparent pixels set to 0."""
    return numpy.where(pixels[..., 3:] > 0, pixels, 0)
