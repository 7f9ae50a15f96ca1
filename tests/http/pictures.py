# SPDX-License-Identifier: MIT
"""Every picture that the tests send is made here, in code."""

import functools
import io
import struct
import zlib

import numpy
from PIL import Image

CANARY = b'CANARY-do-not-leak'  # stands in all metadata that must not come back


# --- their content ---------------------------------------------------------------------
@functools.lru_cache(16)
def photograph(width, height, channels=3, seed=1):
    """Light that falls off, hard and soft edges, texture and sensor noise."""
    random = numpy.random.default_rng(seed)
    y, x = numpy.mgrid[0:height, 0:width]
    planes = []
    for c in range(channels):
        plane = 120 + 70 * numpy.sin(x / (40 + 9 * c) + c) * numpy.cos(y / (31 + 5 * c))
        plane += 60 * ((x - width * 0.6) ** 2 + (y - height * 0.4) ** 2 < (min(width, height) / 4) ** 2)
        plane -= 90 * ((x // 9 + y // 13) % 7 == c)
        planes.append(plane + random.normal(0, 6, plane.shape))
    return numpy.clip(numpy.stack(planes, -1), 0, 255).round().astype(numpy.uint8)


@functools.lru_cache(4)
def noise(width, height, channels=3):
    """Noise, which does not compress."""
    return numpy.random.default_rng(7).integers(0, 256, (height, width, channels), numpy.uint8)


def halves(width, height):
    """Opaque red on the left, invisible green on the right: green that shows is a halo."""
    picture = numpy.zeros((height, width, 4), numpy.uint8)
    picture[:, :width // 2] = (255, 0, 0, 255)
    picture[:, width // 2:] = (0, 255, 0, 0)
    return picture


# --- PNG ----------------------------------------------------------------------------------
GRAY, RGB, PALETTE, GRAY_ALPHA, RGBA = 0, 2, 3, 4, 6
PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def chunk(tag, payload):
    tag = tag.encode()
    return struct.pack('>I', len(payload)) + tag + payload + struct.pack('>I', zlib.crc32(tag + payload))


def _filtered(rows, step, filters):
    """A filter byte before each of the rows of bytes, which takes the next of `filters` in turn. Pixels have `step` bytes."""
    above = numpy.vstack([numpy.zeros_like(rows[:1]), rows[:-1]]).astype(int)
    left, corner = (numpy.pad(plane, ((0, 0), (step, 0)))[:, :rows.shape[1]].astype(int) for plane in (rows, above))
    across, down, both = abs(above - corner), abs(left - corner), abs(left + above - 2 * corner)
    paeth = numpy.where((across <= down) & (across <= both), left, numpy.where(down <= both, above, corner))
    kinds = numpy.resize(numpy.array(filters), len(rows))
    guess = numpy.choose(kinds[:, None], (0, left, above, (left + above) // 2, paeth))
    return numpy.hstack([kinds[:, None], (rows - guess) & 255]).astype(numpy.uint8)


def _scanlines(samples, depth, filters):
    """Filter byte and packed samples of each row."""
    height = samples.shape[0]
    rows = samples.reshape(height, -1)
    if depth == 16:
        packed = rows.astype('>u2').view(numpy.uint8)
    elif depth == 8:
        packed = rows.astype(numpy.uint8)
    else:
        bits = (rows[..., None] >> numpy.arange(depth - 1, -1, -1)) & 1
        packed = numpy.packbits(bits.reshape(height, -1).astype(numpy.uint8), axis=1)
    return _filtered(packed, max(1, samples.shape[2] * depth // 8), filters).tobytes()


def png(samples, kind=None, depth=8, interlaced=False, palette=None, before=(), after=(), filters=(0,), level=1, piece=None):
    """A PNG of height x width x channels samples; `before`, `after`: chunks around the pixels. Rows take `filters` in turn, and IDAT
    chunks have `piece` bytes."""
    samples = samples if samples.ndim == 3 else samples[:, :, None]
    height, width, channels = samples.shape
    kind = {1: GRAY, 2: GRAY_ALPHA, 3: RGB, 4: RGBA}[channels] if kind is None else kind
    if interlaced:
        grids = [samples[y::dy, x::dx] for x, y, dx, dy in PASSES]
        raw = b''.join(_scanlines(grid, depth, filters) for grid in grids if grid.size)
    else:
        raw = _scanlines(samples, depth, filters)
    header = struct.pack('>IIBBBBB', width, height, depth, kind, 0, 0, interlaced)
    parts = [chunk('IHDR', header)]
    if palette is not None:
        parts.append(chunk('PLTE', palette.astype(numpy.uint8).tobytes()))
    data = zlib.compress(raw, level)
    piece = piece or len(data)
    parts += [chunk(*c) for c in before]
    parts += [chunk('IDAT', data[at:at + piece]) for at in range(0, len(data), piece)]
    parts += [chunk(*c) for c in after]
    return b'\x89PNG\r\n\x1a\n' + b''.join(parts) + chunk('IEND', b'')


@functools.lru_cache(4)
def small_png():
    return png(photograph(40, 30))


@functools.lru_cache(4)
def slow_png(side=600):
    """Noise of two values, on which deflate's best effort is slow: about 0.5 s, 2 s with side 1250."""
    return png(noise(side, side, 3) % 2)


SLOW_QUERY = '/blur?sigma=0.1&effort=9&png_reduce=false'


# --- JPEG ---------------------------------------------------------------------------------
def jpeg(samples, quality=92, subsampling='444', **more):
    """Through Pillow: gray, RGB or (4 channels) CMYK."""
    samples = samples[:, :, 0] if samples.ndim == 3 and samples.shape[2] == 1 else samples
    mode = 'L' if samples.ndim == 2 else {3: 'RGB', 4: 'CMYK'}[samples.shape[2]]
    output = io.BytesIO()
    if mode == 'RGB':
        more['subsampling'] = {'444': 0, '422': 1, '420': 2}[subsampling]
    Image.fromarray(samples, mode).save(output, 'JPEG', quality=quality, **more)
    return output.getvalue()


def with_segments(data, *extra):
    """(marker, payload) put in front of the segments of a JPEG."""
    added = b''.join(struct.pack('>BBH', 255, marker, len(payload) + 2) + payload for marker, payload in extra)
    return data[:2] + added + data[2:]


@functools.lru_cache(4)
def small_jpeg(subsampling='420'):
    return jpeg(photograph(48, 32), subsampling=subsampling)


def mosaic_jpeg(tiles, interval=0):
    """A gray JPEG of 8x8 tiles of one tone each, which decodes exactly; with `interval`,
    restart markers after so many tiles. Only DC coefficients: Huffman coding by hand."""
    codes = ['00', '010', '011', '100', '101', '110', '1110', '11110', '111110']
    rows, columns = tiles.shape
    data, bits, previous = bytearray(), '', 0

    def flush(bits):
        bits += '1' * (-len(bits) % 8)
        packed = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
        data.extend(packed.replace(b'\xff', b'\xff\x00'))

    for i, tone in enumerate(int(t) for t in tiles.flat):
        if interval and i and i % interval == 0:
            flush(bits)
            data.extend((0xFF, 0xD0 + (i // interval - 1) % 8))
            bits, previous = '', 0
        difference, previous = tone - 128 - previous, tone - 128
        size = abs(difference).bit_length()
        value = difference if difference > 0 else difference + (1 << size) - 1
        bits += codes[size] + (f'{value:0{size}b}' if size else '') + '0'
    flush(bits)
    frame = struct.pack('>BHHBBBB', 8, rows * 8, columns * 8, 1, 1, 0x11, 0)
    parts = [(0xDB, b'\0' + b'\x08' * 64), (0xC0, frame),
             (0xC4, b'\x00' + bytes([0, 1, 5, 1, 1, 1, 1, 1, 1] + [0] * 7 + list(range(12))[:12])),
             (0xC4, b'\x10' + bytes([1] + [0] * 15 + [0]))]
    if interval:
        parts.append((0xDD, struct.pack('>H', interval)))
    parts.append((0xDA, b'\x01\x01\x00\x00\x3f\x00'))
    head = b''.join(struct.pack('>BBH', 255, m, len(p) + 2) + p for m, p in parts)
    return b'\xff\xd8' + head + bytes(data) + b'\xff\xd9'


# --- metadata -----------------------------------------------------------------------------
def exif(orientation, order='<', extras=True):
    """A TIFF structure: orientation and, with `extras`, a maker, GPS and a thumbnail with the canary."""
    def entry(tag, kind, count, value):
        if isinstance(value, bytes):
            return struct.pack(order + 'HHI4s', tag, kind, count, value)
        packed = struct.pack(order + 'HH', value, 0) if kind == 3 else struct.pack(order + 'I', value)
        return struct.pack(order + 'HHI', tag, kind, count) + packed

    def directory(entries, following=0):
        return struct.pack(order + 'H', len(entries)) + b''.join(entries) + struct.pack(order + 'I', following)

    head = (b'II*\0' if order == '<' else b'MM\0*') + struct.pack(order + 'I', 8)
    if not extras:
        return head + directory([entry(0x0112, 3, 1, orientation)])
    maker = b'Maker ' + CANARY + b'\0'
    latitude = struct.pack(order + '6I', 48, 1, 8, 1, 14, 1)
    thumbnail = jpeg(photograph(16, 16), comment=CANARY)
    first = 8                                   # IFD0 with 3 entries, then its values
    maker_at = first + 2 + 3 * 12 + 4
    gps = maker_at + len(maker) + len(maker) % 2  # the GPS directory with 2 entries
    latitude_at = gps + 2 + 2 * 12 + 4
    second = latitude_at + len(latitude)        # IFD1, the thumbnail's, with 3 entries
    thumbnail_at = second + 2 + 3 * 12 + 4
    return (head
            + directory([entry(0x010F, 2, len(maker), maker_at), entry(0x0112, 3, 1, orientation),
                         entry(0x8825, 4, 1, gps)], second)
            + maker + b'\0' * (len(maker) % 2)
            + directory([entry(1, 2, 2, b'N\0\0\0'), entry(2, 5, 3, latitude_at)]) + latitude
            + directory([entry(0x0103, 3, 1, 6), entry(0x0201, 4, 1, thumbnail_at),
                         entry(0x0202, 4, 1, len(thumbnail))]) + thumbnail)


def exif_segment(*arguments, **more):
    return 0xE1, b'Exif\0\0' + exif(*arguments, **more)


XMP_NAME = b'http://ns.adobe.com/xap/1.0/\0'


def xmp(properties):
    """A packet with these in its description."""
    return (b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description '
            b'rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">' + properties + b'</rdf:Description></rdf:RDF></x:xmpmeta>')


XMP = XMP_NAME + xmp(b'<dc:title>' + CANARY + b'</dc:title>')


@functools.lru_cache(1)
def icc(name=b'sRGB', gamma=2.2, colorants=((.4361, .2225, .0139), (.3851, .7169, .0971), (.1431, .0606, .7141))):
    """A profile of a screen, laid out as blurd writes profiles anew, so that it is passed on byte for byte."""
    def fixed(*numbers):
        return struct.pack(f'>{len(numbers)}i', *(round(65536 * number) for number in numbers))
    described = b'desc' + struct.pack('>II', 0, len(name) + 1) + name + bytes(79)
    colours = [b'XYZ ' + bytes(4) + fixed(*each) for each in colorants]
    curve = b'curv' + struct.pack('>IIH', 0, 1, round(256 * gamma))
    elements = dict(zip((b'desc', b'cprt', b'rXYZ', b'gXYZ', b'bXYZ', b'rTRC'), (described, b'text' + bytes(4) + b'none\0', *colours, curve)))
    table, body, start = b'', b'', 132 + 12 * 8
    for tag, element in elements.items():
        table += tag + struct.pack('>II', start + len(body), len(element))
        body += element + bytes(-len(element) % 4)
    table += b'gTRC' + table[-8:] + b'bTRC' + table[-8:]
    head = b'mntrRGB XYZ ' + bytes(12) + b'acsp' + bytes(28) + fixed(.9642, 1, .8249) + bytes(48)
    return struct.pack('>IIBB2x', start + len(body), 0, 2, 0) + head + struct.pack('>I', 8) + table + body


TO_STORED = {1: None, 2: Image.FLIP_LEFT_RIGHT, 3: Image.ROTATE_180, 4: Image.FLIP_TOP_BOTTOM,
             5: Image.TRANSPOSE, 6: Image.ROTATE_90, 7: Image.TRANSVERSE, 8: Image.ROTATE_270}


def stored_as(upright, orientation):
    """The samples as a camera stores them that marks them with this orientation."""
    turn = TO_STORED[orientation]
    if turn is None:
        return upright
    return numpy.asarray(Image.fromarray(upright).transpose(turn))
