# SPDX-License-Identifier: MIT
"""Colour profiles are written anew: an independent colour engine sees the same colours before and after."""

import functools
import io
import struct
import zlib

import numpy
import pytest
from PIL import Image, ImageCms

import anatomy
import heif
import pictures
from metadata_kinds import profile_in, tiff, with_profile

FORMATS = ('jpeg', 'png', 'webp', 'avif')
TONES = numpy.random.default_rng(5).integers(0, 256, (8, 8, 3), dtype=numpy.uint8)


def fixed(*numbers):
    return struct.pack(f'>{len(numbers)}i', *(round(65536 * number) for number in numbers))


def assembled(version, space, connection, elements, **more):
    """A profile with gaps between its elements, which no reader looks at."""
    table, body, start = b'', b'', 132 + 12 * len(elements)
    for tag, element in elements.items():
        table += tag.encode() + struct.pack('>II', start + len(body), len(element))
        body += element + b'CANARY' + bytes(-(len(element) + 6) % 4)
    head = bytes(4) + bytes([version, 0, 0, 0]) + b'mntr' + space + connection + bytes(12) + b'acsp' + bytes(28) + fixed(.9642, 1, .8249) + bytes(48)
    return struct.pack('>I', start + len(body)) + head + struct.pack('>I', len(elements)) + table + body


def text(version, words):
    if version == 4:
        wide = words.encode('utf-16-be')
        return b'mluc' + struct.pack('>III4sII', 0, 1, 12, b'enUS', len(wide), 28) + wide
    return b'desc' + struct.pack('>II', 0, len(words) + 1) + words.encode() + bytes(79)


def xyz(*numbers):
    return b'XYZ ' + bytes(4) + fixed(*numbers)


def curve(samples):
    return b'curv' + struct.pack(f'>II{len(samples)}H', 0, len(samples), *samples)


def formula(kind, *numbers):
    return b'para' + struct.pack('>IHH', 0, kind, 0) + fixed(*numbers)


P3 = {'rXYZ': xyz(.5151, .2412, -.0011), 'gXYZ': xyz(.2920, .6922, .0419), 'bXYZ': xyz(.1571, .0666, .7841), 'wtpt': xyz(.9642, 1, .8249)}
SRGB = formula(3, 2.4, 1 / 1.055, .055 / 1.055, 1 / 12.92, .04045)
RAMP = [min(65535, round(65535 * (i / 99) ** 1.8)) for i in range(100)]


def named(version, elements):
    return {'desc': text(version, 'Display P3'), 'cprt': text(version, 'CANARY'), **elements}


def curves(value):
    return {tag: value for tag in ('rTRC', 'gTRC', 'bTRC')}


def lut8():
    grid = b''.join(bytes([255 - 120 * r, 100 + 60 * g, 90 + 80 * b]) for r in (0, 1) for g in (0, 1) for b in (0, 1))
    return b'mft1' + bytes(4) + bytes([3, 3, 2, 9]) + fixed(1, 0, 0, 0, 1, 0, 0, 0, 1) + bytes(range(256)) * 3 + grid + bytes(range(256)) * 3


def lut16():
    grid = b''.join(struct.pack('>3H', 60000 - 20000 * r, 20000 + 15000 * g, 20000 + 20000 * b) for r in (0, 1) for g in (0, 1) for b in (0, 1))
    ramp = struct.pack('>2H', 0, 65535) * 3
    return b'mft2' + bytes(4) + bytes([3, 3, 2, 0]) + fixed(1, 0, 0, 0, 1, 0, 0, 0, 1) + struct.pack('>2H', 2, 2) + ramp + grid + ramp


def parts():
    """Curves, a table and curves at offsets, with gaps."""
    linear, grid = curve([]) * 3, bytes([2, 2, 2] + [0] * 13 + [2, 0, 0, 0])
    grid += b''.join(struct.pack('>3H', 60000 - 20000 * r, 20000 + 15000 * g, 20000 + 20000 * b) for r in (0, 1) for g in (0, 1) for b in (0, 1))
    bent = formula(0, 1.8) * 3
    body, offsets = bytes(4), {}
    for name, part in (('A', bent), ('C', grid), ('B', linear)):
        body += b'CANARY' + bytes(-(len(body) + 6) % 4)
        offsets[name] = 32 + len(body)
        body += part
    return b'mAB ' + bytes(4) + bytes([3, 3, 0, 0]) + struct.pack('>5I', offsets['B'], 0, 0, offsets['C'], offsets['A']) + body


PROFILES = {
    'matrix and formula, version 4': assembled(4, b'RGB ', b'XYZ ', named(4, {**P3, **curves(SRGB), 'chad': b'sf32' + bytes(4) + fixed(1, 0, 0, 0, 1, 0, 0, 0, 1)})),
    'matrix and gamma, version 2': assembled(2, b'RGB ', b'XYZ ', named(2, {**P3, **curves(curve([563]))})),
    'matrix and table, version 2': assembled(2, b'RGB ', b'XYZ ', named(2, {**P3, **curves(curve(RAMP))})),
    'table of 8 bits': assembled(2, b'RGB ', b'Lab ', named(2, {'A2B0': lut8(), 'wtpt': xyz(.9642, 1, .8249)})),
    'table of 16 bits': assembled(2, b'RGB ', b'Lab ', named(2, {'A2B0': lut16(), 'wtpt': xyz(.9642, 1, .8249)})),
    'table in parts': assembled(4, b'RGB ', b'Lab ', named(4, {'A2B0': parts(), 'wtpt': xyz(.9642, 1, .8249)})),
    'the engine\'s own': ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes(),
}
GREY = assembled(4, b'GRAY', b'XYZ ', named(4, {'kTRC': curve(RAMP), 'wtpt': xyz(.9642, 1, .8249)}))


def shown(profile, picture, mode='RGB'):
    """What the engine shows on a screen of sRGB."""
    into = ImageCms.createProfile('sRGB')
    transform = ImageCms.buildTransform(ImageCms.ImageCmsProfile(io.BytesIO(profile)), into, mode, 'RGB', renderingIntent=0)
    return numpy.asarray(ImageCms.applyTransform(Image.fromarray(picture), transform)).astype(int)


@functools.cache
def with_one(kind, name):
    return with_profile(kind, pictures.photograph(96, 64), PROFILES[name])


@pytest.mark.parametrize('target', FORMATS)
@pytest.mark.parametrize('source', (*FORMATS, 'heic'))
@pytest.mark.parametrize('name', PROFILES)
def test_colours_stay(server, name, source, target):
    formats = server.get('/version').json()['formats']
    if source not in formats['reads'] or target not in formats['writes']:
        pytest.skip(f'built without {source} or {target}')
    profile = PROFILES[name]
    answer = server.post(f'/blur?sigma=1&format={target}', with_one(source, name))
    assert answer.status_code == 200 and 'X-Metadata-Dropped' not in answer.headers, answer.text
    written = profile_in(answer.content)
    assert b'CANARY' not in written and len(written) <= len(profile) + 100
    assert numpy.abs(shown(written, TONES) - shown(profile, TONES)).max() <= 1
    assert ImageCms.getProfileDescription(ImageCms.ImageCmsProfile(io.BytesIO(written))).strip() in ('Display P3', 'sRGB built-in')


def test_greys_stay(server):
    tones = numpy.ascontiguousarray(TONES[..., 0])
    body = pictures.png(tones, before=[('iCCP', b'a\0\0' + zlib.compress(GREY))])
    written = anatomy.icc_of(server.post('/blur?sigma=1&format=jpeg', body).content)
    assert b'CANARY' not in written
    assert numpy.abs(shown(written, tones, 'L') - shown(GREY, tones, 'L')).max() <= 1


def test_a_profile_without_colours_is_dropped(server):
    elements = named(4, {**P3, **curves(SRGB)})
    del elements['gTRC']
    body = pictures.png(TONES, before=[('iCCP', b'a\0\0' + zlib.compress(assembled(4, b'RGB ', b'XYZ ', elements)))])
    answer = server.post('/blur?sigma=1&metadata=keep', body)
    assert answer.status_code == 200 and answer.headers['X-Metadata-Dropped'] == 'colour'
    assert 'iCCP' not in dict(anatomy.chunks(answer.content))


XY = {'P3': (.3127, .329, .68, .32, .265, .69, .15, .06), 'BT.2020': (.3127, .329, .708, .292, .17, .797, .131, .046), 'Adobe': (.3127, .329, .64, .33, .21, .71, .15, .06)}


def chrm(name):
    return 'cHRM', struct.pack('>8I', *(round(100000 * part) for part in XY[name]))


def reference(name, bend):
    """The light in XYZ (D65) by chromaticities."""
    xy = numpy.array(XY[name]).reshape(4, 2)
    light = numpy.stack([xy[:, 0] / xy[:, 1], numpy.ones(4), (1 - xy.sum(1)) / xy[:, 1]])
    matrix = light[:, 1:] * numpy.linalg.solve(light[:, 1:], light[:, 0])
    return bend(TONES / 255) @ matrix.T


def in_srgb(light):
    linear = numpy.clip(light @ numpy.linalg.inv([[.4124, .3576, .1805], [.2126, .7152, .0722], [.0193, .1192, .9505]]).T, 0, 1)
    return 255 * numpy.where(linear <= .0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - .055)


def srgb_bend(x):
    return numpy.where(x <= .04045, x / 12.92, ((x + .055) / 1.055) ** 2.4)


def adobe_exif():
    return b'MM\0*\0\0\0\x08\0\1\x87\x69\0\4\0\0\0\1\0\0\0\x1a\0\0\0\0\0\1\xa0\1\0\3\0\0\0\1\0\2\0\0\0\0\0\0'


SAID = {
    'P3 by cICP': ([('cICP', bytes([12, 13, 0, 1]))], 'P3', srgb_bend),
    'BT.2020, linear, by cICP': ([('cICP', bytes([9, 8, 0, 1]))], 'BT.2020', lambda x: x),
    'P3 by cHRM': ([('gAMA', struct.pack('>I', 45455)), chrm('P3')], 'P3', srgb_bend),
    'Adobe by cHRM and gAMA': ([('gAMA', struct.pack('>I', 55556)), chrm('Adobe')], 'Adobe', lambda x: x ** 1.8),
    'Adobe by EXIF': ([('eXIf', adobe_exif())], 'Adobe', lambda x: x ** (563 / 256)),
}


@pytest.mark.parametrize('mode', ('strip', 'keep'))
@pytest.mark.parametrize('target', FORMATS)
@pytest.mark.parametrize('name', SAID)
def test_a_profile_says_the_same(server, name, target, mode):
    if target not in server.get('/version').json()['formats']['writes']:
        pytest.skip(f'this build does not write {target}')
    chunks, primaries, bend = SAID[name]
    native = (target == 'png' and 'eXIf' not in dict(chunks)) or (target == 'avif' and 'cICP' in dict(chunks))
    answer = server.post(f'/blur?sigma=1&metadata={mode}&format={target}', pictures.png(TONES, before=chunks))
    assert answer.status_code == 200 and 'X-Metadata-Dropped' not in answer.headers
    if native:
        assert b'iCCP' not in answer.content and b'colrprof' not in answer.content
        return
    assert numpy.abs(shown(profile_in(answer.content), TONES) - in_srgb(reference(primaries, bend))).max() <= 2


@pytest.mark.parametrize('chunks', ([('sRGB', b'\0')], [('gAMA', struct.pack('>I', 45455))], [('cICP', bytes([1, 13, 0, 1]))], [('cICP', bytes([1, 1, 0, 1]))], []))
@pytest.mark.parametrize('target', ('jpeg', 'webp'))
def test_srgb_gets_no_profile(server, chunks, target):
    if target not in server.get('/version').json()['formats']['writes']:
        pytest.skip(f'this build does not write {target}')
    answer = server.post(f'/blur?sigma=1&format={target}', pictures.png(TONES, before=chunks))
    assert profile_in(answer.content) == b'' and 'X-Metadata-Dropped' not in answer.headers


def test_a_curve_goes_between_grey_and_colour(server):
    tones = numpy.ascontiguousarray(TONES[..., 0])
    body = pictures.png(tones, before=[('iCCP', b'a\0\0' + zlib.compress(GREY))])
    if 'webp' in server.get('/version').json()['formats']['writes']:
        written = profile_in(server.post('/blur?sigma=1&format=webp', body).content)
        assert numpy.abs(shown(written, numpy.stack([tones] * 3, -1)) - shown(GREY, tones, 'L')).max() <= 1
    body = pictures.png(TONES, before=[('iCCP', b'a\0\0' + zlib.compress(PROFILES['matrix and table, version 2']))])
    written = anatomy.icc_of(server.post('/adjust?grayscale=1&format=jpeg', body).content)
    assert numpy.abs(shown(written, tones, 'L') - shown(GREY, tones, 'L')).max() <= 1


def test_what_cannot_be_said_is_named(server):
    light = [('mDCV', bytes(24)), ('cLLI', bytes(8))]
    png = server.post('/blur?sigma=1', pictures.png(TONES, before=light))
    assert {'mDCV', 'cLLI'} <= set(dict(anatomy.chunks(png.content))) and 'X-Metadata-Dropped' not in png.headers
    for chunks in light, [('cICP', bytes([12, 9, 0, 1]))], [('gAMA', bytes(4))], [('cHRM', bytes(32))]:
        answer = server.post('/blur?sigma=1&format=jpeg', pictures.png(TONES, before=chunks))
        assert answer.headers['X-Metadata-Dropped'] == 'colour', chunks


# In steps of 1/50000: green, blue, red and white; of 1/10000 cd/m2: the most and the least light of the screen.
SCREEN = struct.pack('>8H2I', 13250, 34500, 7500, 3000, 34000, 16000, 15635, 16450, 10000000, 50)
LIGHT = {
    'both': ((heif.box(b'mdcv', SCREEN), heif.box(b'clli', struct.pack('>HH', 1000, 65535))),
             {'mDCV': SCREEN[8:12] + SCREEN[:8] + SCREEN[12:], 'cLLI': struct.pack('>II', 10000000, 655350000)}),
    'levels': ((heif.box(b'clli', struct.pack('>HH', 1, 0)),), {'cLLI': struct.pack('>II', 10000, 0)}),
    'wrong sizes': ((heif.box(b'mdcv', SCREEN + b'\0'), heif.box(b'clli', bytes(6))), {}),
    'another picture\'s': ((), {}),
}


@pytest.mark.parametrize('mode', ('strip', 'keep'))
@pytest.mark.parametrize('kind', ('avif', 'heic'))
@pytest.mark.parametrize('name', LIGHT)
def test_light_levels_of_other_files(server, kind, name, mode):
    """Other pictures of the file may have levels of their own."""
    boxes, expected = LIGHT[name]
    file, photo = heif.File(kind), heif.coded(kind, pictures.photograph(96, 64))
    shown = file.picture(photo, 96, 64, *boxes)
    file.refer(b'thmb', file.picture(photo, 96, 64, heif.box(b'clli', bytes(4))), shown)
    body = file.write()
    for target in FORMATS:
        if target not in server.get('/version').json()['formats']['writes']:
            continue
        answer = server.post(f'/blur?sigma=1&metadata={mode}&format={target}', body)
        assert answer.status_code == 200, answer.text
        assert ('colour' in answer.headers.get('X-Metadata-Dropped', '')) == (bool(expected) and target != 'png'), target
        if target == 'png':
            assert {tag: data for tag, data in anatomy.chunks(answer.content) if tag in ('mDCV', 'cLLI')} == expected


@functools.cache
def with_code(kind, transfer):
    if kind == 'png':
        return pictures.png(TONES, before=[('cICP', bytes([9, transfer, 0, 1]))])
    file = heif.File(kind)
    file.picture(heif.coded(kind, pictures.photograph(96, 64)), 96, 64, heif.box(b'colr', b'nclx', struct.pack('>HHHB', 9, transfer, 9, 128)))
    return file.write()


@pytest.mark.parametrize('transfer', (16, 18))
@pytest.mark.parametrize('target', FORMATS)
@pytest.mark.parametrize('source', ('png', 'avif', 'heic'))
def test_high_dynamic_range_keeps_its_code(server, source, target, transfer):
    need(server, target)
    if source not in server.get('/version').json()['formats']['reads']:
        pytest.skip(f'this build does not read {source}')
    answer = server.post(f'/blur?sigma=1&format={target}', with_code(source, transfer))
    assert answer.status_code == 200 and 'X-Metadata-Dropped' not in answer.headers, answer.text
    profile = profile_in(answer.content)
    if target == 'png':
        assert dict(anatomy.chunks(answer.content))['cICP'][:2] == bytes([9, transfer]) and not profile
    elif target == 'avif':
        assert b'colrnclx' + struct.pack('>HH', 9, transfer) in answer.content and not profile
    else:
        assert b'cicp' + bytes(4) + bytes([9, transfer, 0, 1]) in profile and profile[8:10] == b'\4\x40'  # version 4.4, the first with that tag


def need(server, target):
    if target not in server.get('/version').json()['formats']['writes']:
        pytest.skip(f'this build does not write {target}')


def check_p3(server, body, targets=FORMATS):
    """The engine shows Display P3; PNG and AVIF may say it by code points."""
    for target in targets:
        need(server, target)
        answer = server.post(f'/blur?sigma=1&format={target}', body)
        assert answer.status_code == 200 and 'X-Metadata-Dropped' not in answer.headers
        if target == 'png':
            assert dict(anatomy.chunks(answer.content))['cICP'][:2] == b'\x0c\x0d'
        elif target == 'avif':
            assert b'colrnclx\0\x0c\0\x0d' in answer.content
        else:
            assert numpy.abs(shown(profile_in(answer.content), TONES) - in_srgb(reference('P3', srgb_bend))).max() <= 2


@pytest.mark.parametrize('kind', ('avif', 'heic'))
def test_code_points_of_other_files_become_profiles(server, kind):
    file, nclx = heif.File(kind), heif.box(b'colr', b'nclx', struct.pack('>HHHB', 12, 13, 6, 128))
    file.picture(heif.coded(kind, pictures.photograph(96, 64)), 96, 64, nclx)
    check_p3(server, file.write())


def test_the_code_of_a_png_goes_before_its_profile(server):
    """Of the chunks for colours cICP counts, where a reader knows it."""
    other = zlib.compress(PROFILES['matrix and gamma, version 2'].replace(fixed(.5151, .2412, -.0011), fixed(.7, .3, 0)))
    check_p3(server, pictures.png(TONES, before=[('cICP', bytes([12, 13, 0, 1])), ('iCCP', b'a\0\0' + other)]), ('jpeg', 'webp'))
    usual = pictures.png(TONES, before=[('cICP', bytes([1, 13, 0, 1])), ('iCCP', b'a\0\0' + other)])
    assert profile_in(server.post('/blur?sigma=1&format=jpeg', usual).content) == b''
    need(server, 'avif')
    assert b'colrprof' not in server.post('/blur?sigma=1&format=avif', usual).content


@pytest.mark.parametrize('code', ([12, 9, 0, 1], [2, 13, 0, 1]))
def test_a_profile_stays_beside_a_code_that_says_nothing(server, code):
    profile = PROFILES['matrix and gamma, version 2']
    body = pictures.png(TONES, before=[('cICP', bytes(code)), ('iCCP', b'a\0\0' + zlib.compress(profile))])
    written = profile_in(server.post('/blur?sigma=1&format=jpeg', body).content)
    assert numpy.abs(shown(written, TONES) - shown(profile, TONES)).max() <= 1


@pytest.mark.parametrize('transfer', (16, 18))
def test_high_dynamic_range_of_greys_is_named(server, transfer):
    """A profile for grey has no place for the code."""
    body = pictures.png(numpy.ascontiguousarray(TONES[..., 0]), before=[('cICP', bytes([9, transfer, 0, 1]))])
    assert server.post('/blur?sigma=1&format=jpeg', body).headers['X-Metadata-Dropped'] == 'colour'
    assert 'X-Metadata-Dropped' not in server.post('/blur?sigma=1', body).headers


def exif_of(space, index):
    """EXIF with ColorSpace and, with `index`, an interoperability directory; both byte orders."""
    for order in '<>':
        inner = [(0xA001, 3, 1, struct.pack(order + 'H', space))]
        at = 8 + 2 + 12 + 4 + 2 + 12 * 2 + 4
        inner += [(0xA005, 4, 1, struct.pack(order + 'I', at))] if index else []
        yield tiff(order, photo=inner) + (struct.pack(order + 'HHHI', 1, 1, 2, 4) + index + bytes(4) if index else b'')


@pytest.mark.parametrize('space, index, adobe', [(2, None, True), (1, None, False), (65535, b'R03\0', True), (65535, b'R98\0', False), (65535, None, False),
                                                 (2, b'R98\0', True), (1, b'R03\0', False)])
def test_cameras_say_adobe_rgb(server, space, index, adobe):
    for order, exif in enumerate(exif_of(space, index)):
        body = pictures.with_segments(pictures.jpeg(TONES), (0xE1, b'Exif\0\0' + exif))
        for target in 'jpeg', 'png':
            written = profile_in(server.post(f'/blur?sigma=1&format={target}', body).content)
            assert (written != b'') == adobe, (order, target)
            if adobe:
                assert numpy.abs(shown(written, TONES) - in_srgb(reference('Adobe', lambda x: x ** (563 / 256)))).max() <= 2
