# SPDX-License-Identifier: MIT
"""lossless=true on /crop and /rotate: the blocks of a JPEG are moved without a new encoding."""

import io

import numpy
import pytest
from PIL import Image

import anatomy
import pictures
from filtering import ask
from problems import check_problem
from test_rotate import TURNS, turned

WIDTH, HEIGHT = 96, 64
PICTURE = pictures.photograph(WIDTH, HEIGHT)


def planes(data):
    """Y, Cb and Cr in the size of the picture, without rounding to RGB."""
    with Image.open(io.BytesIO(data)) as picture:
        picture.draft('YCbCr', picture.size)
        return numpy.asarray(picture).astype(int)


def tables(data):
    with Image.open(io.BytesIO(data)) as picture:
        return picture.quantization


@pytest.mark.parametrize('angle', TURNS)
@pytest.mark.parametrize('flip', ('none', 'horizontal', 'vertical'))
@pytest.mark.parametrize('subsampling', ('444', '420'))
def test_turns(server, angle, flip, subsampling):
    body = pictures.jpeg(PICTURE, 80, subsampling)
    answer = ask(server, f'/rotate?angle={angle}&flip={flip}&lossless=true', body)
    assert answer.headers['Content-Type'] == 'image/jpeg'
    wanted, got = turned(planes(body), angle, flip), planes(answer.content)
    assert abs(got - wanted)[:, :, 0].max() <= 1
    assert abs(got - wanted).max() <= (1 if subsampling == '444' else 2)


def test_there_and_back(server):
    body = pictures.jpeg(PICTURE, 80, '422')
    data = body
    for _ in range(4):
        data = ask(server, '/rotate?lossless=true', data).content
        assert anatomy.frame(data)[1:3] in ((WIDTH, HEIGHT), (HEIGHT, WIDTH))
    assert (anatomy.pixels(data) == anatomy.pixels(body)).all() and tables(data) == tables(body)


@pytest.mark.parametrize('box', ((0, 0, 96, 64), (16, 32, 45, 31), (80, 48, 1, 1)))
def test_crops(server, box):
    x, y, width, height = box
    body = pictures.jpeg(PICTURE, 80, '420')
    answer = ask(server, f'/crop?x={x}&y={y}&width={width}&height={height}&lossless=true', body)
    wanted, got = planes(body)[y:y + height, x:x + width], planes(answer.content)
    assert got.shape == wanted.shape and (got[:, :, 0] == wanted[:, :, 0]).all()
    assert tables(answer.content) == tables(body)


def test_steps_together(server):
    body = pictures.jpeg(PICTURE, 80, '444')
    target = '/pipeline?lossless=true&ops=crop:x=8:width=80|rotate|rotate:flip=horizontal|crop:x=8:y=16'
    wanted = turned(planes(body)[:, 8:88], '90', 'horizontal')[16:, 8:]
    assert abs(planes(ask(server, target, body).content) - wanted).max() <= 1


@pytest.mark.parametrize('orientation', range(1, 9))
def test_orientation(server, orientation):
    """EXIF's orientation and the angle are undone together."""
    stored = pictures.jpeg(pictures.stored_as(PICTURE, orientation), 90, '444', icc_profile=pictures.icc())
    body = pictures.with_segments(stored, pictures.exif_segment(orientation))
    answer = ask(server, '/rotate?angle=180&lossless=true&metadata=keep', body).content
    with Image.open(io.BytesIO(answer)) as picture:
        assert picture.getexif().get(0x0112, 1) == 1 and picture.size == (WIDTH, HEIGHT)
    assert abs(anatomy.pixels(answer).astype(int) - PICTURE[::-1, ::-1]).mean() < 8
    assert anatomy.icc_of(answer) == anatomy.icc_of(body)
    assert anatomy.exif_of(ask(server, '/rotate?angle=180&lossless=true', body).content) is None


@pytest.mark.parametrize('given', (False, True))
def test_progressive(server, given):
    body = pictures.jpeg(PICTURE, 80, '420', progressive=given)
    data = ask(server, f'/rotate?angle=180&lossless=true&progressive={not given}', body).content
    with Image.open(io.BytesIO(data)) as picture:
        assert bool(picture.info.get('progressive')) != given


def test_grey(server):
    body = pictures.jpeg(PICTURE[:, :, 0], 80)
    data = ask(server, '/rotate?lossless=true', body).content
    assert abs(anatomy.pixels(data).astype(int) - turned(anatomy.pixels(body), '90')).max() <= 1


ODD = pictures.jpeg(pictures.photograph(61, 43), 80, '420')


@pytest.mark.parametrize('target,body,says', (
    ('/rotate?', ODD, 'the bottom edge of the part lies at 43 of the file\'s 61 x 43 pixels'),
    ('/rotate?flip=horizontal', ODD, 'it must be a multiple of 16'),
    ('/crop?x=8', ODD, 'the left edge of the part lies at 8'),
    ('/rotate?format=jpeg', pictures.small_png(), 'only a JPEG has blocks'),
    ('/rotate?quality=80', ODD, 'quality and subsampling need a new encoding'),
    ('/rotate?subsampling=444', ODD, 'quality and subsampling need a new encoding'),
    ('/crop?mode=redact&region=1,1,5,5', ODD, 'regions need a new encoding'),
    ('/pipeline?ops=crop|blur', ODD, 'only crop and rotate keep the blocks'),
))
def test_refusals(server, target, body, says):
    check_problem(server.post(f'{target}&lossless=true', body), 'bad-parameter', 'lossless', says)


def test_what_an_error_names_works(server):
    for target in ('/pipeline?ops=crop:width=48:height=32|rotate', '/crop?x=16&width=45', '/rotate?angle=0'):
        ask(server, f'{target}&lossless=true', ODD)


def test_other_answers(server):
    """Other formats are lossless by themselves; other filters have no use for it."""
    ask(server, '/rotate?lossless=true&format=png', ODD)
    ask(server, '/blur?lossless=true', ODD)


def test_damage(server):
    body = pictures.jpeg(PICTURE, 80, '420')
    check_problem(server.post('/rotate?lossless=true', body[:len(body) // 2]), 'corrupt-image')
