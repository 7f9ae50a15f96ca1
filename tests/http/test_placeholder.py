# SPDX-License-Identifier: MIT
"""/placeholder: hashes, colours and a data URL, against thumbnails that /resize makes and encoders in Python.

tests/unit/server/placeholder/test_placeholder.c compares the hashes with those of the reference encoders, bit for bit. The
encoders here are in double precision, so that single terms may be a step away."""

import base64
import io
import json
import math

import numpy
import pytest
from PIL import Image

import anatomy
import areas
import daemon
import fake_gpu
import filtering
import pictures
from filtering import ask
from problems import check_problem

DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~'
KINDS = [(channels, depth) for depth in (8, 16) for channels in (1, 2, 3, 4)]
SIZES = ((1, 1), (2, 1), (100, 100), (101, 99), (640, 427), (31, 700), (1000, 3))


def placeholder(server, body, query=''):
    answer = ask(server, f'/placeholder{query}', body)
    assert answer.headers['Content-Type'] == 'application/json' and 'Vary' not in answer.headers
    page = answer.json()
    assert list(page) == ['width', 'height', 'blurhash', 'thumbhash', 'dominant', 'average', 'data_url']
    return page


def thumbnail(server, body, more=''):
    """RGBA of 8 bits, as the page says that anybody can have it."""
    answer = ask(server, f'/resize?width=100&height=100&kernel=area&format=png{more}', body)
    samples = anatomy.read_png(answer.content).astype(numpy.int64)
    if anatomy.png_header(answer.content)[2] == 16:
        samples = (samples + 128) // 257
    alpha = samples[..., -1:] if samples.shape[2] in (2, 4) else numpy.full_like(samples[..., :1], 255)
    colours = samples[..., :3] if samples.shape[2] > 2 else samples[..., :1].repeat(3, 2)
    return numpy.concatenate([colours, alpha], 2)


def hexadecimal(pixels):
    """The mean of RGBA pixels (n x 4), weighted by alpha, halves rounded up."""
    total = int(pixels[:, 3].sum())
    means = [(int((pixels[:, c] * pixels[:, 3]).sum()) + total // 2) // total if total else 0 for c in range(3)]
    return '#' + ''.join(f'{mean:02x}' for mean in means)


def check_colours(page, thumb):
    pixels = thumb.reshape(-1, 4)
    assert page['average'] == hexadecimal(pixels)
    bins = pixels[:, 0] // 16 * 256 + pixels[:, 1] // 16 * 16 + pixels[:, 2] // 16
    fullest = numpy.bincount(bins, pixels[:, 3], 4096).argmax()  # the first of equal ones
    assert page['dominant'] == hexadecimal(pixels[bins == fullest])


def number(text):
    value = 0
    for digit in text:
        value = value * 83 + DIGITS.index(digit)
    return value


def check_blurhash(text, thumb, across=4, down=3):
    height, width = thumb.shape[:2]
    assert len(text) == 4 + 2 * across * down and number(text[0]) == across - 1 + 9 * (down - 1)
    light = filtering.to_linear(thumb[..., :3], 255)
    columns = numpy.cos(math.pi * numpy.outer(range(across), numpy.arange(width) / width))
    rows = numpy.cos(math.pi * numpy.outer(range(down), numpy.arange(height) / height))
    terms = numpy.einsum('jy,ix,yxc->jic', rows, columns, light).reshape(-1, 3) / (width * height)
    mean = numpy.rint(filtering.from_linear(terms[0], 255)).astype(int)
    assert abs(numpy.array([number(text[2:6]) >> shift & 255 for shift in (16, 8, 0)]) - mean).max() <= 1
    largest = abs(2 * terms[1:]).max(initial=0)
    assert abs(number(text[1]) - max(0, min(82, math.floor(largest * 166 - 0.5)))) <= 1
    scale = (number(text[1]) + 1) / 166 if across * down > 1 else 1
    roots = numpy.sign(terms[1:]) * numpy.sqrt(abs(2 * terms[1:]) / scale)
    levels = numpy.clip(numpy.floor(roots * 9 + 9.5), 0, 18)
    values = numpy.array([number(text[6 + 2 * i:8 + 2 * i]) for i in range(across * down - 1)], int)
    got = numpy.stack([values // 361, values // 19 % 19, values % 19], -1)
    assert abs(got - levels).max(initial=0) <= 1 and (got != levels).sum() <= 1 + got.size // 20


def check_thumbhash(text, thumb):
    data = base64.b64decode(text, validate=True)
    height, width = thumb.shape[:2]
    alpha = thumb[..., 3:] / 255
    mean = (thumb[..., :3] / 255 * alpha).sum((0, 1)) / max(alpha.sum(), 1e-9)
    red, green, blue = numpy.moveaxis(mean * (1 - alpha) + alpha * thumb[..., :3] / 255, 2, 0)
    head = int.from_bytes(data[:3], 'little')
    for shift, expected in ((0, 63 * ((red + green + blue) / 3).mean()), (6, 31.5 + 31.5 * ((red + green) / 2 - blue).mean()),
                            (12, 31.5 + 31.5 * (red - green).mean())):
        assert abs((head >> shift & 63) - expected) <= 0.5 + 1e-6
    assert head >> 23 == (thumb[..., 3].min() < 255) and data[4] >> 7 == (width > height)
    side = 5 if head >> 23 else 7
    assert data[3] & 7 == max(1, math.floor(side * min(width, height) / max(width, height) + 0.5))


def read_url(url):
    kind, text = url.split(',', 1)
    assert kind == 'data:image/png;base64' and len(url) <= 400
    with Image.open(io.BytesIO(base64.b64decode(text, validate=True))) as picture:
        return numpy.asarray(picture.convert('RGBA')).astype(numpy.int64)


def overlaps(source, target):
    """Of each sample of the target with each one of the source."""
    edges = numpy.arange(target + 1) * source / target
    places = numpy.arange(source)
    return numpy.clip(numpy.minimum(edges[1:, None], places + 1) - numpy.maximum(edges[:-1, None], places), 0, None)


def check_url(url, thumb):
    small = read_url(url)
    rows, columns = overlaps(thumb.shape[0], small.shape[0]), overlaps(thumb.shape[1], small.shape[1])
    alpha = numpy.einsum('ty,ux,yx->tu', rows, columns, thumb[..., 3])
    light = numpy.einsum('ty,ux,yxc->tuc', rows, columns, thumb[..., :3] * thumb[..., 3:])
    colours = light / numpy.maximum(alpha, 1e-9)[..., None]
    assert abs(small[..., :3] - colours).max() <= 0.5 + 1e-6
    assert abs(small[..., 3] - alpha / (rows[0].sum() * columns[0].sum())).max() <= 0.5 + 1e-6
    longer, shorter = max(small.shape[:2]), min(small.shape[:2])
    whole = sorted(thumb.shape[:2])
    assert shorter == max(1, math.floor(whole[0] * longer / whole[1] + 0.5))
    assert longer * shorter >= 30 or longer == whole[1]


def check(page, thumb, **components):
    check_colours(page, thumb)
    check_blurhash(page['blurhash'], thumb, **components)
    check_thumbhash(page['thumbhash'], thumb)
    check_url(page['data_url'], thumb)


# --- pictures ---------------------------------------------------------------------------------
@pytest.mark.parametrize('size', SIZES, ids=str)
@pytest.mark.parametrize('channels,depth', KINDS)
def test_against_the_thumbnail(server, size, channels, depth):
    picture = filtering.sample_picture(*size, channels, depth)
    body = pictures.png(picture, depth=depth)
    page = placeholder(server, body)
    assert (page['width'], page['height']) == size
    check(page, thumbnail(server, body))


def test_small_pictures_are_their_own_thumbnail(server):
    picture = pictures.photograph(100, 71)
    check(placeholder(server, pictures.png(picture)), numpy.dstack([picture, numpy.full((71, 100), 255)]).astype(numpy.int64))


@pytest.mark.parametrize('query', ('', '?colorspace=linear', '?colorspace=rgb', '?backend=cpu'))
@pytest.mark.parametrize('orientation', (1, 6))
def test_jpeg(server, query, orientation):
    body = pictures.with_segments(pictures.jpeg(pictures.photograph(300, 200), 90), pictures.exif_segment(orientation, extras=False))
    page = placeholder(server, body, query)
    assert (page['width'], page['height']) == ((300, 200) if orientation == 1 else (200, 300))
    check(page, thumbnail(server, body, query.replace('?', '&')))
    upright = placeholder(server, body, '?autorotate=false')
    assert (upright['width'], upright['height']) == (300, 200)


@pytest.mark.parametrize('across', (1, 2, 5, 9))
@pytest.mark.parametrize('down', (1, 3, 9))
def test_components(server, across, down):
    body = pictures.png(pictures.photograph(90, 60))
    page = placeholder(server, body, f'?components_x={across}&components_y={down}')
    check(page, thumbnail(server, body), across=across, down=down)


@pytest.mark.parametrize('value', (0, 255))
def test_one_tone(server, value):
    body = pictures.png(numpy.full((300, 200, 3), value))
    page = placeholder(server, body)
    check(page, thumbnail(server, body))
    assert page['dominant'] == page['average'] == '#' + 3 * f'{value:02x}'
    assert read_url(page['data_url']).shape == (27, 18, 4)


def test_transparent(server):
    page = placeholder(server, pictures.png(numpy.zeros((50, 50, 4), int)))
    assert page['dominant'] == page['average'] == '#000000' and not read_url(page['data_url']).any()


def test_form(server):
    body = pictures.small_png()
    answer = server.post('/placeholder', {'components_x': '2'}, files={'image': ('a.png', body)})
    assert answer.json() == placeholder(server, body, '?components_x=2')


# --- backends ---------------------------------------------------------------------------------
BODIES = {
    **{f'{channels} x {depth}': pictures.png(filtering.sample_picture(340, 233, channels, depth), depth=depth) for channels, depth in KINDS},
    'jpeg': pictures.jpeg(pictures.photograph(701, 499), subsampling='420'),
    'long': pictures.png(pictures.photograph(3000, 7)),
}
QUERIES = ('', '?colorspace=linear&components_x=9&components_y=9', '?mode=redact&region=1,1,90,90')


@pytest.fixture(scope='module')
def baseline():
    with daemon.Daemon('--gpus', 'none', '--cpu-level', 'baseline') as own:
        yield {(name, query): placeholder(own, body, query) for name, body in BODIES.items() for query in QUERIES}


@pytest.mark.parametrize('level', ('avx2', 'avx512'))
def test_every_instruction_set_gives_the_same_bytes(baseline, start, level):
    with open('/proc/cpuinfo', encoding='ascii') as info:
        if level not in info.read().replace('avx512bw', 'avx512'):
            pytest.skip(f'this processor has no {level}')
    own = start('--gpus', 'none', '--cpu-level', level)
    for (name, query), page in baseline.items():
        assert placeholder(own, BODIES[name], query) == page, (name, query)


@fake_gpu.needed
def test_the_gpu_gives_the_same_bytes(baseline):
    with daemon.Daemon(*fake_gpu.options(), environment=fake_gpu.settings()) as own:
        fake_gpu.await_state(own, 'serving')
        for (name, query), page in baseline.items():
            answer = ask(own, f'/placeholder{query}', BODIES[name])
            assert answer.headers['X-Backend'] == 'cuda:0' and answer.json() == page, (name, query)


# --- redaction --------------------------------------------------------------------------------
@pytest.mark.parametrize('more', ('', '&colorspace=linear', '&invert=true'))
def test_redaction_comes_first(server, more):
    """Nothing depends on the content of the region but its coarse mean."""
    answers = set()
    for seed in (1, 2):
        picture = pictures.photograph(300, 200).astype(int)
        secret = numpy.random.default_rng(seed).integers(60, 150, (96, 96, 3))
        secret += 104 - numpy.rint(secret.mean((0, 1))).astype(int)
        picture[48:144, 64:160] = secret
        if 'invert' in more:
            picture[...] = 104
            picture[:40] = 94 + 20 * (numpy.arange(300)[:, None] // seed % 2)
        query = f'?mode=redact&{areas.query("64,48,96,96")}{more}'
        answers.add(json.dumps(placeholder(server, pictures.png(picture), query)))
    assert len(answers) == 1


def test_redacting_everything_leaves_one_tone(server):
    page = placeholder(server, pictures.png(pictures.photograph(200, 100)), '?mode=redact')
    assert page['dominant'] == page['average'] and len(numpy.unique(read_url(page['data_url']).reshape(-1, 4), axis=0)) == 1


# --- refusals ---------------------------------------------------------------------------------
@pytest.mark.parametrize('query,parameter', (
    ('components_x=0', 'components_x'), ('components_y=10', 'components_y'), ('components_x=2.5', 'components_x'),
    ('components_x=', 'components_x'), ('components_x=1&components_x=1', 'components_x'), ('quality=3', 'quality'), ('format=png', 'format'),
    ('metadata=keep', 'metadata'), ('feather=3&mode=redact&region=1,1,9,9', 'feather'), ('region=1,1,9,9', 'region'), ('sigma=1', 'sigma'),
    ('ops=blur', 'ops'), ('mode=redact&region=900,900,5,5', 'region')))
def test_wrong_parameters(server, query, parameter):
    check_problem(server.post(f'/placeholder?{query}', pictures.small_png()), 'bad-parameter', parameter)


def test_no_step_of_a_pipeline(server):
    check_problem(server.post('/pipeline?ops=blur|placeholder', pictures.small_png()), 'bad-parameter', 'ops', 'step 2: unknown filter placeholder')


def test_damaged_pictures(server):
    check_problem(server.post('/placeholder', pictures.small_png()[:-20]), 'corrupt-image')
    check_problem(server.post('/placeholder', b'%PDF-1' + bytes(50)), 'unsupported-image')
