# SPDX-License-Identifier: MIT
"""Adjustments of colour against their definitions in float64, PNG in and PNG out; what becomes of the number of
channels; and every refusal."""

import io

import numpy
import pytest
from PIL import Image

import anatomy
import filtering
import pictures
from filtering import ask, ask_png

LUMA = numpy.array([0.299, 0.587, 0.114])
SEPIA = numpy.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
KINDS = [(channels, depth) for depth in (8, 16) for channels in (1, 2, 3, 4)]
QUERIES = (
    {}, {'brightness': 0}, {'brightness': 1.6}, {'contrast': 2}, {'contrast': 0.25, 'brightness': 1.5}, {'saturation': 0}, {'saturation': 3},
    {'gamma': 2.2}, {'gamma': 0.4, 'contrast': 1.2}, {'grayscale': 'true'}, {'grayscale': 'True', 'gamma': 1.5, 'negate': 1}, {'sepia': 1},
    {'sepia': 0.4, 'saturation': 2}, {'duotone': '2b1055,ffd26f'}, {'duotone': 'f00,#00f', 'contrast': 0.5}, {'negate': 'true'},
    {'negate': 1, 'saturation': 0.5, 'grayscale': 1, 'sepia': 1, 'duotone': '123456,fed', 'gamma': 3, 'brightness': 0.9, 'contrast': 1.1},
)


def colour_of(text):
    digits = text.lstrip('#')
    digits = ''.join(2 * digit for digit in digits) if len(digits) == 3 else digits
    return numpy.array([int(digits[i:i + 2], 16) for i in (0, 2, 4)]) / 255


def is_on(how, name):
    return str(how.get(name, 'false')).lower() in ('true', '1')


def define(colours, how):
    """Colours from 0 to 1, in the last axis three of them."""
    value = colours ** (1 / how.get('gamma', 1)) * how.get('brightness', 1)
    value = (value - 0.5) * how.get('contrast', 1) + 0.5
    grey = (value @ LUMA)[..., None]
    value = grey + how.get('saturation', 1) * (value - grey)
    if is_on(how, 'grayscale'):
        value = numpy.repeat((value @ LUMA)[..., None], 3, -1)
    value = value + how.get('sepia', 0) * (value @ SEPIA.T - value)
    if 'duotone' in how:
        shadow, highlight = map(colour_of, how['duotone'].split(','))
        value = shadow + (highlight - shadow) * (value @ LUMA)[..., None]
    return 1 - value if is_on(how, 'negate') else value


def adjust(picture, how, top):
    alpha = filtering.has_alpha(picture)
    colours = (picture[..., :-1] if alpha else picture) / top
    toned = how.get('sepia', 0) > 0 or 'duotone' in how
    grey = not toned and (colours.shape[2] == 1 or is_on(how, 'grayscale'))
    value = top * define(numpy.repeat(colours, 3, 2) if colours.shape[2] == 1 else colours, how)
    value = (value @ LUMA)[..., None] if grey else value
    value = numpy.clip(value, 0, top)
    return numpy.concatenate([value, picture[..., -1:]], 2) if alpha else value


def query_of(how):
    return '/adjust?' + '&'.join(f'{name}={value}' for name, value in how.items()).replace('#', '%23')


@pytest.mark.parametrize('channels,depth', KINDS)
@pytest.mark.parametrize('how', QUERIES, ids=query_of)
def test_definitions(server, how, channels, depth):
    picture = filtering.sample_picture(67, 41, channels, depth)
    top = 2 ** depth - 1
    result = ask_png(server, query_of(how), pictures.png(picture, depth=depth), depth)
    wanted = adjust(picture, how, top)
    assert result.shape == wanted.shape
    assert numpy.abs(result - wanted).max() < (0.51 if depth == 8 else 3)


def test_nothing_is_changed_without_arguments(server):
    for channels, depth in KINDS:
        picture = filtering.sample_picture(31, 9, channels, depth)
        assert (ask_png(server, '/adjust', pictures.png(picture, depth=depth), depth) == picture).all()


# --- channels -------------------------------------------------------------------------------
@pytest.mark.parametrize('subsampling', ('420', '422', '444'))
def test_grey_of_a_jpeg_has_one_channel_with_its_luma(server, subsampling):
    body = pictures.jpeg(pictures.photograph(83, 61), subsampling=subsampling)
    answer = ask(server, '/adjust?grayscale=true&quality=100', body)
    picture = Image.open(io.BytesIO(answer.content))
    assert (picture.format, picture.mode, picture.size) == ('JPEG', 'L', (83, 61))
    with Image.open(io.BytesIO(body)) as luma:
        luma.draft('L', luma.size)
        assert numpy.abs(numpy.array(luma).astype(int) - numpy.array(picture)).max() <= 2


def test_grey_of_other_formats(server):
    body = pictures.jpeg(pictures.photograph(40, 30))
    assert ask_png(server, '/adjust?grayscale=true&format=png', body).shape == (30, 40, 1)
    body = pictures.png(pictures.photograph(40, 30, 4))
    assert ask_png(server, '/adjust?grayscale=true', body).shape == (30, 40, 2)
    picture = Image.open(io.BytesIO(ask(server, '/adjust?grayscale=true&format=jpeg', body).content))
    assert picture.mode == 'L'


def test_tones_of_a_grey_jpeg_are_coloured(server):
    body = pictures.jpeg(pictures.photograph(40, 30, 1))
    picture = Image.open(io.BytesIO(ask(server, '/adjust?sepia=1', body).content))
    assert picture.mode == 'RGB'
    red, _, blue = numpy.array(picture).astype(int).transpose(2, 0, 1)
    assert (red - blue).mean() > 20
    assert Image.open(io.BytesIO(ask(server, '/adjust?gamma=2', body).content)).mode == 'L'


def test_a_profile_of_colours_is_not_left_beside_grey(server):
    profile = pictures.icc()
    body = pictures.jpeg(pictures.photograph(40, 30), icc_profile=profile)
    assert anatomy.icc_of(ask(server, '/adjust?gamma=2', body).content) == profile
    assert anatomy.icc_of(ask(server, '/adjust?grayscale=true', body).content)[16:20] == b'GRAY'


@pytest.mark.parametrize('channels', (1, 2, 3, 4))
@pytest.mark.parametrize('query', ('grayscale=true', 'sepia=1', 'duotone=f00,00f'))
def test_regions_keep_the_kind_of_picture(server, channels, query):
    picture = filtering.sample_picture(60, 40, channels)
    result = ask_png(server, f'/adjust?{query}&region=10,5,30,20', pictures.png(picture))
    inside = numpy.zeros(picture.shape[:2], bool)
    inside[5:25, 10:40] = True
    assert result.shape == picture.shape and (result[~inside] == picture[~inside]).all()
    name, value = query.split('=')
    colours = picture[..., :-1] if filtering.has_alpha(picture) else picture
    count = colours.shape[2]
    wanted = 255 * define(numpy.repeat(colours, 4 - count, 2)[..., :3] / 255, {name: 1 if name == 'sepia' else value})
    wanted = (wanted @ LUMA)[..., None] if count == 1 else wanted
    assert numpy.abs(result[..., :count] - numpy.clip(wanted, 0, 255))[inside].max() < 0.51


def test_regions_of_a_jpeg(server):
    body = pictures.jpeg(pictures.photograph(96, 64), subsampling='420')
    before, after = anatomy.pixels(body), anatomy.pixels(ask(server, '/adjust?grayscale=1&region=32,16,32,32', body).content)
    assert before.shape == after.shape
    assert (numpy.ptp(after[20:44, 36:60].astype(int), -1) <= 3).all() and numpy.ptp(after[:, :16].astype(int), -1).max() > 20


def test_pipelines(server):
    picture = filtering.sample_picture(50, 30, 3)
    one = ask_png(server, '/adjust?grayscale=true', pictures.png(picture))
    two = ask_png(server, '/pixelate?block=3', pictures.png(one))
    assert (ask_png(server, '/pipeline?ops=adjust:grayscale=1|pixelate:block=3', pictures.png(picture)) == two).all()
    tones = ask_png(server, '/adjust?duotone=102030,fff', pictures.png(two))
    steps = '/pipeline?ops=adjust:grayscale=1|pixelate:block=3|adjust:duotone=102030,fff'
    assert (ask_png(server, steps, pictures.png(picture)) == tones).all()


def test_linear_light(server):
    """In linear light half the brightness is half the light."""
    picture = filtering.sample_picture(50, 30, 3)
    result = ask_png(server, '/adjust?brightness=0.5&colorspace=linear', pictures.png(picture))
    wanted = filtering.from_linear(filtering.to_linear(picture, 255) * 0.5, 255)
    assert numpy.abs(result - wanted).max() <= 1
    assert ask_png(server, '/adjust?grayscale=1&colorspace=linear', pictures.png(picture)).shape == (30, 50, 1)


# --- refusals -------------------------------------------------------------------------------
REFUSED = {
    'brightness': ('-0.1', '10.1', 'nan', '', 'bright', '50%'), 'contrast': ('-1', '11', '1,5'), 'saturation': ('-1', '100', 'inf'),
    'gamma': ('0', '0.19', '5.1', '-2'), 'grayscale': ('yes', '2', ''), 'negate': ('no', '-1'), 'sepia': ('-0.01', '1.01', 'true'),
    'duotone': ('', '000', '000,', ',fff', '000,fff,000', '0000,fff', 'red,blue', '%23%23000,fff', '000000,fffffg', '+00,fff', ' 00,fff', '0x0,fff'),
}


@pytest.mark.parametrize('name,value', [(name, value) for name, values in REFUSED.items() for value in values])
def test_refusals(server, name, value):
    answer = server.post(f'/adjust?{name}={value.replace(" ", "%20")}', pictures.small_png())
    assert answer.status_code == 400 and answer.json()['parameter'] == name
    assert answer.json()['detail'].startswith(f'{name} is ')


def test_the_server_alone_keeps_models(server):
    for query in ('keep_model=true', 'block=3', 'mode=redact'):
        assert server.post(f'/adjust?{query}', pictures.small_png()).status_code == 400
    answer = server.post('/pipeline?ops=adjust:keep_model=1', pictures.small_png())
    assert answer.status_code == 400 and 'adjust takes brightness' in answer.json()['detail']
