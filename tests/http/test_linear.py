# SPDX-License-Identifier: MIT
"""colorspace=linear against float64: decoded by the sRGB curve, filtered, encoded again."""

import numpy
import pytest

import anatomy
import areas
import filtering
import gaussian
import pictures
from filtering import ask, ask_png

KINDS = [(channels, depth) for depth in (8, 16) for channels in (1, 2, 3, 4)]
of_every_kind = pytest.mark.parametrize('channels,depth', KINDS, ids=lambda value: str(value))
LINEAR = '&colorspace=linear'
WIDTH, HEIGHT = 97, 71


def light_of(picture, top):
    """Linear light in 0 .. 1, and alpha as it is; (premultiplied light, alpha or None)."""
    samples = picture.astype(numpy.float64)
    if not filtering.has_alpha(picture):
        return filtering.to_linear(samples, top), None
    alpha = samples[..., -1:] / top
    return filtering.to_linear(samples[..., :-1], top) * alpha, alpha


def check_light(result, light, alpha, top):
    """Within 1 of 255 of the encoded light, or, where the curve is steep, within the error of 16 bits of
    light and of a blur that is off by 26 of 65535."""
    result = result.astype(numpy.float64)
    if alpha is not None:
        assert numpy.abs(result[..., -1:] - alpha * top).max() <= top / 255
        seen = alpha[..., 0] > 0.25
        light = filtering.over(light, alpha)[seen]
        result = result[..., :-1][seen]
    doubt = (27 if alpha is None else 108) / 65535
    step = top / 255
    low, high = filtering.from_linear(light - doubt, top) - step, filtering.from_linear(light + doubt, top) + step
    assert (result >= low).all() and (result <= high).all()
    assert numpy.abs(result - filtering.from_linear(light, top)).mean() <= 0.3 * step


@of_every_kind
@pytest.mark.parametrize('sigma', (0.5, 1.5, 6, 40))
def test_blur(server, sigma, channels, depth):
    top = 2 ** depth - 1
    picture = filtering.sample_picture(WIDTH, HEIGHT, channels, depth)
    result = ask_png(server, f'/blur?sigma={sigma}{LINEAR}', pictures.png(picture, depth=depth), depth)
    light, alpha = light_of(picture, top)
    check_light(result, gaussian.blur(light, sigma), None if alpha is None else gaussian.blur(alpha, sigma), top)


@pytest.mark.parametrize('edge', ('mirror', 'wrap', 'zero'))
def test_edges(server, edge):
    picture = filtering.sample_picture(WIDTH, HEIGHT, 3)
    result = ask_png(server, f'/blur?sigma=5&edge={edge}{LINEAR}', pictures.png(picture))
    check_light(result, gaussian.blur(light_of(picture, 255)[0], 5, edge), None, 255)


def test_bright_colours_keep_their_light(server):
    """Half black, half white is 188, not 128."""
    picture = numpy.zeros((64, 64, 3), int)
    picture[:, ::2] = 255
    assert (ask_png(server, '/blur?sigma=10&edge=wrap', pictures.png(picture)) == 128).all()
    assert (ask_png(server, f'/blur?sigma=10&edge=wrap{LINEAR}', pictures.png(picture)) == 188).all()


@pytest.mark.parametrize('block', (4, 9, 100))
def test_pixelate(server, block):
    for channels, depth in ((1, 8), (3, 8), (3, 16)):
        top = 2 ** depth - 1
        picture = filtering.sample_picture(WIDTH, HEIGHT, channels, depth)
        result = ask_png(server, f'/pixelate?block={block}{LINEAR}', pictures.png(picture, depth=depth), depth)
        light = light_of(picture, top)[0]
        mean = filtering.tile_sums(light, block) / filtering.tile_sums(numpy.ones_like(light), block)
        check_light(result, mean, None, top)


@pytest.mark.parametrize('depth', (8, 16))
def test_convolve_and_sharpen(server, depth):
    top = 2 ** depth - 1
    picture = filtering.sample_picture(WIDTH, HEIGHT, 3, depth)
    light = light_of(picture, top)[0]
    matrix = numpy.array([[0, -1, 0], [-1, 6, -1], [0, -1, 0]], float)
    body = pictures.png(picture, depth=depth)
    result = ask_png(server, f'/convolve?kernel={filtering.as_rows(matrix)}{LINEAR}', body, depth)
    check_light(result, filtering.convolve(light, matrix).value, None, top)
    result = ask_png(server, f'/sharpen?sigma=2&amount=0.7{LINEAR}', body, depth)
    check_light(result, light + 0.7 * (light - gaussian.blur(light, 2)), None, top)


def test_pipeline_stays_in_linear_light(server):
    picture = filtering.sample_picture(WIDTH, HEIGHT, 3)
    result = ask_png(server, f'/pipeline?ops=blur:sigma=3|convolve:kernel=2:divisor=4{LINEAR}', pictures.png(picture))
    check_light(result, gaussian.blur(light_of(picture, 255)[0], 3) / 2, None, 255)


# --- unfiltered pictures --------------------------------------------------------------------
REGION = 'ellipse:20.3,10.2,50,40.4'


@of_every_kind
@pytest.mark.parametrize('soft', ('', '&feather=3'))
def test_the_rest_stays(server, channels, depth, soft):
    """Also at 16 bits, of which linear light cannot tell all apart."""
    picture = filtering.sample_picture(WIDTH, HEIGHT, channels, depth)
    body = pictures.png(picture, depth=depth)
    result = ask_png(server, f'/blur?sigma=4{LINEAR}&{areas.query(REGION)}{soft}', body, depth)
    outside = ~areas.mask(REGION if not soft else 'ellipse:10.3,0.2,70,60.4', WIDTH, HEIGHT)
    assert (result[outside] == picture[outside]).all()
    if not soft:
        everywhere = ask_png(server, f'/blur?sigma=4{LINEAR}', body, depth)
        assert (result[~outside] == everywhere[~outside]).all()


def test_8_bits_come_back(server):
    """Every tone, there and back."""
    tones = numpy.arange(256).reshape(16, 16, 1)
    result = ask_png(server, f'/convolve?kernel=1{LINEAR}', pictures.png(tones))
    assert (result == tones).all()


def test_16_bits_come_back_within_6(server):
    tones = numpy.arange(65536).reshape(256, 256, 1)
    result = ask_png(server, f'/convolve?kernel=1{LINEAR}', pictures.png(tones, depth=16), 16)
    assert numpy.abs(result - tones).max() <= 6


def test_transparent_colours_do_not_bleed(server):
    result = ask_png(server, f'/blur?sigma=6{LINEAR}', pictures.png(pictures.halves(64, 20)))
    seen = result[result[..., 3] > 0]
    assert (seen[:, 0] >= 254).all() and (seen[:, 1:3] <= 1).all()


# --- formats -----------------------------------------------------------------------------------
@pytest.mark.parametrize('subsampling', ('420', '444', 'gray'))
def test_jpeg(server, subsampling):
    picture = pictures.photograph(WIDTH, HEIGHT, 1 if subsampling == 'gray' else 3)
    body = pictures.jpeg(picture, 95, **({} if subsampling == 'gray' else {'subsampling': subsampling}))
    decoded = ask_png(server, '/pixelate?block=1&format=png', body)
    wanted = gaussian.blur(light_of(decoded, 255)[0], 3)
    check_light(ask_png(server, f'/blur?sigma=3&format=png{LINEAR}', body), wanted, None, 255)
    answer = ask(server, f'/blur?sigma=3&quality=97{LINEAR}', body).content
    assert gaussian.psnr(anatomy.pixels(answer), filtering.from_linear(wanted, 255)) >= 36
    assert anatomy.subsampling(answer) == subsampling


@pytest.mark.parametrize('orientation', (3, 6))
def test_orientation(server, orientation):
    upright = pictures.photograph(WIDTH, HEIGHT)
    body = pictures.png(pictures.stored_as(upright, orientation), before=[('eXIf', pictures.exif(orientation))])
    query = f'/blur?sigma=2{LINEAR}&{areas.query(REGION)}'
    assert (ask_png(server, query, body) == ask_png(server, query, pictures.png(upright))).all()


def test_stats_of_linear_light(server):
    """Linear light is counted in 16 bits."""
    picture = filtering.sample_picture(WIDTH, HEIGHT, 4)
    linear = numpy.concatenate([numpy.floor(filtering.to_linear(picture[..., :-1], 255) * 65535 + 0.5), picture[..., -1:] * 257], 2)
    page = ask(server, f'/stats?{LINEAR[1:]}', pictures.png(picture)).json()
    filtering.check_stats(page, linear.astype(int), 16)
