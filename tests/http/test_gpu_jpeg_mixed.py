# SPDX-License-Identifier: MIT
"""Random pictures and targets: whichever way a fake GPU takes, the answer is the CPU's, and its process lives on.
SEED=n repeats a run; REQUESTS=n makes it longer."""

import io
import os
import random

import pytest
from PIL import Image

import daemon
import fake_gpu
import pictures
from fake_jpeg import await_places, jpeg_options
from test_gpu_jpeg import SHAPES
from test_orientation import marked

pytestmark = fake_gpu.needed
REQUESTS = int(os.environ.get('REQUESTS', 60 if daemon.SANITIZED else 400))
SIZES = ((64, 48), (63, 47), (17, 65), (33, 20), (5, 9), (90, 61), (1, 1), (3, 2))
TARGETS = ('/blur?sigma=0.3', '/blur?sigma=9', '/sharpen?amount=2', '/adjust?sepia=1', '/adjust?duotone=000080,ffff00', '/adjust?grayscale=true',
           '/adjust?negate=true', '/pixelate?block=8', '/pixelate?block=5', '/median?radius=2', '/dilate?radius=1', '/convolve?preset=edge',
           '/resize?width=31', '/resize?width=70&height=70&fit=contain&background=ff8000', '/resize?width=12&shrink=fast',
           '/resize?width=60&height=60&fit=contain&background=blur:3', '/rotate?angle=90', '/crop?width=50%25', '/stats?', '/placeholder?',
           '/pipeline?ops=blur|sharpen|rotate|resize:width=20', '/pipeline?ops=adjust:sepia=1|blur')
QUERIES = ((0.6, 'format', ('png', 'jpeg', 'webp', 'auto')), (0.4, 'colorspace', ('rgb', 'linear', 'native')),
           (0.3, 'subsampling', ('420', '422', '444')), (0.15, 'progressive', ('true',)), (0.3, 'huffman', ('standard', 'optimal')),
           (0.4, 'quality', (1, 40, 91, 100)), (0.12, 'region', ('1,1,5,5',)), (0.08, 'mode', ('redact',)), (0.1, 'autorotate', ('false',)),
           (0.3, 'metadata', ('keep', 'strip')))
FACTORS = (0x11, 0x12, 0x14, 0x21, 0x24, 0x41, 0x42)  # of luma, in a file of 4:2:0


def webp(picture):
    made = io.BytesIO()
    Image.fromarray(picture).save(made, 'WEBP', quality=80)
    return made.getvalue()


def damaged(chance, body):
    at = chance.randrange(len(body))
    return body[:at] + bytes([body[at] ^ 1 << chance.randrange(8)]) + body[at + 1:]


def resampled(factors):
    body = bytearray(pictures.jpeg(pictures.photograph(96, 96), subsampling='420'))
    body[body.index(b'\xff\xc0') + 11] = factors
    return bytes(body)


def make_picture(chance):
    width, height = chance.choice(SIZES)
    sampling, plain = chance.choice(('420', '422', '444')), pictures.photograph(width, height)
    makers = (lambda: SHAPES[chance.choice(list(SHAPES))](width, height),) * 3 + (
        lambda: marked(plain, chance.randrange(1, 9), subsampling=sampling),
        lambda: pictures.png(pictures.photograph(width, height, chance.choice((1, 2, 3, 4)))),
        lambda: pictures.png(plain.astype('uint16') * 257, depth=16),
        lambda: webp(plain),
        lambda: pictures.jpeg(pictures.photograph(width, height, 4)),
        lambda: pictures.jpeg(plain, subsampling=sampling, progressive=True),
        lambda: pictures.jpeg(pictures.photograph(width, height, 1), progressive=True),
        lambda: damaged(chance, pictures.jpeg(plain, subsampling=sampling)),
        lambda: resampled(chance.choice(FACTORS)))
    return chance.choice(makers)()


def make_target(chance):
    target = chance.choice(TARGETS)
    for share, name, values in QUERIES:
        if chance.random() < share and not (name == 'format' and target.endswith('?')):
            target += f'&{name}={chance.choice(values)}'
    return target


@pytest.fixture(scope='module')
def gpu():
    with daemon.Daemon(*jpeg_options(), environment=fake_gpu.settings()) as own:
        await_places(own)
        yield own


def test_random_requests(gpu, cpu):
    seed = int(os.environ.get('SEED', random.randrange(1 << 32)))
    chance, pid = random.Random(seed), fake_gpu.engine(gpu)
    for number in range(REQUESTS):
        body, target = make_picture(chance), make_target(chance)
        ours, theirs = (own.post(target, body) for own in (gpu, cpu))
        where = f'SEED={seed}, request {number}: {target}'
        assert ours.status_code == theirs.status_code, where
        assert theirs.status_code != 200 or ours.content == theirs.content, where
        assert fake_gpu.engine(gpu) == pid, where
    assert gpu.metrics()['blurd_backend_failures_total'] == 0
    whole, part = gpu.pictures('gpu-file', 'gpu-scans', 'gpu-coefficients'), gpu.pictures('gpu-decode', 'gpu-encode')
    assert min(whole, part) > 0, f'SEED={seed}'
