# SPDX-License-Identifier: MIT
"""Pictures with one kind of metadata each, in every place where programs write it, with a canary in it. The names are those of the
table in docs/api.md."""

import io
import struct
import zlib

from PIL import Image

import foreign
import heif
import pictures

CANARY = pictures.CANARY


def tiff(order, main=(), photo=(), gps=(), thumbnail=()):
    """Directories of (tag, type, count, bytes)."""
    head = (b'II*\0' if order == '<' else b'MM\0*') + struct.pack(order + 'I', 8)
    directories = [list(main) + [(tag, 4, 1, None) for tag, inner in ((0x8769, photo), (0x8825, gps)) if inner], photo, gps, thumbnail]
    sizes = [2 + 12 * len(d) + 4 + sum((len(v) + 1) // 2 * 2 for *_, v in d if v and len(v) > 4) if d else 0 for d in directories]
    starts = [8 + sum(sizes[:i]) for i in range(4)]
    for i, (tag, *_) in enumerate(directories[0]):
        if tag in (0x8769, 0x8825):
            directories[0][i] = (tag, 4, 1, struct.pack(order + 'I', starts[1 if tag == 0x8769 else 2]))
    parts = [head]
    for number, entries in enumerate(directories):
        at, table, values = starts[number] + 2 + 12 * len(entries) + 4, b'', b''
        for tag, kind, count, value in entries:
            where = value.ljust(4, b'\0') if len(value) <= 4 else struct.pack(order + 'I', at + len(values))
            values += value + b'\0' * (len(value) % 2) if len(value) > 4 else b''
            table += struct.pack(order + 'HHI', tag, kind, count) + where
        following = starts[3] if number == 0 and thumbnail else 0
        parts.append(struct.pack(order + 'H', len(entries)) + table + struct.pack(order + 'I', following) + values if entries else b'')
    return b''.join(parts)


def exifs(**directories):
    """In both byte orders; values are bytes or a function of the order."""
    for order in '<>':
        yield tiff(order, **{name: [(tag, kind, count, value(order) if callable(value) else value) for tag, kind, count, value in entries]
                             for name, entries in directories.items()})


def text(tag, value=CANARY):
    return tag, 2, len(value) + 1, value + b'\0'


def blob(tag, value=b'\xff\xd8\xff\xe0' + CANARY):
    return tag, 7, len(value), value


def resource(number, data):
    return b'8BIM' + struct.pack('>HHI', number, 0, len(data)) + data + b'\0' * (len(data) % 2)


def dataset(record, number, value=CANARY):
    return struct.pack('>BBBH', 0x1C, record, number, len(value)) + value


def with_private_parts(profile):
    """A private tag, a text of a known one, bytes behind an element, bytes between elements and behind all."""
    count = struct.unpack('>I', profile[128:132])[0]
    entries = [struct.unpack('>4sII', profile[132 + 12 * i:144 + 12 * i]) for i in range(count)]
    hidden, at = [], len(profile) + 12 * 4
    for tag, element in ((b'blrd', b'data' + bytes(4) + CANARY), (b'dmnd', b'text' + bytes(4) + CANARY), (b'wtpt', b'XYZ ' + bytes(16) + CANARY),
                         (b'chad', b'sf32' + bytes(40) + CANARY)):
        hidden.append((tag, at, len(element), element + CANARY))
        at += len(hidden[-1][3])
    table = b''.join(struct.pack('>4sII', tag, offset + 48, size) for tag, offset, size in entries)
    table += b''.join(struct.pack('>4sII', *entry[:3]) for entry in hidden)
    body = profile[132 + 12 * count:] + b''.join(entry[3] for entry in hidden) + CANARY
    head = profile[4:48] + CANARY[:4] + profile[52:80] + CANARY[:4] + profile[84:100] + CANARY.ljust(28)[:28]
    return struct.pack('>I', 132 + len(table) + len(body)) + head + struct.pack('>I', count + 4) + table + body


def with_profile(kind, samples, profile):
    """A picture of that format with the profile."""
    if kind == 'jpeg':
        return pictures.jpeg(samples, icc_profile=profile)
    if kind == 'png':
        return pictures.png(samples, before=[('iCCP', b'a\0\0' + zlib.compress(profile))])
    if kind == 'webp':
        output = io.BytesIO()
        Image.fromarray(samples).save(output, 'WEBP', icc_profile=profile)
        return output.getvalue()
    file = heif.File(kind)
    file.picture(heif.coded(kind, samples), samples.shape[1], samples.shape[0], heif.box(b'colr', b'prof', profile))
    return file.write()


def profile_in(data):
    """The profile of a picture, or b''."""
    if foreign.kind_of(data) == 'avif':  # Debian's Pillow does not read it
        at = data.find(b'colrprof')
        return data[at + 8:at - 4 + struct.unpack('>I', data[at - 4:at])[0]] if at >= 0 else b''
    with Image.open(io.BytesIO(data)) as picture:
        return picture.info.get('icc_profile') or b''


def profiles(*made):
    return {'jpeg': segments(*((0xE2, b'ICC_PROFILE\0\1\1' + each) for each in made)),
            'png': [chunks(('iCCP', b'a\0\0' + zlib.compress(each)))[0] for each in made]}


XAP, ADOBE = 'http://ns.adobe.com/xap/1.0/', 'http://ns.adobe.com/'
FOREIGN = (XAP + 'g/img/', 'http://ns.google.com/photos/1.0/image/', 'http://ns.google.com/photos/1.0/depthmap/',
           'http://ns.google.com/photos/1.0/container/', ADOBE + 'hdr-gain-map/1.0/', ADOBE + 'camera-raw-settings/1.0/', 'urn:a:b')


def foreign_xmps():
    """Namespaces under their usual prefix, another, and one that stands for something good elsewhere."""
    for uri in FOREIGN:
        for prefix in ('xmpGImg', 'xapGImg', 'GImage', 'a', 'dc'):
            name, declared = f'{prefix}:image', f'xmlns:{prefix}="{uri}"'
            yield f'<{name} {declared}>{CANARY.decode()}</{name}>'.encode()
            yield f'<dc:x><rdf:li {declared} {name}="{CANARY.decode()}"/></dc:x>'.encode()
    for sign in (b'base64,', b'data:image/png,', b'abcdefgh' * 9, b'\x07'):  # each alone
        yield b'<dc:source>' + CANARY + b' ' + sign + b'</dc:source>'


def thumbnail_xmps():
    for prefix in ('xmp', 'xap', 'a', 'dc'):
        yield (f'<{prefix}:Thumbnails xmlns:{prefix}="{XAP}"><rdf:Alt><rdf:li xmlns:g="{XAP}g/img/" g:image="{CANARY.decode()}"/></rdf:Alt>'
               f'</{prefix}:Thumbnails>').encode()


def segments(*payloads):
    plain = pictures.jpeg(pictures.photograph(24, 16), 90)
    return [pictures.with_segments(plain, payload) for payload in payloads]


def chunks(*payloads):
    sample = pictures.photograph(24, 16)
    return [pictures.png(sample, **{where: [payload]}) for payload in payloads for where in ('before', 'after')]


def of_exif(*tiffs):
    return {'jpeg': segments(*((0xE1, b'Exif\0\0' + t) for t in tiffs)), 'png': chunks(*(('eXIf', t) for t in tiffs))}


def of_xmp(*packets):
    packets = [pictures.xmp(p) for p in packets]
    plain = [('iTXt', b'XML:com.adobe.xmp\0\0\0\0\0' + p) for p in packets]
    packed = [('iTXt', b'XML:com.adobe.xmp\0\1\0\0\0' + zlib.compress(p)) for p in packets]
    return {'jpeg': segments(*((0xE1, pictures.XMP_NAME + p) for p in packets)), 'png': chunks(*plain, *packed)}


def both(one, other):
    return {form: one.get(form, []) + other.get(form, []) for form in ('jpeg', 'png')}


PRIVATE = (0xC68C, 0xFDE8, 0x9999, 0x000B, 0xC6D2, 0x5001)  # one of DNG, one that is undefined, those of programs
PREVIEWS = (0x014A, 0x002E, 0x0111, 0x0144, 0x0201)
LINES = b'\n' + (b'abcdefgh' * 8 + b'\n') * 40  # as openssl writes base64
KINDS = {
    'EXIF: listed tags': of_exif(*exifs(main=[text(0x10F)]), *exifs(main=[text(0x112 - 2)], gps=[text(8)]), *exifs(photo=[text(0xA434)]),
                                 *exifs(photo=[blob(0x9286, b'ASCII\0\0\0' + CANARY)]),
                                 *exifs(main=[(0x9C9B, 1, 2 * len(CANARY), b'\0'.join(bytes((c,)) for c in CANARY) + b'\0')])),
    'EXIF: all other tags': of_exif(*(t for tag in PRIVATE for t in exifs(main=[blob(tag)])), *(t for tag in PRIVATE for t in exifs(photo=[blob(tag)])),
                                    *exifs(main=[blob(0x10E)]), *exifs(main=[text(0x10E, CANARY + b' base64,')])),
    'EXIF: maker note': of_exif(*exifs(photo=[blob(0x927C)]), *exifs(main=[blob(0xC634)])),
    'EXIF: thumbnail': of_exif(*exifs(thumbnail=[blob(0x0201)]), *exifs(main=[text(0x10F, b'maker')], thumbnail=[blob(0x10F)]),
                               *(t for tag in PREVIEWS for t in exifs(main=[blob(tag)]))),
    'XMP: listed namespaces': of_xmp(b'<dc:title>' + CANARY + b'</dc:title>', b'<a:City xmlns:a="http://ns.adobe.com/photoshop/1.0/">' + CANARY +
                                     b'</a:City>', b'<dc:rights><rdf:Alt><rdf:li xml:lang="x-default">' + CANARY + b'</rdf:li></rdf:Alt></dc:rights>'),
    'XMP: all other properties': both(both(of_xmp(*foreign_xmps()), of_exif(*exifs(main=[blob(0x02BC, pictures.xmp(CANARY))]))),
                                      {'jpeg': segments((0xE1, b'http://ns.adobe.com/xmp/extension/\0' + CANARY))}),
    'XMP: thumbnails': of_xmp(*thumbnail_xmps()),
    'IPTC: listed datasets': {'jpeg': segments(*((0xED, b'Photoshop 3.0\0' + resource(0x404, dataset(2, n))) for n in (5, 25, 80, 116, 120)))},
    'IPTC: all other datasets': both({'jpeg': segments(*((0xED, b'Photoshop 3.0\0' + resource(0x404, dataset(2, n))) for n in (200, 201, 202)))},
                                     of_exif(*(t for tag in (0x83BB, 0x8649) for t in exifs(main=[blob(tag, dataset(2, 202))])))),
    'ICC profile': profiles(pictures.icc(CANARY)),
    'ICC profile: all but colours and name': profiles(with_private_parts(pictures.icc())),
    'gAMA, cHRM': {'png': chunks(('gAMA', b'\0\1\x86\xa0'), ('cHRM', struct.pack('>8I', 31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000)))[::2]},
    'sRGB': {'png': chunks(('sRGB', b'\0'))[::2]},
    'cICP': {'png': chunks(('cICP', b'\x0c\x0d\0\1'))[::2]},
    'resolution': both(of_exif(*exifs(main=[text(0x10F, b'maker')] + [(tag, 5, 1, lambda o: struct.pack(o + 'II', 300, 1)) for tag in (0x11A, 0x11B)])),
                       {'jpeg': [pictures.jpeg(pictures.photograph(24, 16), dpi=(300, 300))], 'png': chunks(('pHYs', struct.pack('>IIB', 11811, 11811, 1)))}),
    'comment': {'jpeg': segments((0xFE, CANARY)), 'png': chunks(('tEXt', b'Comment\0' + CANARY), ('zTXt', b'Comment\0\0' + zlib.compress(CANARY)),
                                                                ('iTXt', b'Comment\0\0\0\0\0' + CANARY))},
    'other texts': {'png': chunks(('tEXt', b'Title\0' + CANARY), ('zTXt', b'Title\0\0' + zlib.compress(CANARY)), ('iTXt', b'Title\0\0\0en\0T\0' + CANARY),
                                  ('iTXt', b'Title\0\1\0en\0T\0' + zlib.compress(CANARY)))},
    'data in texts': {'jpeg': segments((0xFE, CANARY + b'\1'), (0xFE, CANARY + LINES), (0xFE, CANARY + b' base64,'), (0xFE, CANARY + b' ' * 8200)),
                      'png': chunks(('tEXt', b'Title\0' + CANARY + b'\1'), ('tEXt', b'Comment\0' + CANARY + LINES),
                                    ('zTXt', b'Thumbnail\0\0' + zlib.compress(CANARY + LINES)), ('zTXt', b'Comment\0\0' + zlib.compress(CANARY + b' ' * 8200)))},
    'time of change': {'png': chunks(('tIME', b'\7\xe8\1\1\1\1\1'))},
    'JFIF and Photoshop thumbnails': {'jpeg': segments((0xE0, b'JFIF\0\1\2\1\0\1\0\1\2\2' + CANARY), (0xE0, b'JFXX\0\x10' + CANARY),
                                                       (0xED, b'Photoshop 3.0\0' + resource(0x409, CANARY) + resource(0x40C, CANARY)))},
    'further pictures': {'jpeg': segments((0xE2, b'MPF\0' + CANARY))},
    'C2PA': {'jpeg': segments((0xEB, b'JP\0\1' + CANARY)), 'png': chunks(('caBX', CANARY))},
    'all else': {'jpeg': segments((0xE9, CANARY), (0xE2, b'FPXR\0' + CANARY), (0xEF, CANARY), (0xED, b'Adobe_CM' + CANARY)),
                 'png': chunks(('prVt', CANARY), ('tEXt', b'Raw profile type exif\0' + CANARY), ('sPLT', CANARY))},
}

# Entries that can hold the original picture are never in an answer.
HIDDEN = [kind for kind in KINDS if kind.startswith(('EXIF: all', 'EXIF: m', 'EXIF: t', 'XMP: all', 'XMP: t', 'IPTC: all', 'ICC profile: all')) or
          kind in ('data in texts', 'JFIF and Photoshop thumbnails', 'further pictures', 'C2PA', 'all else')]
