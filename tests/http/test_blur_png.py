# SPDX-License-Identifier: MIT
"""PNG in, PNG out: both formats are lossless, so that the pixels must be the Gaussian's."""

import os
import pathlib

import numpy
import pytest
from PIL import Image

import anatomy
import daemon
import gaussian
import pictures

SIGMAS = (0.5, 1.5, 3, 8, 20, 100, 300)
CORPUS = pathlib.Path(os.environ.get('CORPUS') or daemon.ROOT.parent / 'shared/corpus')
PHOTOS = sorted((CORPUS / 'photos').glob('*.png'))
TOLERANCE = 1 + 1e-6  # the result is whole: within 1 of the real value


def blurred(server, body, query):
    answer = server.post(f'/blur?{query}&png_reduce=false', body)
    assert answer.status_code == 200, answer.text
    assert answer.headers['Content-Type'] == 'image/png'
    return answer.content


def check(result, wanted, mean=None):
    error = numpy.abs(result - wanted)
    assert result.shape == wanted.shape
    assert error.max() <= TOLERANCE, f'largest error {error.max():.3f} at {numpy.unravel_index(error.argmax(), error.shape)}'
    assert mean is None or error.mean() <= mean, f'mean error {error.mean():.4f}'


@pytest.mark.parametrize('sigma', (0.1, 1, *SIGMAS, 500))
def test_photograph(server, sigma):
    picture = pictures.photograph(641, 427)
    result = anatomy.pixels(blurred(server, pictures.png(picture), f'sigma={sigma}'))
    check(result, gaussian.blur(picture, sigma), mean=0.26)


@pytest.mark.skipif(not PHOTOS, reason='../shared/corpus/photos is absent')
@pytest.mark.parametrize('path', PHOTOS, ids=[path.stem for path in PHOTOS])
def test_real_photograph(server, path):
    with Image.open(path) as photo:
        picture = numpy.asarray(photo.crop((0, 0, min(photo.width, 480), min(photo.height, 360))))
    picture = picture if picture.ndim == 3 else picture[:, :, None]
    for sigma in SIGMAS:
        result = anatomy.pixels(blurred(server, pictures.png(picture), f'sigma={sigma}'))
        if picture.shape[2] == 4:
            check_alpha(result, picture, sigma)
        else:
            check(result, gaussian.blur(picture, sigma), mean=0.26)


@pytest.mark.parametrize('kind', ('impulses', 'steps', 'stripes', 'noise'))
@pytest.mark.parametrize('sigma', SIGMAS)
def test_hard_pictures(server, kind, sigma):
    picture = numpy.zeros((150, 203, 1), numpy.uint8)
    if kind == 'impulses':
        picture[::37, ::41] = 255
    elif kind == 'steps':
        picture[60:, 80:] = 255
    elif kind == 'stripes':
        picture[:, ::2] = 255
    else:
        picture = pictures.noise(203, 150, 1)
    result = anatomy.pixels(blurred(server, pictures.png(picture), f'sigma={sigma}'))
    check(result, gaussian.blur(picture, sigma))


@pytest.mark.parametrize('size', ((1, 1), (1, 50), (50, 1), (2, 3), (7, 5), (17, 33)))
@pytest.mark.parametrize('sigma', (0.5, 3, 20, 500))
def test_small_pictures(server, size, sigma):
    picture = pictures.noise(*size)
    result = anatomy.pixels(blurred(server, pictures.png(picture), f'sigma={sigma}'))
    check(result, gaussian.blur(picture, sigma))


def test_sigma_is_1_5_without_parameters(server):
    picture = pictures.photograph(60, 50)
    answer = server.post('/blur', pictures.png(picture))
    check(anatomy.pixels(answer.content), gaussian.blur(picture, 1.5))


# --- channels and depths ------------------------------------------------------------------
@pytest.mark.parametrize('depth', (1, 2, 4, 8))
@pytest.mark.parametrize('interlaced', (False, True), ids=('plain', 'interlaced'))
def test_gray(server, depth, interlaced):
    samples = pictures.photograph(61, 43, 1) >> (8 - depth)
    body = blurred(server, pictures.png(samples, depth=depth, interlaced=interlaced), 'sigma=2')
    assert anatomy.png_header(body)[2:] == (8, pictures.GRAY)
    check(anatomy.pixels(body), gaussian.blur(samples.astype(float) * 255 / (2 ** depth - 1), 2))


@pytest.mark.parametrize('depth', (1, 2, 4, 8))
@pytest.mark.parametrize('interlaced', (False, True), ids=('plain', 'interlaced'))
def test_palette(server, depth, interlaced):
    palette = pictures.noise(2 ** depth, 1)[0]
    places = pictures.photograph(61, 43, 1) >> (8 - depth)
    body = pictures.png(places, pictures.PALETTE, depth, interlaced, palette)
    result = blurred(server, body, 'sigma=2')
    assert anatomy.png_header(result)[2:] == (8, pictures.RGB)
    check(anatomy.pixels(result), gaussian.blur(palette[places[:, :, 0]], 2))


def check_alpha(result, picture, sigma, top=255):
    """Alpha is within 1, and so is the visible colour: the colour times its alpha."""
    colours, alpha = gaussian.blur_alpha(picture, sigma, top)
    result = result.astype(float)
    check(result[..., -1:], alpha)
    seen = result[..., :-1] * result[..., -1:] / top
    assert numpy.abs(seen - colours).max() <= 1.6  # the colour's rounding and alpha's
    solid = alpha[..., 0] >= top / 2
    if solid.any():
        wanted = (colours * top / numpy.maximum(alpha, 1e-9))[solid]
        assert numpy.abs(result[..., :-1][solid] - wanted).max() <= 2


@pytest.mark.parametrize('channels', (2, 4), ids=('gray+alpha', 'RGBA'))
@pytest.mark.parametrize('sigma', (0.5, 3, 20, 100))
def test_alpha(server, channels, sigma):
    picture = pictures.photograph(120, 90, channels, seed=5)
    body = blurred(server, pictures.png(picture), f'sigma={sigma}')
    assert anatomy.png_header(body)[3] == (pictures.GRAY_ALPHA if channels == 2 else pictures.RGBA)
    check_alpha(anatomy.pixels(body), picture, sigma)


@pytest.mark.parametrize('sigma', (1.5, 8, 40))
def test_no_halo(server, sigma):
    result = anatomy.pixels(blurred(server, pictures.png(pictures.halves(64, 20)), f'sigma={sigma}'))
    seen = result[result[..., 3] > 0]
    assert (seen[:, 0] >= 254).all() and (seen[:, 1:3] <= 1).all(), 'the invisible green shows'


def test_palette_with_transparency(server):
    palette = numpy.array([(255, 0, 0), (0, 255, 0), (0, 0, 255), (9, 9, 9)])
    alpha = numpy.array([255, 0, 128, 255])
    places = pictures.noise(40, 30, 1) % 4
    body = pictures.png(places, pictures.PALETTE, 2, palette=palette, before=[('tRNS', bytes([255, 0, 128]))])
    result = blurred(server, body, 'sigma=2')
    assert anatomy.png_header(result)[3] == pictures.RGBA
    expanded = numpy.dstack([palette[places[..., 0]], alpha[places[..., 0]]])
    check_alpha(anatomy.pixels(result), expanded, 2)


def test_transparent_colour(server):
    picture = pictures.halves(40, 30)[..., :3].copy()
    body = pictures.png(picture, before=[('tRNS', bytes([0, 0, 0, 255, 0, 0]))])
    result = blurred(server, body, 'sigma=3')
    assert anatomy.png_header(result)[3] == pictures.RGBA
    check_alpha(anatomy.pixels(result), pictures.halves(40, 30), 3)


@pytest.mark.parametrize('kind, depth, size', [(3, 2, 0), (3, 2, 4), (3, 2, 9), (3, 8, 257), (2, 8, 5), (2, 8, 7), (0, 8, 1), (0, 8, 3), (4, 8, 2), (6, 8, 6)])
@pytest.mark.parametrize('interlaced', (False, True))
def test_transparency_of_a_wrong_size_is_ignored(server, kind, depth, size, interlaced):
    """As libpng does. The palette has three colours."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind]
    samples = pictures.noise(40, 30, channels)
    samples = samples % 3 if kind == pictures.PALETTE else samples
    palette = numpy.array([(255, 0, 0), (0, 255, 0), (0, 0, 255)]) if kind == pictures.PALETTE else None
    with_it, without = (blurred(server, pictures.png(samples, kind, depth, interlaced, palette, before), 'sigma=2')
                        for before in ([('tRNS', bytes(size))], []))
    assert with_it == without


def test_damaged_transparency_is_ignored(server):
    body = pictures.png(pictures.photograph(40, 30), before=[('tRNS', bytes([0, 0, 0, 255, 0, 0]))])
    at = body.index(b'tRNS') + 5
    damaged = body[:at] + bytes([body[at] ^ 1]) + body[at + 1:]
    assert blurred(server, damaged, 'sigma=2') == blurred(server, pictures.png(pictures.photograph(40, 30)), 'sigma=2')


@pytest.mark.parametrize('channels', (1, 2, 3, 4))
@pytest.mark.parametrize('sigma', (0.5, 3, 30))
def test_16_bits_stay_16_bits(server, channels, sigma):
    random = numpy.random.default_rng(channels)
    picture = random.integers(0, 65536, (47, 61, channels))
    body = blurred(server, pictures.png(picture, depth=16), f'sigma={sigma}')
    assert anatomy.png_header(body)[2] == 16
    result = anatomy.read_png(body).astype(float)
    if channels in (1, 3):
        error = numpy.abs(result - gaussian.blur(picture, sigma))
        assert error.max() <= 257, 'not within 1 of 255'
        assert error.mean() <= 0.26 * 257
        return
    colours, alpha = gaussian.blur_alpha(picture, sigma, 65535)
    assert numpy.abs(result[..., -1:] - alpha).max() <= 257
    assert numpy.abs(result[..., :-1] * result[..., -1:] / 65535 - colours).max() <= 1.6 * 257


def test_16_bits_are_not_8_bits_shifted(server):
    body = blurred(server, pictures.png(numpy.full((20, 20, 1), 0x1234), depth=16), 'sigma=2')
    assert numpy.abs(anatomy.read_png(body).astype(int) - 0x1234).max() <= 2


# --- the other parameters of the blur -----------------------------------------------------
@pytest.mark.parametrize('sigma,size', ((1.5, 7), (1, 3), (2, 9), (0.8, 5), (5, 21), (30, 99)))
def test_kernel_size_is_the_tutorial_kernel(server, sigma, size):
    picture = pictures.photograph(130, 110)
    result = anatomy.pixels(blurred(server, pictures.png(picture), f'sigma={sigma}&kernel_size={size}'))
    assert numpy.abs(result.astype(int) - gaussian.tutorial(picture, size, sigma)).max() <= 1
    check(result, gaussian.blur(picture, sigma, radius=size // 2))


@pytest.mark.parametrize('edge', ('clamp', 'mirror', 'wrap', 'zero'))
@pytest.mark.parametrize('sigma', (0.7, 3, 12, 60))
def test_edges(server, edge, sigma):
    picture = pictures.photograph(97, 64)
    result = anatomy.pixels(blurred(server, pictures.png(picture), f'sigma={sigma}&edge={edge}'))
    check(result, gaussian.blur(picture, sigma, edge))


@pytest.mark.parametrize('edge', ('clamp', 'mirror', 'wrap', 'zero'))
def test_edges_with_kernel_size(server, edge):
    picture = pictures.photograph(33, 21)
    result = anatomy.pixels(blurred(server, pictures.png(picture), f'sigma=9&kernel_size=41&edge={edge}'))
    check(result, gaussian.blur(picture, 9, edge, radius=20))


@pytest.mark.parametrize('effort', range(10))
def test_effort_changes_no_pixel(server, effort):
    body = pictures.png(pictures.photograph(90, 70))
    result = blurred(server, body, f'sigma=2&effort={effort}')
    assert (anatomy.pixels(result) == anatomy.pixels(blurred(server, body, 'sigma=2'))).all()


def test_more_effort_is_smaller(server):
    body = pictures.png(pictures.photograph(300, 200))
    assert len(blurred(server, body, 'sigma=2&effort=9')) < len(blurred(server, body, 'sigma=2&effort=0'))


@pytest.mark.parametrize('level, flag', (('baseline', ''), ('avx2', 'avx2'), ('avx512', 'avx512bw'), ('neon', 'asimd')))
def test_every_instruction_set_gives_the_same_bytes(server, start, level, flag):
    with open('/proc/cpuinfo', encoding='ascii') as info:
        if flag not in info.read():
            pytest.skip(f'this processor has no {level}')
    other = start('--cpu-level', level)
    for query in ('sigma=1.5', 'sigma=30', 'sigma=7&edge=wrap'):
        for channels, depth in ((3, 8), (4, 8), (1, 16)):
            samples = pictures.photograph(143, 77, channels).astype(int) * (1 if depth == 8 else 257)
            body = pictures.png(samples, depth=depth)
            assert blurred(other, body, query) == blurred(server, body, query)
