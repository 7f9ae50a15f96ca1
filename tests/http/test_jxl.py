# SPDX-License-Identifier: MIT
"""JPEG XL files of libjxl's own programs: pixels, colours, turns and repacked JPEGs, and what libjxl reads of the answers."""

import io
import shutil

import numpy
import pytest
from PIL import Image

import anatomy
import daemon
import foreign
import pictures
from problems import check_problem

PLAIN = '/pixelate?block=1'


@pytest.fixture(autouse=True)
def need(shared):
    if 'jxl' not in shared.get('/version').json()['formats']['writes']:
        pytest.skip('this build has no JPEG XL')
    if not shutil.which('cjxl'):
        pytest.skip('cjxl is not installed')


def cjxl(data, *options, of='png'):
    return foreign.convert(('cjxl', '--quiet', *options), data, of, 'jxl')


def ask(server, target, body, **more):
    answer = server.post(target, body, **more)
    assert answer.status_code == 200, answer.text
    return answer.content


def boxes(data):
    """Types and bodies of the boxes of a container."""
    at, found = 0, []
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], 'big') or len(data) - at
        found.append((data[at + 4:at + 8], data[at + 8:at + size]))
        at += size
    return found


SAMPLES = {
    'grey': pictures.photograph(61, 47, 1), 'rgb': pictures.photograph(61, 47),
    'rgba': numpy.dstack([pictures.photograph(61, 47), numpy.tile(numpy.linspace(0, 255, 61).astype(numpy.uint8), (47, 1))]),
}


@pytest.mark.parametrize('options', (('-d', '0'), ('-d', '1'), ('-d', '1', '-p'), ('-d', '3', '-e', '3'), ('-d', '0', '-e', '1'), ('-d', '1', '-m', '1'),
                                     ('-d', '1', '--container=1')), ids=' '.join)
@pytest.mark.parametrize('name', SAMPLES)
@pytest.mark.parametrize('depth', (8, 16))
def test_pixels_are_those_of_djxl(server, name, options, depth):
    samples = SAMPLES[name].astype(numpy.uint16) * (257 if depth == 16 else 1) + (depth == 16) * numpy.arange(61, dtype=numpy.uint16)[None, :, None] % 50
    body = cjxl(pictures.png(numpy.minimum(samples, 65535 if depth == 16 else 255), depth=depth), *options)
    ours, theirs = (anatomy.read_png(png).astype(int) for png in (ask(server, f'{PLAIN}&format=png', body), foreign.read_png('jxl', body)))
    assert ours.shape == theirs.shape
    shown = numpy.repeat(theirs[..., 3:] > 0, theirs.shape[2], 2) if name == 'rgba' else numpy.ones(theirs.shape, bool)
    assert numpy.abs(ours - theirs)[shown].max() <= 1


def test_colours_that_were_multiplied_by_alpha_are_divided(server):
    """By cjxl 0.11 with --premultiply=1; that of 0.7 ignores the option. djxl leaves them as they are."""
    stored = numpy.array([[100, 50, 0, 200], [64, 32, 16, 64], [10, 20, 30, 40], [255, 254, 3, 255]])
    body = bytes.fromhex('ff0a00000680015002081010008c004b188b15525cf31b4bc9f6c45238585c4008009e735d5342a34da6a87ce3ee93db0840')
    ours = anatomy.read_png(ask(server, f'{PLAIN}&format=png', body)).astype(int)[0]
    assert (ours[:, 3] == stored[:, 3]).all()
    assert (abs(ours[:, :3] - stored[:, :3] * 255 / stored[:, 3:]) <= 1).all()


@pytest.mark.parametrize('name', SAMPLES)
def test_lossless_answers_are_exact(server, name):
    samples = SAMPLES[name].copy()
    body = ask(server, f'{PLAIN}&format=jxl&lossless=true', pictures.png(samples))
    again = anatomy.read_png(foreign.read_png('jxl', body)).reshape(samples.shape)
    shown = samples[..., 3:] > 0 if name == 'rgba' else slice(None)
    assert (numpy.where(shown, again, 0) == numpy.where(shown, samples, 0)).all() if name == 'rgba' else (again == samples).all()
    deep = samples.astype(numpy.uint16) * 255 + 77
    body = ask(server, f'{PLAIN}&format=jxl&lossless=true', pictures.png(deep, depth=16))
    assert anatomy.png_header(foreign.read_png('jxl', body))[2] == 16


@pytest.mark.parametrize('subsampling', ('444', '420'))
@pytest.mark.parametrize('more', ({}, {'progressive': True}), ids=('baseline', 'progressive'))
def test_a_repacked_jpeg_is_filtered_as_a_jpeg(server, subsampling, more):
    jpeg = pictures.jpeg(pictures.photograph(101, 67), 60, subsampling, **more)
    body = cjxl(jpeg, of='jpg')
    assert b'jbrd' in dict(boxes(body))
    for target in (f'{PLAIN}&format=png', '/blur?sigma=3&colorspace=rgb&format=png'):
        assert ask(server, target, body) == ask(server, target, jpeg)


@pytest.mark.parametrize('model', (3, 1), ids=('colour', 'grey'))
def test_what_a_repacked_jpeg_has_beside_is_named(server, model):
    """Its segments stand compressed in the box of which the JPEG is restored."""
    segments = {'iptc': (0xED, b'Photoshop 3.0\0' + b'8BIM\4\4\0\0\0\0\0\x0a\x1c\2\5\0\5title\0'), 'text': (0xFE, b'a comment')}
    jpeg = pictures.jpeg(pictures.photograph(64, 48)[..., :model], 90)
    for wanted in ((), ('iptc',), ('text',), ('iptc', 'text')):
        body = cjxl(pictures.with_segments(jpeg, *(segments[name] for name in wanted)), of='jpg')
        for more, said in (('', ()), ('&metadata=keep', wanted)):
            answer = server.post(f'{PLAIN}&format=png{more}', body)
            assert answer.status_code == 200 and answer.headers.get('X-Metadata-Dropped', '') == ', '.join(said)


def test_a_jpeg_that_cannot_be_restored_leaves_its_pixels(server):
    body = bytearray(cjxl(pictures.jpeg(pictures.photograph(64, 48), 90), of='jpg'))
    at = body.index(b'jbrd') + 8
    body[at:at + 8] = bytes(8)
    plain = anatomy.pixels(ask(server, f'{PLAIN}&format=png', bytes(body)))
    assert numpy.abs(plain.astype(int) - pictures.photograph(64, 48)).mean() < 8


@pytest.mark.parametrize('orientation', range(1, 9))
@pytest.mark.parametrize('repacked', ('1', '0'))
def test_turned_once(server, orientation, repacked):
    upright = pictures.photograph(45, 31)
    jpeg = pictures.with_segments(pictures.jpeg(pictures.stored_as(upright, orientation), 97), pictures.exif_segment(orientation))
    body = cjxl(jpeg, f'--lossless_jpeg={repacked}', '-d', '0.3', of='jpg')
    for query in ('', '&autorotate=false'):
        result = anatomy.pixels(ask(server, f'{PLAIN}&format=png{query}', body))
        assert result.shape == upright.shape and numpy.abs(result.astype(int) - upright).mean() < 4
    kept = ask(server, f'{PLAIN}&format=jpeg&metadata=keep', body)
    assert Image.open(io.BytesIO(kept)).getexif().get(0x112, 1) == 1


@pytest.mark.parametrize('space, chunk', (('RGB_D65_DCI_Rel_SRG', (12, 13, 0, 1)), ('RGB_D65_202_Rel_PeQ', (9, 16, 0, 1)), ('RGB_D65_202_Rel_HLG', (9, 18, 0, 1)),
                                          ('RGB_D65_SRG_Rel_SRG', None), ('RGB_D65_SRG_Rel_g0.55', 'icc')))
@pytest.mark.parametrize('distance', ('0', '1'))
def test_colours_are_said(server, space, chunk, distance):
    ppm = io.BytesIO()
    Image.fromarray(SAMPLES['rgb']).save(ppm, 'PPM')
    body = cjxl(ppm.getvalue(), '-d', distance, '-x', f'color_space={space}', of='ppm')
    found = dict(anatomy.chunks(ask(server, f'{PLAIN}&format=png', body)))
    assert ('iCCP' in found) == (chunk == 'icc')
    assert found.get('cICP') == (bytes(chunk) if isinstance(chunk, tuple) else None)
    again = ask(server, f'{PLAIN}&format=jxl', body)  # and again by our own answer
    assert dict(anatomy.chunks(ask(server, f'{PLAIN}&format=png', again))).get('cICP') == found.get('cICP')


def test_colours_that_libjxl_cannot_express(server):
    """A file with losses comes as Display P3, of which the colours are those of its profile, not as linear light."""
    profile = pictures.icc(gamma=1.8, colorants=((.6097, .3111, .0195), (.2053, .6257, .0609), (.1492, .0632, .7446)))
    jpeg = io.BytesIO()
    Image.fromarray(numpy.full((32, 32, 3), 128, numpy.uint8)).save(jpeg, 'JPEG', quality=97, icc_profile=profile)
    answer = ask(server, f'{PLAIN}&format=png', cjxl(jpeg.getvalue(), '--lossless_jpeg=0', '-d', '1', of='jpg'))
    found = dict(anatomy.chunks(answer))
    middle = anatomy.pixels(answer)[16, 16].astype(int)
    if 'cICP' in found:
        light = (128 / 255) ** 1.8
        wanted = round(255 * (1.055 * light ** (1 / 2.4) - .055))
        assert found['cICP'] == bytes((12, 13, 0, 1)) and numpy.abs(middle - wanted).max() <= 3
    else:
        assert 'iCCP' in found and numpy.abs(middle - 128).max() <= 3


def test_metadata(server):
    jpeg = pictures.with_segments(pictures.jpeg(pictures.photograph(64, 48)), pictures.exif_segment(1))
    kept = ask(server, '/blur?sigma=1&format=jxl&metadata=keep', jpeg)
    found = dict(boxes(kept))
    assert b'Exif' in found and found[b'Exif'][:4] == bytes(4)
    tags = anatomy.tags(found[b'Exif'][4:])
    assert tags
    again = ask(server, '/blur?sigma=1&format=jpeg&metadata=keep', kept)
    assert anatomy.tags(anatomy.exif_of(again)) == tags
    for body in (jpeg, kept):
        stripped = ask(server, '/blur?sigma=1&format=jxl', body)
        assert stripped[:2] == b'\xff\x0a' and b'Exif' not in stripped


def test_redaction_keeps_no_jpeg(server):
    """The answer is made of the redacted pixels: no JPEG can be restored from it."""
    jpeg = pictures.jpeg(pictures.photograph(160, 128), 90)
    for query in ('', '&lossless=true', '&effort=5'):
        answer = ask(server, f'/redact?region=32,32,64,48&format=jxl{query}', cjxl(jpeg, of='jpg'))
        assert b'jbrd' not in answer
        hidden = anatomy.pixels(ask(server, f'{PLAIN}&format=png', answer))[40:72, 40:88]
        assert hidden.max() <= 12


@pytest.mark.skipif(daemon.SANITIZED, reason='a sanitizer needs the standard error')
def test_the_log_has_no_lines_of_the_library(start):
    own = start()
    body = foreign.write('jxl', pictures.photograph(96, 80))
    for at in range(20, len(body), 97):
        own.post('/blur', body[:at] + bytes((body[at] ^ 255,)) + body[at + 1:])
    own.stop()
    assert not [line for line in own.lines if 'lib/jxl' in line]
