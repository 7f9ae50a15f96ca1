# SPDX-License-Identifier: MIT
"""JPEGs that a fake GPU filters in RGB, also in linear light: it makes the pixels that libjpeg makes of the planes, and its planes of them."""

import pytest

import daemon
import fake_gpu
import pictures
from fake_jpeg import BY_GPU, PHOTO, ask, await_places, jpeg_options
from test_gpu_jpeg import SHAPES
from test_orientation import marked

pytestmark = fake_gpu.needed
COLOURED = [shape for shape in SHAPES if shape != 'gray']
# Chroma of one, two and three columns or rows; blocks that the picture fills, and others.
SIZES = ((64, 48), (63, 47), (17, 65), (5, 9), (4, 4), (3, 3), (2, 7), (1, 5), (5, 1), (1, 1))
TARGETS = ('/blur?sigma=2&colorspace=rgb', '/sharpen?amount=2', '/convolve?preset=edge', '/pixelate?block=5', '/median?radius=1',
           '/adjust?saturation=0&colorspace=rgb', '/adjust?grayscale=true&colorspace=rgb', '/resize?width=31&colorspace=rgb',
           '/rotate?angle=90&colorspace=rgb', '/crop?width=21&height=17&colorspace=rgb',
           '/pipeline?ops=blur|sharpen|resize:width=30', '/blur?colorspace=rgb&quality=100', '/blur?colorspace=rgb&huffman=standard',
           '/blur?sigma=2&colorspace=linear', '/sharpen?colorspace=linear', '/resize?width=31&colorspace=linear',
           '/resize?width=40&height=60&fit=contain&background=ff8000&colorspace=linear',
           '/pipeline?ops=blur|pixelate:block=5|rotate&colorspace=linear')
if daemon.SANITIZED:  # the kernels take seconds then
    TARGETS, SIZES = TARGETS[::4], SIZES[1::3]


@pytest.fixture(scope='module')
def gpu():
    with daemon.Daemon(*jpeg_options(), environment=fake_gpu.settings()) as own:
        await_places(own)
        yield own


@pytest.mark.parametrize('shape', COLOURED)
@pytest.mark.parametrize('size', SIZES, ids=str)
@pytest.mark.parametrize('colorspace', ('rgb', 'linear'))
def test_shapes(gpu, cpu, shape, size, colorspace):
    """A blur of nearly nothing shows each sample."""
    body, target = SHAPES[shape](*size), f'/blur?sigma=0.2&colorspace={colorspace}&quality=95'
    assert ask(gpu, body, target) == (BY_GPU, ask(cpu, body, target)[1])


@pytest.mark.parametrize('target', TARGETS)
def test_filters(gpu, cpu, target):
    assert ask(gpu, PHOTO, target) == (BY_GPU, ask(cpu, PHOTO, target)[1])


@pytest.mark.parametrize('shape', COLOURED)
@pytest.mark.parametrize('subsampling', ('420', '422', '444'))
@pytest.mark.parametrize('size', SIZES[:4], ids=str)
@pytest.mark.parametrize('colorspace', ('rgb', 'linear'))
def test_another_subsampling(gpu, cpu, shape, subsampling, size, colorspace):
    body, target = SHAPES[shape](*size), f'/blur?sigma=0.5&colorspace={colorspace}&subsampling={subsampling}'
    assert ask(gpu, body, target) == (BY_GPU, ask(cpu, body, target)[1])


@pytest.mark.parametrize('factors', (0x41, 0x12, 0x14, 0x42))
def test_other_samplings(gpu, cpu, factors):
    """By its factors: another picture, but a file that is decoded. libjpeg repeats samples of some."""
    body = bytearray(pictures.jpeg(pictures.photograph(96, 96), subsampling='420'))
    body[body.index(b'\xff\xc0') + 11] = factors
    answers = [own.post('/blur?sigma=0.3&colorspace=rgb', bytes(body)) for own in (gpu, cpu)]
    assert answers[0].status_code == answers[1].status_code
    assert answers[0].status_code != 200 or answers[0].content == answers[1].content


@pytest.mark.parametrize('query', ('', '&metadata=keep', '&metadata=strip'))
@pytest.mark.parametrize('target', ('/sharpen?sigma=1', '/adjust?grayscale=true&colorspace=rgb'))
def test_metadata(gpu, cpu, target, query):
    body = marked(pictures.photograph(63, 47), 6, subsampling='420')
    assert ask(gpu, body, target + query) == (BY_GPU, ask(cpu, body, target + query)[1])


def test_grey_ones(gpu, cpu):
    body, target = SHAPES['gray'](63, 47), '/blur?sigma=1&colorspace=rgb'
    assert ask(gpu, body, target) == (BY_GPU, ask(cpu, body, target)[1])


@pytest.mark.parametrize('orientation', range(1, 9))
def test_orientation(gpu, cpu, orientation):
    body, target = marked(pictures.photograph(63, 47), orientation, subsampling='420'), '/sharpen'
    assert ask(gpu, body, target) == (BY_GPU, ask(cpu, body, target)[1])


@pytest.mark.parametrize('subsampling', ('420', '422', '444'))
def test_progressive_ones(gpu, cpu, subsampling):
    body = pictures.jpeg(pictures.photograph(63, 47), subsampling=subsampling, progressive=True)
    assert ask(gpu, body, '/sharpen') == (BY_GPU, ask(cpu, body, '/sharpen')[1])


def test_damage(gpu, cpu):
    ours, theirs = (own.post('/sharpen', PHOTO[:-60]) for own in (gpu, cpu))
    assert ours.status_code == theirs.status_code == 400
    assert ours.json()['detail'] == theirs.json()['detail']
