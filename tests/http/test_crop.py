# SPDX-License-Identifier: MIT
"""/crop, and pipelines with it: places in every unit, formats, regions, refusals."""

import math

import numpy
import pytest

import anatomy
import filtering
import pictures
from filtering import ask, ask_png
from problems import check_problem

WIDTH, HEIGHT = 61, 43
PICTURE = pictures.photograph(WIDTH, HEIGHT)
PNG = pictures.png(PICTURE)


def part(picture, left, top, wide, high):
    return picture[top:top + high, left:left + wide]


@pytest.mark.parametrize('query,box', (
    ('', (0, 0, 61, 43)),
    ('x=10&y=20', (10, 20, 51, 23)),
    ('x=10&y=20&width=30&height=7', (10, 20, 30, 7)),
    ('x=60&y=42', (60, 42, 1, 1)),
    ('width=61&height=43', (0, 0, 61, 43)),
    ('x=50%25&width=50%25', (31, 0, 30, 43)),  # 30.5 rounds up
    ('width=50%25', (0, 0, 31, 43)),
    ('x=10.4&width=10.2', (10, 0, 11, 43)),
    ('x=0.1&width=0.2', (0, 0, 1, 43)),
    ('unit=percent&x=10&y=10&width=80&height=80', (6, 4, 49, 35)),
    ('unit=ratio&x=0.1&y=0.1&width=0.8&height=0.8', (6, 4, 49, 35)),
    ('unit=ratio&x=33.3%25&width=66.7%25', (20, 0, 41, 43)),
    ('aspect=1:1', (9, 0, 43, 43)),
    ('aspect=1/1&gravity=west', (0, 0, 43, 43)),
    ('aspect=16:9&gravity=southeast', (0, 9, 61, 34)),
    ('aspect=16:9&gravity=0.5,1', (0, 9, 61, 34)),
    ('aspect=1000000:1', (0, 21, 61, 1)),
    ('width=10&height=20&gravity=center', (25, 11, 10, 20)),
    ('width=10&gravity=east', (51, 0, 10, 43)),
))
def test_places(server, query, box):
    assert (ask_png(server, f'/crop?{query}', PNG) == part(PICTURE, *box)).all()


@pytest.mark.parametrize('channels', (1, 2, 3, 4))
@pytest.mark.parametrize('depth', (8, 16))
def test_every_kind_of_sample(server, channels, depth):
    picture = filtering.sample_picture(37, 29, channels, depth)
    result = ask_png(server, '/crop?x=5&y=7&width=11&height=13', pictures.png(picture, depth=depth), depth)
    assert (result == part(picture, 5, 7, 11, 13)).all()


@pytest.mark.parametrize('subsampling', ('420', '422', '444'))
@pytest.mark.parametrize('left,top', ((8, 16), (5, 3)))
def test_jpegs(server, subsampling, left, top):
    body = pictures.jpeg(PICTURE, 97, subsampling)
    answer = ask(server, f'/crop?x={left}&y={top}&width=31&height=21&quality=97', body)
    assert anatomy.frame(answer.content)[1:3] == (31, 21)
    assert anatomy.subsampling(answer.content) == anatomy.subsampling(body)
    difference = anatomy.pixels(answer.content).astype(int) - part(anatomy.pixels(body), left, top, 31, 21)
    assert math.sqrt((difference ** 2).mean()) < 8


@pytest.mark.parametrize('query,parameter,says', (
    ('x=61', 'x', 'x is 61 pixels, which is not within the picture of 61 x 43 pixels'),
    ('x=100%25', 'x', 'not within the picture of 61 x 43 pixels'),
    ('x=40&width=22', 'width', 'x + width is 62 pixels'),
    ('y=1&height=43', 'height', 'y + height is 44 pixels'),
    ('width=62&gravity=center', 'width', 'width is 62 pixels'),
    ('width=0', 'width', 'width is 0, it must be a number above 0 to 1000000'),
    ('x=-1', 'x', 'x is -1, it must be a number from 0'),
    ('x=1px', 'x', 'x is 1px'),
    ('x=', 'x', 'x is empty'),
    ('x=101%25', 'x', 'x is 101%'),
    ('width=101&unit=percent', 'width', 'width is 101, but with unit=percent it must be at most 100'),
    ('x=1.5&unit=ratio', 'x', 'with unit=ratio it must be at most 1'),
    ('unit=em', 'unit', 'it must be px, percent or ratio'),
    ('aspect=16', 'aspect', 'it must be two numbers'),
    ('aspect=0:1', 'aspect', 'it must be two numbers'),
    ('aspect=1:1&width=5', 'aspect', 'aspect and width cannot be given together'),
    ('aspect=1:1&y=5', 'y', 'y and aspect cannot be given together'),
    ('width=5&x=5&gravity=north', 'x', 'x and gravity cannot be given together'),
    ('gravity=north', 'gravity', 'gravity needs aspect, width or height'),
    ('aspect=1:1&gravity=up', 'gravity', 'gravity is up'),
    ('region=1,1,5,5', 'region', 'region: crop acts on the whole picture'),
    ('region=1,1,5,5&mode=redact&feather=2', 'feather', 'feather: crop acts on the whole picture'),
))
def test_refusals(server, query, parameter, says):
    check_problem(server.post(f'/crop?{query}', PNG), 'bad-parameter', parameter, says)


def test_redaction_comes_first(server):
    """Two pictures that differ only in the region; the region means the picture as it came."""
    region, secret = (20, 10, 16, 16), PICTURE.copy()
    part(secret, *region)[:] = 255 - part(secret, *region)
    for picture in (PICTURE, secret):
        redacted = ask_png(server, f'/pixelate?block=1&mode=redact&region=20,10,16,16', pictures.png(picture))
        cropped = ask_png(server, f'/crop?x=15&y=5&mode=redact&region=20,10,16,16', pictures.png(picture))
        inside = part(cropped, 5, 5, 16, 16)
        assert (inside == inside[0, 0]).all()
        outside = part(redacted, 15, 5, 46, 38).copy()
        part(outside, 5, 5, 16, 16)[:] = inside[0, 0]
        assert (cropped == outside).all()


def test_the_unit_is_that_of_regions_too(server):
    query = 'x=50&unit=percent&mode=redact&region=60,0,20,50'
    in_percent = ask(server, f'/crop?{query}', PNG).content
    assert in_percent == ask(server, '/crop?x=50%25&mode=redact&region=60%25,0,20%25,50%25', PNG).content
    assert in_percent != ask(server, '/crop?x=50%25', PNG).content


@pytest.mark.parametrize('mode', ('', '&mode=redact'))
def test_regions_limit_the_steps_before(server, mode):
    region = 'region=10,10,20,20'
    whole = ask_png(server, f'/blur?sigma=3&{region}{mode}', PNG)
    cut = ask_png(server, f'/pipeline?ops=blur:sigma=3|crop:x=12:y=7:width=31&{region}{mode}', PNG)
    assert (cut == part(whole, 12, 7, 31, 36)).all()


def test_redaction_and_steps_behind(server):
    """Steps behind a crop act on the whole picture."""
    region = 'region=10,10,20,20'
    cropped = ask(server, f'/crop?x=5&mode=redact&{region}', PNG).content
    both = ask_png(server, f'/pipeline?ops=crop:x=5|blur:sigma=2&mode=redact&{region}', PNG)
    assert (both == ask_png(server, '/blur?sigma=2', cropped)).all()


@pytest.mark.parametrize('ops,parameter,says', (
    ('crop|blur', 'region', 'crop acts on the whole picture'),
    ('blur|crop|sharpen', 'region', 'sharpen cannot follow crop'),
    ('rotate', 'region', 'rotate acts on the whole picture'),
))
def test_regions_that_cannot_apply(server, ops, parameter, says):
    check_problem(server.post(f'/pipeline?ops={ops}&region=1,1,5,5', PNG), 'bad-parameter', parameter, says)


@pytest.mark.parametrize('ops,says', (
    ('blur|crop:x=61', 'ops: step 2: x is 61 pixels, which is not within the picture of 61 x 43 pixels'),
    ('crop:x=30|crop:x=31', 'ops: step 2: x is 31 pixels, which is not within the picture of 31 x 43 pixels'),
    ('rotate|crop:width=44', 'ops: step 2: x + width is 44 pixels, which is not within the picture of 43 x 61 pixels'),
    ('crop:width=0', 'ops: step 1: width is 0'),
))
def test_errors_of_steps(server, ops, says):
    check_problem(server.post(f'/pipeline?ops={ops}', PNG), 'bad-parameter', 'ops', says)


def test_chains(server):
    blurred = ask_png(server, '/blur?sigma=2', pictures.png(part(PICTURE, 4, 4, 50, 30)))
    target = '/pipeline?ops=crop:x=4:y=4:width=50:height=30|blur:sigma=2|rotate|crop:aspect=1/1'
    turned = numpy.rot90(blurred, -1)
    assert (ask_png(server, target, PNG) == turned[10:40]).all()


def test_linear_light(server):
    """Cropping copies; blurring in linear light under a mask keeps what the region leaves."""
    deep = filtering.sample_picture(WIDTH, HEIGHT, 3, 16)
    body = pictures.png(deep, depth=16)
    region = 'region=10,10,20,20'
    cut = ask_png(server, f'/pipeline?ops=blur:sigma=2|crop:x=3:y=5&colorspace=linear&{region}', body, 16).astype(int)
    whole = ask_png(server, f'/blur?sigma=2&colorspace=linear&{region}', body, 16)
    assert abs(cut - whole[5:, 3:]).max() <= 24  # a step of linear light in the darkest shades


def test_orientation(server):
    """Places are those of the upright picture."""
    for orientation in range(1, 9):
        body = pictures.with_segments(pictures.jpeg(pictures.stored_as(PICTURE, orientation), 97),
                                      pictures.exif_segment(orientation))
        result = ask_png(server, '/crop?x=9&y=3&width=21&height=33&format=png', body)
        assert abs(result.astype(int) - part(PICTURE, 9, 3, 21, 33)).mean() < 3
