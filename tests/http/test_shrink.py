# SPDX-License-Identifier: MIT
"""shrink=fast: JPEGs decoded at a part of their size stay near those that are decoded whole."""

import io

import numpy
import pytest
from PIL import Image

import daemon
import fake_jpeg
import pictures
from filtering import ask
from problems import check_problem

FORMS = ('gray', '444', '422', '420', 'progressive', 'cmyk')
STEPS_MAX = 12  # docs/api/resize.md


def coded(form, width, height):
    pixels = pictures.photograph(width, height)
    if form == 'cmyk':
        out = io.BytesIO()
        Image.fromarray(pixels.astype(numpy.uint8)).convert('CMYK').save(out, 'jpeg', quality=92)
        return out.getvalue()
    if form == 'gray':
        return pictures.jpeg(pixels[..., :1])
    return pictures.jpeg(pixels, subsampling='420', progressive=True) if form == 'progressive' else \
        pictures.jpeg(pixels, subsampling=form)


def samples(server, query, body):
    answer = ask(server, f'/resize?format=png&{query}', body)
    return numpy.asarray(Image.open(io.BytesIO(answer.content)).convert('RGB'), dtype=numpy.int64)


def luma(pixels):
    return pixels @ numpy.array([0.299, 0.587, 0.114])


@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize('width,height', ((640, 480), (479, 331), (643, 17)))
def test_near_the_definition(server, form, width, height):
    body = coded(form, width, height)
    for scale in (0.25, 0.1, 0.04):
        for query in (f'scale={scale}', f'scale={scale}&kernel=area'):
            exact, fast = samples(server, query, body), samples(server, query + '&shrink=fast', body)
            assert exact.shape == fast.shape
            off = numpy.abs(luma(exact) - luma(fast))
            most = STEPS_MAX + 8 * ('area' in query)  # its frequencies end less sharply
            assert off.max() <= most and off.mean() <= 1.5, (query, off.max(), off.mean())


@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize('width,height', ((1, 97), (97, 1), (9, 9), (17, 33), (1, 1)))
def test_awkward_sizes(server, form, width, height):
    body = coded(form, width, height)
    for scale in (0.2, 0.05, 0.001):
        exact = samples(server, f'scale={scale}', body)
        fast = samples(server, f'scale={scale}&shrink=fast', body)
        assert exact.shape == fast.shape
        assert numpy.abs(exact - fast).max() <= 40


@pytest.mark.parametrize('form', FORMS)
def test_jpeg_to_jpeg(server, form):
    body = coded(form, 643, 479)
    for query in ('width=100', 'width=64&height=64&fit=cover&gravity=0.2,0.9', 'width=90&height=90&fit=contain&background=blur:3'):
        exact, fast = (Image.open(io.BytesIO(ask(server, f'/resize?{query}{more}&quality=95', body).content))
                       for more in ('', '&shrink=fast'))
        assert (exact.size, exact.mode, exact.layer) == (fast.size, fast.mode, fast.layer)
        off = numpy.abs(numpy.asarray(exact.convert('L'), int) - numpy.asarray(fast.convert('L'), int))
        assert off.max() <= STEPS_MAX + 8


@pytest.mark.parametrize('orientation', range(1, 9))
def test_turned_pictures(server, orientation):
    for width, height in ((640, 480), (637, 479)):
        body = pictures.with_segments(coded('420', width, height), pictures.exif_segment(orientation))
        exact, fast = samples(server, 'scale=0.1', body), samples(server, 'scale=0.1&shrink=fast', body)
        assert exact.shape == fast.shape
        assert numpy.abs(luma(exact) - luma(fast)).max() <= STEPS_MAX


def test_a_white_edge_does_not_move(server):
    """The middle of an edge is at the same place, to a small part of a pixel."""
    pixels = numpy.zeros((240, 320, 3), numpy.int64)
    pixels[:, 160:] = 200
    body = pictures.jpeg(pixels, quality=95)
    sums = [samples(server, f'width=40&kernel=area{more}', body).mean() for more in ('', '&shrink=fast')]
    assert abs(sums[0] - sums[1]) < 0.5


def test_where_it_has_no_effect(server):
    """Other formats, kernels without means, linear light, redaction, and steps before the resize."""
    jpeg = coded('420', 320, 240)
    png = pictures.png(pictures.photograph(320, 240))
    for query, body in (('width=40', png), ('width=200', jpeg), ('width=40&kernel=nearest', jpeg),
                        ('width=40&colorspace=linear', jpeg), ('width=40&mode=redact', jpeg),
                        ('width=40&mode=redact&region=10,10,50,50', jpeg)):
        assert ask(server, f'/resize?{query}', body).content == ask(server, f'/resize?{query}&shrink=fast', body).content
    first, second = (ask(server, f'/pipeline?ops=crop:width=300:height=200|resize:width=40:shrink={how}', jpeg).content
                     for how in ('exact', 'fast'))
    assert first == second


def test_first_step_of_a_pipeline(server):
    body = coded('420', 640, 480)
    alone = ask(server, '/resize?width=80&shrink=fast', body).content
    assert ask(server, '/pipeline?ops=resize:width=80:shrink=fast', body).content == alone
    assert ask(server, '/pipeline?ops=resize:width=80', body).content != alone


@fake_jpeg.fake_gpu.needed
def test_on_a_gpu():
    """The CPU decodes a reduced JPEG, as a GPU's decoder does not; a GPU resizes it to the same bytes."""
    body = coded('420', 640, 480)
    targets = ('/resize?width=80&shrink=fast', '/resize?width=31&kernel=area&shrink=fast',
               '/pipeline?ops=resize:width=90:shrink=fast|adjust:negate=1')
    with daemon.Daemon(*fake_jpeg.jpeg_options(), environment=fake_jpeg.fake_gpu.settings()) as own:
        fake_jpeg.await_places(own)
        for target in targets:
            device = ask(own, target, body)
            assert device.headers['X-Backend'] == 'cuda:0'
            assert device.content == ask(own, target + '&backend=cpu', body).content
        whole = ask(own, '/resize?width=400&shrink=fast', body)  # not reduced
        assert whole.headers['X-Backend'] == 'cuda:0/jpeg'


def test_refusal(server):
    answer = server.post('/resize?width=40&shrink=maybe', coded('420', 64, 64))
    check_problem(answer, 'bad-parameter', 'shrink', 'it must be exact or fast')
