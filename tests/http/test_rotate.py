# SPDX-License-Identifier: MIT
"""/rotate: turns and mirror images of every kind of picture."""

import math

import numpy
import pytest

import anatomy
import daemon
import fake_jpeg
import filtering
import pictures
from filtering import ask, ask_png
from problems import check_problem

WIDTH, HEIGHT = 61, 43
PICTURE = pictures.photograph(WIDTH, HEIGHT)
PNG = pictures.png(PICTURE)

TURNS = {'0': 0, '90': 1, '180': 2, '270': 3}
FLIPS = {'none': lambda p: p, 'horizontal': lambda p: p[:, ::-1], 'vertical': lambda p: p[::-1], 'both': lambda p: p[::-1, ::-1]}


def turned(picture, angle, flip='none'):
    return FLIPS[flip](numpy.rot90(picture, -TURNS[angle]))


@pytest.mark.parametrize('angle', TURNS)
@pytest.mark.parametrize('flip', FLIPS)
def test_turns(server, angle, flip):
    assert (ask_png(server, f'/rotate?angle={angle}&flip={flip}', PNG) == turned(PICTURE, angle, flip)).all()


def test_defaults(server):
    assert (ask_png(server, '/rotate', PNG) == turned(PICTURE, '90')).all()
    assert (ask_png(server, '/rotate?flip=vertical', PNG) == PICTURE[::-1]).all()
    assert (ask_png(server, '/rotate?angle=auto&flip=none', PNG) == turned(PICTURE, '90')).all()


@pytest.mark.parametrize('channels', (1, 2, 3, 4))
@pytest.mark.parametrize('depth', (8, 16))
def test_every_kind_of_sample(server, channels, depth):
    picture = filtering.sample_picture(37, 29, channels, depth)
    for angle in TURNS:
        result = ask_png(server, f'/rotate?angle={angle}', pictures.png(picture, depth=depth), depth)
        assert (result == turned(picture, angle)).all()


@pytest.mark.parametrize('subsampling', ('420', '422', '444'))
@pytest.mark.parametrize('size', ((64, 48), (61, 43)), ids=('even', 'odd'))
@pytest.mark.parametrize('angle', TURNS)
def test_jpegs(server, subsampling, size, angle):
    picture = pictures.photograph(*size)
    body = pictures.jpeg(picture, 97, subsampling)
    answer = ask(server, f'/rotate?angle={angle}&quality=97', body)
    assert anatomy.subsampling(answer.content) == anatomy.subsampling(body)
    wanted = turned(anatomy.pixels(body), angle)
    result = anatomy.pixels(answer.content)
    assert result.shape == wanted.shape
    assert math.sqrt(((result.astype(int) - wanted) ** 2).mean()) < 8


@pytest.mark.parametrize('orientation', range(1, 9))
def test_upright_first(server, orientation):
    body = pictures.with_segments(pictures.jpeg(pictures.stored_as(PICTURE, orientation), 97),
                                  pictures.exif_segment(orientation))
    result = ask_png(server, '/rotate?angle=270&flip=horizontal&format=png', body)
    assert abs(result.astype(int) - turned(PICTURE, '270', 'horizontal')).mean() < 3


@pytest.mark.parametrize('query,parameter,says', (
    ('angle=45', 'angle', 'angle is 45, it must be auto, 0, 90, 180 or 270'),
    ('angle=-90', 'angle', 'it must be auto, 0, 90, 180 or 270'),
    ('flip=yes', 'flip', 'it must be none, horizontal, vertical or both'),
    ('region=1,1,5,5', 'region', 'region: rotate acts on the whole picture'),
))
def test_refusals(server, query, parameter, says):
    check_problem(server.post(f'/rotate?{query}', PNG), 'bad-parameter', parameter, says)


def test_redaction_comes_first(server):
    region = 'region=20,10,16,16'
    redacted = ask_png(server, f'/rotate?angle=0&mode=redact&{region}', PNG)
    assert (redacted != PICTURE).any()
    assert (ask_png(server, f'/rotate?mode=redact&{region}', PNG) == turned(redacted, '90')).all()


@fake_jpeg.fake_gpu.needed
def test_on_a_gpu():
    """The same bytes, from JPEG to JPEG by its codecs, too."""
    even = pictures.jpeg(pictures.photograph(64, 48), 90, '420')
    targets = ('/rotate?', '/rotate?angle=180', '/crop?x=4&y=6&width=31', '/pipeline?ops=crop:x=2|rotate|blur:sigma=3')
    with daemon.Daemon(*fake_jpeg.jpeg_options(), environment=fake_jpeg.fake_gpu.settings()) as own:
        fake_jpeg.await_places(own)
        for body in (PNG, pictures.jpeg(PICTURE, 90, '420'), even):
            for target in targets:
                device = ask(own, target, body)
                assert device.headers['X-Backend'] in (('cuda:0/jpeg',) if body == even else ('cuda:0', 'cuda:0/jpeg'))
                assert device.content == ask(own, target + '&backend=cpu', body).content
