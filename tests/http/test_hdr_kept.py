# SPDX-License-Identifier: MIT
"""Gain maps that are kept: what filters do to them, and what the HDR picture looks like. Files are rendered by the formulas of
ISO 21496-1 (gainmaps.render), and the index is followed to the byte."""

import io

import numpy
import pytest
from PIL import Image

import anatomy
import gainmaps
import pictures
from test_mask_part import ask

BASE, GAIN = gainmaps.photograph()
COLOURED = gainmaps.photograph(channels=3)[1]
HEIGHT, WIDTH = BASE.shape[:2]


def kept(answer):
    assert answer.status_code == 200, answer.text
    assert answer.headers['X-HDR'] == 'kept', answer.headers
    return gainmaps.take_apart(answer.content)


def decoded(parts):
    base, gain = anatomy.pixels(parts.base), anatomy.pixels(parts.map)
    return base, gain, gainmaps.render(base, gain, parts.numbers)


def close(a, b, most):
    """Mean difference of HDR pictures in stops."""
    stops = numpy.abs(numpy.log2(numpy.maximum(a, 0) + 1 / 64) - numpy.log2(numpy.maximum(b, 0) + 1 / 64))
    assert stops.mean() < most, (stops.mean(), stops.max())


def same_numbers(a, b):
    for x, y in zip(a, b):
        assert numpy.allclose(x, y, atol=1e-6, rtol=0), (a, b)


@pytest.mark.parametrize('form', ('xmp', 'iso', 'both'))
@pytest.mark.parametrize('numbers', (gainmaps.USUAL, gainmaps.PER_CHANNEL))
def test_numbers_and_picture_stay(server, form, numbers):
    """A blur that is finer than a sample of the map."""
    gain = GAIN if numbers is gainmaps.USUAL else COLOURED
    file = gainmaps.ultra_hdr(BASE, gain, numbers, form)
    parts = kept(server.post('/blur?sigma=0.1&quality=95', file))
    same_numbers(parts.numbers, [v * 3 if numbers is gainmaps.PER_CHANNEL and i < 5 and len(v) == 1 else v for i, v in enumerate(numbers[:5])] + list(numbers[5:]))
    if numbers is gainmaps.USUAL:
        same_numbers(parts.numbers, parts.xmp_numbers)
    else:
        assert parts.xmp_numbers is None
    assert anatomy.pixels(parts.map).shape[:2] == (HEIGHT // 4, WIDTH // 4)
    close(decoded(parts)[2], gainmaps.render(BASE, gain, numbers), 0.08)


def blurred(samples, sigma):
    size = int(4 * sigma) + 1
    weights = numpy.exp(-numpy.arange(-size, size + 1) ** 2 / 2 / sigma ** 2)
    weights /= weights.sum()
    for axis in (0, 1):
        padded = numpy.pad(samples, [(size, size) if a == axis else (0, 0) for a in range(samples.ndim)], 'edge')
        samples = sum(w * numpy.take(padded, range(i, i + samples.shape[axis]), axis) for i, w in enumerate(weights))
    return samples


def test_blur_at_the_map_s_scale(server):
    parts = kept(server.post('/blur?sigma=12', gainmaps.ultra_hdr(BASE, GAIN)))
    assert numpy.abs(anatomy.pixels(parts.map)[:, :, 0] - blurred(GAIN.astype(float), 3)).mean() < 1.5


def test_regions_limit_the_map_too(server):
    """Half of the picture is blurred."""
    parts = kept(server.post(f'/blur?sigma=40&region=0,0,{WIDTH // 2},{HEIGHT}', gainmaps.ultra_hdr(BASE, GAIN)))
    gain = anatomy.pixels(parts.map)[:, :, 0].astype(float)
    changed = numpy.abs(gain - GAIN)
    assert changed[:, :WIDTH // 8].mean() > 10 and changed[:, WIDTH // 8 + 1:].mean() < 1.5


def test_mask_of_a_form(server):
    mask = numpy.zeros((HEIGHT, WIDTH), numpy.uint8)
    mask[:, WIDTH // 2:] = 255
    answer = ask(server, mask, '/blur?sigma=40', gainmaps.ultra_hdr(BASE, GAIN))
    changed = numpy.abs(anatomy.pixels(kept(answer).map)[:, :, 0].astype(float) - GAIN)
    assert changed[:, WIDTH // 8:].mean() > 10 and changed[:, :WIDTH // 8 - 1].mean() < 1.5


def test_pixelate(server):
    parts = kept(server.post('/pixelate?block=32', gainmaps.ultra_hdr(BASE, GAIN)))
    tiles = anatomy.pixels(parts.map)[:HEIGHT // 32 * 8, :, 0].reshape(HEIGHT // 32, 8, WIDTH // 32, 8)
    assert tiles.std((1, 3)).max() < 2


@pytest.mark.parametrize('query, expected', [
    ('/crop?x=40&y=20&width=160&height=120', lambda hdr: hdr[20:140, 40:200]),
    ('/crop?x=41&y=22&width=163&height=117', lambda hdr: hdr[22:139, 41:204]),
    ('/rotate?angle=90', lambda hdr: hdr.transpose(1, 0, 2)[:, ::-1]),
    ('/rotate?flip=horizontal', lambda hdr: hdr[:, ::-1]),
    ('/resize?width=160&kernel=area', lambda hdr: hdr.reshape(HEIGHT // 2, 2, WIDTH // 2, 2, 3).mean((1, 3))),
    ('/pipeline?ops=crop:x=41:y=22:width=163:height=117|rotate:angle=180', lambda hdr: hdr[22:139, 41:204][::-1, ::-1]),
    ('/crop?x=48&y=32&width=160&height=112&lossless=true', lambda hdr: hdr[32:144, 48:208]),
])
def test_places_move_alike(server, query, expected):
    file = gainmaps.ultra_hdr(BASE, GAIN, quality=98)
    query += '' if 'lossless' in query else '&quality=98'
    parts = kept(server.post(query, file))
    base, gain, hdr = decoded(parts)
    assert hdr.shape == expected(numpy.zeros((HEIGHT, WIDTH, 3))).shape
    close(hdr, expected(gainmaps.render(BASE, GAIN, gainmaps.USUAL)), 0.12)


@pytest.mark.parametrize('orientation', range(1, 9))
def test_both_are_turned_upright(server, orientation):
    base, gain = pictures.stored_as(BASE, orientation), pictures.stored_as(GAIN, orientation)
    file = gainmaps.ultra_hdr(base, gain, base_segments=[pictures.exif_segment(orientation, extras=False)], quality=98)
    close(decoded(kept(server.post('/blur?sigma=0.1&quality=98', file)))[2], gainmaps.render(BASE, GAIN, gainmaps.USUAL), 0.1)


def test_metadata_of_the_map_are_dropped(server):
    """And those of the base come with its announcement, in one packet."""
    secret = b'SECRET'
    own = [(0xE1, b'Exif\0\0' + secret), (0xFE, secret), (0xED, secret), (0xE0, b'JFXX\0' + secret)]
    file = gainmaps.ultra_hdr(BASE, GAIN, map_segments=own, behind=(pictures.jpeg(BASE) + secret,))
    for query in ('/blur?sigma=1', '/blur?sigma=1&metadata=keep'):
        answer = server.post(query, file)
        assert secret not in answer.content
        assert kept(answer) and answer.headers['X-Metadata-Dropped'].endswith('pictures')
    described = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" ' \
                b'xmlns:dc="http://purl.org/dc/elements/1.1/" dc:source="KEPT"/></rdf:RDF></x:xmpmeta>'
    file = gainmaps.ultra_hdr(BASE, GAIN, base_segments=[(0xE1, gainmaps.XMP + described)], announce=False)
    parts = kept(server.post('/blur?sigma=1&metadata=keep', file))
    assert parts.base.count(gainmaps.XMP) == 1 and b'KEPT' in parts.base


DROPPED = {
    '/adjust?brightness=1.2': 'colours', '/convolve?preset=edge': 'colours', '/dilate?radius=2': 'colours', '/median?radius=2': 'colours',
    '/blur?sigma=2&format=png': 'only a JPEG', '/adjust?grayscale=true': 'grey', '/resize?width=90&height=90&fit=contain': 'colours',
    '/redact?region=10,10,50,50': 'to be hidden', '/blur?sigma=9&mode=redact&region=10,10,50,50': 'to be hidden',
}


@pytest.mark.parametrize('query', DROPPED)
def test_dropped_with_a_reason(server, query):
    answer = server.post(query, gainmaps.ultra_hdr(BASE, GAIN))
    assert answer.status_code == 200 and answer.headers['X-HDR'] == 'dropped'
    assert DROPPED[query] in answer.headers['X-Blurd-Notice']
    assert answer.content.count(b'\xff\xd8\xff') <= 1 and b'21496' not in answer.content and b'hdrgm' not in answer.content


def test_dropped_on_request(server):
    file = gainmaps.ultra_hdr(BASE, GAIN)
    answer = server.post('/blur?sigma=1&hdr=drop', file)
    assert answer.headers['X-HDR'] == 'dropped' and 'X-Blurd-Notice' not in answer.headers
    assert answer.content == server.post('/blur?sigma=1', pictures.jpeg(BASE, 95)).content


def test_the_base_is_that_of_a_picture_without_a_map(server):
    """But for the segments that announce the map."""
    base = kept(server.post('/blur?sigma=3&region=0,0,99,99', gainmaps.ultra_hdr(BASE, GAIN))).base
    alone = server.post('/blur?sigma=3&region=0,0,99,99', pictures.jpeg(BASE, 95)).content
    assert [s for s in anatomy.segments(base) if s[0] not in (0xE1, 0xE2)] == anatomy.segments(alone)
    assert base[base.index(b'\xff\xda'):] == alone[alone.index(b'\xff\xda'):]


def test_damaged_maps_are_dropped(server):
    """The base is answered."""
    whole = gainmaps.ultra_hdr(BASE, GAIN)
    at = whole.rindex(b'\xff\xda')
    for file in (whole[:at + 40] + b'\xff\xd9', gainmaps.ultra_hdr(BASE, gainmaps.photograph(640, 480, 1)[1]),
                 gainmaps.ultra_hdr(BASE, GAIN, gainmaps.USUAL._replace(headroom=0))):
        answer = server.post('/blur?sigma=1', file)
        assert answer.status_code == 200 and answer.headers['X-HDR'] == 'dropped' and 'gain map' in answer.headers['X-Blurd-Notice']
        assert Image.open(io.BytesIO(answer.content)).size == (WIDTH, HEIGHT)


@pytest.mark.parametrize('size', ((1, 1), (7, 3), (320, 240), (80, 61)))
def test_sizes_of_maps(server, size):
    gain = numpy.asarray(Image.fromarray(GAIN).resize(size))
    for query in ('/crop?x=13&y=7&width=40&height=30', '/blur?sigma=5&region=0,0,160,240', '/resize?width=33', '/rotate?angle=90'):
        kept(server.post(query, gainmaps.ultra_hdr(BASE, gain)))


# --- JPEGs that are packed as JPEG XL ------------------------------------------------------
BYTES = 'lossless=true&metadata=keep&autorotate=false'


def is_alone(file):
    return file.count(b'\xff\xd8\xff') == 1 and b'21496' not in file and b'hdrgm' not in file


def test_a_packed_jpeg_has_its_map(server):
    """It is restored to the byte; where something else changes, or hdr=drop, it is lost, and the answer says so."""
    if 'jxl' not in server.get('/version').json()['formats']['writes']:
        pytest.skip('this build writes no JPEG XL')
    file = gainmaps.ultra_hdr(BASE, GAIN, gainmaps.USUAL, 'both')
    packed = server.post(f'/rotate?angle=0&format=jxl&{BYTES}', file)
    assert packed.status_code == 200 and packed.headers['X-HDR'] == 'kept' and 'gain map' not in packed.headers.get('X-Blurd-Notice', '')
    again = server.post(f'/rotate?angle=0&format=jpeg&{BYTES}', packed.content)
    assert again.content == file and again.headers['X-HDR'] == 'kept'
    for query in (f'angle=0&format=jpeg&hdr=drop&{BYTES}', f'angle=180&format=jpeg&{BYTES}'):
        answer = server.post(f'/rotate?{query}', packed.content)
        assert answer.status_code == 200 and answer.headers['X-HDR'] == 'dropped'
        assert ('gain map is dropped' in answer.headers.get('X-Blurd-Notice', '')) == ('hdr=drop' not in query)
        assert is_alone(answer.content)
    answer = server.post(f'/rotate?angle=0&format=jxl&hdr=drop&{BYTES}', file)
    assert answer.status_code == 200 and answer.headers['X-HDR'] == 'dropped' and len(answer.content) < len(packed.content) - 1000
    assert is_alone(server.post(f'/rotate?angle=0&format=jpeg&{BYTES}', answer.content).content)
