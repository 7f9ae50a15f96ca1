# SPDX-License-Identifier: MIT
"""A fake GPU decodes JPEGs whose answers a core writes, and encodes the JPEGs of pictures that a core has read."""

import io

import pytest
from PIL import Image

import daemon
import fake_gpu
import pictures
from fake_gpu import await_state
from fake_jpeg import PHOTO, ask, await_places, jpeg_options, launch_jpeg
from test_gpu_jpeg import SHAPES
from test_orientation import marked

pytestmark = fake_gpu.needed
SIZES = ((64, 48), (63, 47), (17, 65))
if daemon.SANITIZED:  # the kernels take seconds then
    SIZES = SIZES[1:]
PARTIAL = ('gpu-decode', 'gpu-encode')


def webp(picture, **more):
    made = io.BytesIO()
    Image.fromarray(picture).save(made, 'WEBP', **more)
    return made.getvalue()


@pytest.fixture(scope='module')
def gpu():
    with daemon.Daemon(*jpeg_options(), environment=fake_gpu.settings()) as own:
        await_places(own)
        yield own


def check(gpu, cpu, body, target, jobs=1):
    """The bytes are the CPU's, and the GPU only decoded or only encoded for so many of them."""
    before = gpu.pictures(*PARTIAL)
    name, result = ask(gpu, body, target)
    assert result == ask(cpu, body, target)[1]
    assert gpu.pictures(*PARTIAL) - before == jobs, name
    assert name == 'cuda:0' or not jobs


# --- decoding only -------------------------------------------------------------------------------
@pytest.mark.parametrize('shape', SHAPES)
@pytest.mark.parametrize('size', SIZES, ids=str)
def test_decoded(gpu, cpu, shape, size):
    check(gpu, cpu, SHAPES[shape](*size), '/blur?sigma=0.3&format=png')


@pytest.mark.parametrize('size', ((3, 2), (1, 1)), ids=str)
def test_tiny_ones(gpu, cpu, size):
    """A file may be larger than the memory for pixels, which is where it goes. Then the CPU does it."""
    for body in (SHAPES['420'](*size), pictures.png(pictures.photograph(*size))):
        for target in ('/blur?format=png', '/blur?format=jpeg&colorspace=rgb'):
            assert ask(gpu, body, target)[1] == ask(cpu, body, target)[1]


@pytest.mark.parametrize('target', ('/blur?sigma=2&format=webp', '/sharpen?format=png', '/resize?width=31&format=png', '/blur?sigma=2&progressive=true',
                                    '/sharpen?progressive=true', '/adjust?grayscale=true&format=png', '/pipeline?ops=blur|rotate|crop:width=9&format=png',
                                    '/stats', '/placeholder'))
def test_other_answers(gpu, cpu, target):
    check(gpu, cpu, PHOTO, target)


@pytest.mark.parametrize('query', ('sepia=1', 'duotone=000080,ffff00', 'grayscale=true', 'gamma=2'))
@pytest.mark.parametrize('more', ('&format=png', '', '&format=webp', '&progressive=true', '&format=png&subsampling=444'))
def test_grey_ones_get_colours(gpu, cpu, query, more):
    """No request is one that the engine refuses as a whole, since that would end it."""
    body, pid, target = SHAPES['gray'](63, 47), fake_gpu.engine(gpu), f'/adjust?{query}{more}'
    assert ask(gpu, body, target)[1] == ask(cpu, body, target)[1]
    assert fake_gpu.engine(gpu) == pid and gpu.metrics()['blurd_backend_failures_total'] == 0


@pytest.mark.parametrize('orientation', range(1, 9))
def test_decoded_and_turned(gpu, cpu, orientation):
    check(gpu, cpu, marked(pictures.photograph(63, 47), orientation, subsampling='420'), '/blur?sigma=1&format=png&metadata=keep')


def test_damaged_ones_go_to_the_cpu(gpu, cpu):
    ours, theirs = (own.post('/blur?format=png', PHOTO[:-60]) for own in (gpu, cpu))
    assert ours.status_code == theirs.status_code == 400
    assert ours.json()['detail'] == theirs.json()['detail']


# --- encoding only -------------------------------------------------------------------------------
@pytest.mark.parametrize('channels', (1, 3))
@pytest.mark.parametrize('size', SIZES, ids=str)
@pytest.mark.parametrize('query', ('', '&subsampling=444', '&subsampling=422&huffman=standard', '&quality=100'))
def test_encoded(gpu, cpu, channels, size, query):
    check(gpu, cpu, pictures.png(pictures.photograph(*size, channels)), '/blur?sigma=0.3&format=jpeg' + query)


@pytest.mark.parametrize('target', ('/sharpen', '/adjust?grayscale=true', '/adjust?sepia=1', '/resize?width=31', '/pipeline?ops=blur|rotate|crop:width=9'))
@pytest.mark.parametrize('channels', (1, 3))
def test_encoded_filters(gpu, cpu, target, channels):
    check(gpu, cpu, pictures.png(pictures.photograph(50, 40, channels)), target + ('&' if '?' in target else '?') + 'format=jpeg')


def test_other_sources(gpu, cpu):
    check(gpu, cpu, webp(pictures.photograph(50, 40), quality=90), '/blur?format=jpeg')
    check(gpu, cpu, pictures.jpeg(pictures.photograph(40, 32, 4)), '/blur')  # CMYK


# --- neither ---------------------------------------------------------------------------------------
@pytest.mark.parametrize('target', ('/blur?format=png&colorspace=linear', '/blur?format=png&region=8,8,16,16', '/blur?format=png&mode=redact&region=8,8,16,16',
                                    '/blur?format=png&backend=cpu', '/resize?width=8&shrink=fast&format=png'))
def test_not_decoded(gpu, cpu, target):
    check(gpu, cpu, PHOTO, target, 0)


@pytest.mark.parametrize('name, make', {'alpha': lambda: pictures.png(pictures.photograph(40, 30, 4)),
                                        '16 bits': lambda: pictures.png(pictures.photograph(40, 30).astype('uint16') * 257, depth=16)}.items())
def test_not_encoded(gpu, cpu, name, make):
    check(gpu, cpu, make(), '/blur?format=jpeg', 0)


def test_option(start, cpu):
    own = fake_gpu.launch(start, *jpeg_options('--jpeg-codec', 'cpu'))
    assert ask(own, PHOTO, '/blur?format=png') == ('cuda:0', ask(cpu, PHOTO, '/blur?format=png')[1])
    assert own.pictures(*PARTIAL) == 0


# --- a device that fails ---------------------------------------------------------------------------
@pytest.mark.parametrize('fault', ('cuLaunchKernel:1:2', 'cuLaunchKernel:1:719:sticky', 'cuMemcpyHtoDAsync:1:719:sticky'))
def test_a_device_that_fails(start, cpu, tmp_path, fault):
    """The worker has its memory back, and does all of it."""
    path = tmp_path / 'fault'
    own = launch_jpeg(start, '--gpu-pictures', 1, wanted=1, FAULT_FILE=path)
    for body, target in ((PHOTO, '/blur?sigma=2&format=png'), (pictures.png(pictures.photograph(64, 48)), '/blur?sigma=2&format=jpeg')):
        path.write_text(fault)
        assert ask(own, body, target)[1] == ask(cpu, body, target)[1]
        assert not path.exists(), 'nothing failed'
        await_state(own, 'serving')
        await_places(own, 1)
        check(own, cpu, body, target)
