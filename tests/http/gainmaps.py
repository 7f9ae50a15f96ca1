# SPDX-License-Identifier: MIT
"""Photographs with gain maps: made of arrays, taken apart, and rendered as HDR by the formulas of ISO 21496-1 and Android's Ultra HDR."""

import collections
import re
import struct

import numpy

import anatomy
import pictures

ISO = b'urn:iso:std:iso:ts:21496:-1\0'
XMP = b'http://ns.adobe.com/xap/1.0/\0'
SPACE = 'http://ns.adobe.com/hdr-gain-map/1.0/'

# Each but the headrooms has a number for each channel, or one for all.
Numbers = collections.namedtuple('Numbers', 'min max gamma base_offset offset base_headroom headroom')
USUAL = Numbers((0,), (3,), (1,), (1 / 64,), (1 / 64,), 0, 3)
PER_CHANNEL = Numbers((0, -1, 0), (3, 2, 2.5), (1, 1.5, 0.7), (1 / 64,), (1 / 64,), 0, 3)


def segment(marker, data):
    return struct.pack('>BBH', 0xFF, marker, len(data) + 2) + data


def packet(attributes, elements='', spaces=f'xmlns:hdrgm="{SPACE}"'):
    return (f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
            f'<rdf:Description rdf:about="" {spaces} {attributes}>{elements}</rdf:Description></rdf:RDF></x:xmpmeta>').encode()


def xmp(numbers):
    names = ('GainMapMin', 'GainMapMax', 'Gamma', 'OffsetSDR', 'OffsetHDR')
    one = ' '.join(f'hdrgm:{n}="{v[0]:f}"' for n, v in zip(names, numbers) if len(v) == 1)
    more = ''.join(f'<hdrgm:{n}><rdf:Seq>' + ''.join(f'<rdf:li>{x:f}</rdf:li>' for x in v) + f'</rdf:Seq></hdrgm:{n}>'
                   for n, v in zip(names, numbers) if len(v) > 1)
    return packet(f'hdrgm:Version="1.0" {one} hdrgm:HDRCapacityMin="{numbers.base_headroom:f}" '
                  f'hdrgm:HDRCapacityMax="{numbers.headroom:f}"', more)


def iso(numbers):
    def ratio(value):
        return struct.pack('>iI', round(value * 1000000), 1000000)
    channels = max(map(len, numbers[:5]))
    rows = [v * channels if len(v) == 1 else v for v in numbers[:5]]
    return (struct.pack('>HHB', 0, 0, 0x40 | (channels > 1) << 7) + ratio(numbers.base_headroom) + ratio(numbers.headroom)
            + b''.join(ratio(row[c]) for c in range(channels) for row in rows))


def index(first, second, more=()):
    """The index (MPF) of these sizes; `second` begins `first - at` bytes behind the mark of the byte order, where `at` is its place."""
    sizes = (first, second, *more)
    head = b'MM\0*' + struct.pack('>IH', 8, 3) + struct.pack('>HHI4s', 0xB000, 7, 4, b'0100') + struct.pack('>HHII', 0xB001, 4, 1, len(sizes)) \
        + struct.pack('>HHII', 0xB002, 7, 16 * len(sizes), 50) + bytes(4)

    def at(mark):
        places = [0, *(sum(sizes[:i]) - mark for i in range(1, len(sizes)))]
        return b'MPF\0' + head + b''.join(struct.pack('>IIIHH', 0 if i else 0x30000, size, place, 0, 0)
                                          for i, (size, place) in enumerate(zip(sizes, places)))
    return at


def assemble(base, map_file, *, indexed=True, announce=True, gap=b'', behind=()):
    """A file of a base, a map and perhaps more JPEGs, with an index."""
    head = segment(0xE1, XMP + packet('hdrgm:Version="1.0"')) if announce else b''
    size = 4 + len(index(0, 0, [0] * len(behind))(0)) if indexed else 0
    first = len(base) + len(head) + size + len(gap)
    mark = 2 + len(head) + 4 + 4
    listed = segment(0xE2, index(first, len(map_file), [len(b) for b in behind])(mark)) if indexed else b''
    return base[:2] + head + listed + base[2:] + gap + map_file + b''.join(behind)


def ultra_hdr(base, gain, numbers=USUAL, form='xmp', quality=95, map_segments=(), base_segments=(), subsampling='444', progressive=False, **more):
    """base: samples of three channels or grey; gain: samples of the map."""
    forms = [(0xE1, XMP + xmp(numbers))] if form in ('xmp', 'both') else []
    forms += [(0xE2, ISO + iso(numbers))] if form in ('iso', 'both') else []
    map_file = pictures.with_segments(pictures.jpeg(gain, quality, subsampling if numpy.ndim(gain) == 3 else '444', progressive=progressive), *forms, *map_segments)
    return assemble(pictures.with_segments(pictures.jpeg(base, quality, subsampling, progressive=progressive), *base_segments), map_file, **more)


APPLE = 'urn:com:apple:photo:2020:aux:hdrgainmap'
APPLE_SPACES = 'xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/" xmlns:apdi="http://ns.apple.com/pixeldatainfo/1.0/"'


def apple_exif(ratios, order='>'):
    """EXIF with a maker note that has these ratios by tag, as iPhones write it."""
    entries, values = b'', b''
    behind = 14 + 2 + 12 * len(ratios) + 4
    for tag, (above, below) in sorted(ratios.items()):
        entries += struct.pack(order + 'HHII', tag, 10, 1, behind + len(values))
        values += struct.pack(order + 'ii', above, below)
    note = b'Apple iOS\0\0\1' + (b'MM' if order == '>' else b'II') + struct.pack(order + 'H', len(ratios)) + entries + bytes(4) + values
    head = b'MM\0*' + struct.pack('>IHHHIIIHHHII', 8, 1, 0x8769, 4, 1, 26, 0, 1, 0x927C, 7, len(note), 44)
    return head + bytes(44 - len(head)) + note


def apple_packet(headroom=None):
    more = f'HDRGainMap:HDRGainMapVersion="{65536 if headroom is None else 131072}"'
    more += '' if headroom is None else f' HDRGainMap:HDRGainMapHeadroom="{headroom}"'
    return packet(f'{more} apdi:AuxiliaryImageType="{APPLE}"', spaces=APPLE_SPACES)


def apple(base, gain, ratios=None, headroom=None, form='', numbers=USUAL, quality=95, **more):
    """As iPhones write it: the map has Apple's name, the base's maker note the tags 33 and 48; from iOS 17 on the headroom, and from iOS 18
    on ISO 21496-1 stands beside."""
    segments = [(0xE1, XMP + apple_packet(headroom))] + ([(0xE2, ISO + iso(numbers))] if form == 'iso' else [])
    exif = [(0xE1, b'Exif\0\0' + apple_exif(ratios, more.pop('order', '>')))] if ratios else []
    return assemble(pictures.with_segments(pictures.jpeg(base, quality), *exif), pictures.with_segments(pictures.jpeg(gain, quality), *segments),
                    announce=False, **more)


def apple_stops(a, b):
    """Of Apple's "Applying Apple HDR effect to your photos"."""
    if a < 1:
        return 1.8 - 20 * b if b <= 0.01 else 1.601 - 0.101 * b
    return 3 - 70 * b if b <= 0.01 else 2.303 - 0.303 * b


def apple_render(base, gain, headroom):
    """Linear HDR by Apple's formula: the map is coded by Rec. 709."""
    coded = stretch(gain, base.shape[1], base.shape[0]) / 255
    light = numpy.where(coded < 0.081, coded / 4.5, ((coded + 0.099) / 1.099) ** (1 / 0.45))
    return linear(base.astype(float)) * (1 + (headroom - 1) * light)


def photograph(width=320, height=240, scale=4, channels=1, seed=3):
    """Base and gain: a picture whose bright places are brighter on HDR screens, so that the map shows what it shows."""
    base = pictures.photograph(width, height, seed=seed)
    light = base.astype(float)[:height // scale * scale, :width // scale * scale]
    light = light.reshape(height // scale, scale, width // scale, scale, 3).mean((1, 3))
    gain = light if channels == 3 else light.mean(2)
    return base, numpy.rint(255 * (gain / 255) ** 2).astype('uint8')


# --- answers ---------------------------------------------------------------------------------------------------------------
Answer = collections.namedtuple('Answer', 'base map numbers xmp_numbers')


def numbers_of_iso(data):
    flags = data[4]
    values = [n / d for n, d in struct.iter_unpack('>iI', data[5:])]
    channels = 3 if flags & 0x80 else 1
    rows = [values[2 + 5 * c:7 + 5 * c] for c in range(channels)]
    assert len(values) == 2 + 5 * channels and flags & 0x3F == 0
    return Numbers(*zip(*rows), values[0], values[1])


def numbers_of_xmp(data):
    found = dict(re.findall(rb'hdrgm:(\w+)="([^"]*)"', data))
    assert found.pop(b'Version') == b'1.0' and found.pop(b'BaseRenditionIsHDR') == b'False'
    names = (b'GainMapMin', b'GainMapMax', b'Gamma', b'OffsetSDR', b'OffsetHDR')
    return Numbers(*((float(found[n]),) for n in names), float(found[b'HDRCapacityMin']), float(found[b'HDRCapacityMax']))


def take_apart(data):
    """Base, map and numbers of an answer, whose index has to be exact."""
    mpf, = (d for m, d in anatomy.segments(data) if m == 0xE2 and d.startswith(b'MPF\0'))
    mark = data.index(b'MPF\0') + 4
    assert mpf[4:8] == b'MM\0*'
    entries = mpf[4 + struct.unpack_from('>I', mpf, 4 + 8 + 2 + 2 * 12 + 8)[0]:]
    (_, first, zero, *_), (_, second, place, *_) = struct.iter_unpack('>IIIHH', entries)
    assert zero == 0 and mark + place == first and first + second == len(data), (mark, place, first, second, len(data))
    base, gain = data[:first], data[first:]
    assert base.endswith(b'\xff\xd9') and gain.startswith(b'\xff\xd8') and gain.endswith(b'\xff\xd9')
    said, = (d for m, d in anatomy.segments(base) if m == 0xE1 and d.startswith(XMP))
    assert b'hdrgm:Version="1.0"' in said and b'Item:Length="%d"' % second in said and b'"GainMap"' in said
    assert any(m == 0xE2 and d == ISO + bytes(4) for m, d in anatomy.segments(base))
    numbers, = (numbers_of_iso(d[len(ISO):]) for m, d in anatomy.segments(gain) if m == 0xE2 and d.startswith(ISO))
    texts = [d for m, d in anatomy.segments(gain) if m == 0xE1]
    assert all(d.startswith(XMP) for d in texts) and len(texts) <= 1
    return Answer(base, gain, numbers, numbers_of_xmp(texts[0]) if texts else None)


def linear(samples):
    v = samples / 255
    return numpy.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def stretch(gain, width, height):
    """The map in the size of the base, by straight lines between the middles of its samples."""
    gain = numpy.atleast_3d(gain).astype(float)

    def along(array, axis, size):
        at = numpy.clip((numpy.arange(size) + 0.5) * array.shape[axis] / size - 0.5, 0, array.shape[axis] - 1)
        low = numpy.floor(at).astype(int)
        high = numpy.minimum(low + 1, array.shape[axis] - 1)
        part = (at - low).reshape([-1 if a == axis else 1 for a in range(3)])
        return array.take(low, axis) * (1 - part) + array.take(high, axis) * part
    return along(along(gain, 0, height), 1, width)


def render(base, gain, numbers):
    """Linear HDR at full headroom, of samples."""
    height, width = base.shape[:2]
    part = stretch(gain, width, height) / 255
    low, high, gamma, before, after = (numpy.array(v, float) for v in numbers[:5])
    boost = 2 ** (low + (high - low) * part ** (1 / gamma))
    return (linear(base.astype(float)) + before) * boost - after
