# SPDX-License-Identifier: MIT
"""AVIF and HEIC files put together box by box around pictures that other programs wrote: layouts that are legal
and rare, and wrong ones."""

import collections
import struct

import foreign

TYPES = {'avif': (b'av01', b'av1C'), 'heic': (b'hvc1', b'hvcC')}

# type of the item, its configuration (a box), its data
Coded = collections.namedtuple('Coded', 'type config data')


def box(tag, *parts):
    payload = b''.join(parts)
    return struct.pack('>I', 8 + len(payload)) + tag + payload


def full(tag, *parts, version=0, flags=0):
    return box(tag, struct.pack('>I', version << 24 | flags), *parts)


def inside(data, tag):
    """The first box of that name, whole."""
    at = data.index(tag) - 4
    return data[at:at + struct.unpack_from('>I', data, at)[0]]


def coded(kind, samples, *more):
    """A picture as a program codes it; `more`: options of that program."""
    data = foreign.write(kind, samples, *more)
    tag, config = TYPES[kind]
    return Coded(tag, inside(data, config), inside(data, b'mdat')[8:])


def ispe(width, height):
    return full(b'ispe', struct.pack('>II', width, height))


def pixi(channels, depth=8):
    return full(b'pixi', bytes([channels, *[depth] * channels]))


def clap(width, height, x, y):
    """A crop: four fractions as pairs of numbers. x and y: from its centre to that of the picture."""
    return box(b'clap', b''.join(struct.pack('>ii' if n < 0 else '>II', n, by) for n, by in (width, height, x, y)))


def locations(places, data, base):
    """The box `iloc`; base: each item has an offset to which that of its extent is added."""
    entry = [struct.pack('>HHIHII', i + 1, 0, base, 1, at - base, size) if base else struct.pack('>HHHII', i + 1, 0, 1, at, size)
             for i, (at, size) in enumerate(places)]
    return full(b'iloc', struct.pack('>HH', 0x4440 if base else 0x4400, len(data)), *entry)


def items(kind, entries, references=(), properties=(), uses=(), base=0, hidden=()):
    """A file of items (type, data); the first is the primary one. `references`: (type, from, [to]); `uses`: for each
    item the numbers of its properties; `base`: as above; `hidden`: numbers of items."""
    codec = b'avif' if kind == 'avif' else b'heic'
    start = box(b'ftyp', codec, bytes(4), b'mif1', codec)
    places, data = {}, b''
    for _, payload in entries:
        if payload not in places:
            places[payload] = len(start) + 8 + len(data)
            data += payload
    infe = b''.join(full(b'infe', struct.pack('>HH', i + 1, 0), tag, b'\0application/rdf+xml\0' if tag == b'mime' else b'\0', version=2, flags=i + 1 in hidden)
                    for i, (tag, _) in enumerate(entries))
    iref = b''.join(box(tag, struct.pack(f'>HH{len(to)}H', by, len(to), *to)) for tag, by, to in references)
    ipma = b''.join(struct.pack('>HB', i + 1, len(used)) + bytes(used) for i, used in enumerate(uses))
    meta = full(b'meta', full(b'hdlr', bytes(4), b'pict', bytes(13)), full(b'pitm', struct.pack('>H', 1)),
                full(b'iinf', struct.pack('>H', len(entries)), infe), full(b'iref', iref),
                box(b'iprp', box(b'ipco', *properties), full(b'ipma', struct.pack('>I', len(uses)), ipma)),
                locations([(places[payload], len(payload)) for _, payload in entries], entries, base))
    return start + box(b'mdat', data) + meta


class File:
    """A file that grows by items; the first is the primary one."""

    def __init__(self, kind):
        self.kind, self.entries, self.references, self.properties, self.uses, self.hidden = kind, [], [], [], [], set()

    def add(self, tag, data, *properties):
        """The number of the new item. A property whose type a decoder must know is essential."""
        self.entries.append((tag, data))
        used = []
        for one in properties:
            if one not in self.properties:
                self.properties.append(one)
            essential = one[4:8] in (b'av1C', b'hvcC', b'clap', b'irot', b'imir')
            used.append(self.properties.index(one) + 1 | essential << 7)
        self.uses.append(used)
        return len(self.entries)

    def picture(self, picture, width, height, *properties):
        return self.add(picture.type, picture.data, picture.config, ispe(width, height), *properties)

    def refer(self, tag, by, *to):
        self.references.append((tag, by, to))

    def write(self, base=0):
        return items(self.kind, self.entries, self.references, self.properties, self.uses, base, self.hidden)
