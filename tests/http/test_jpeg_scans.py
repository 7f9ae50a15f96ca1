# SPDX-License-Identifier: MIT
"""JPEGs whose scans have unusual headers or another order: no pixel is lost, and the answers are those of usual files, on each way through the daemon."""

import io

import pytest
from PIL import Image

import daemon
import fake_gpu
import pictures
from fake_jpeg import BY_GPU, ask, await_places, jpeg_options

BANDS = (b'\0\0\0', b'\0\x3f\x01', b'\0\x3f\x10', b'\x05\x02\xff')
TARGETS = ('/blur?sigma=2', '/blur?sigma=1&format=png', '/blur?sigma=2&region=8,8,16,16', '/blur?sigma=2&progressive=true',
           '/rotate?lossless=true', '/pixelate?mode=redact&region=8,8,16,16', '/sharpen', '/resize?scale=0.25&shrink=fast', '/stats')


def with_band(data, band):
    """The JPEG with other coefficients and bits in its scan's header, as phones of Samsung write it."""
    at = data.index(b'\xff\xda')
    end = at + 2 + int.from_bytes(data[at + 2:at + 4], 'big')
    return data[:end - 3] + band + data[end:]


def starts(data):
    """The offsets of the tables before each scan, and of the end marker."""
    at, begin, found = 2, None, []
    while data[at:at + 2] != b'\xff\xd9':
        marker = data[at + 1]
        begin = at if begin is None and marker in (0xC4, 0xDA) else begin
        at += 2 + int.from_bytes(data[at + 2:at + 4], 'big')
        if marker == 0xDA:
            found, begin = found + [begin], None
            while data[at] != 0xFF or data[at + 1] == 0:
                at += 1
    return found + [at]


def dc_last(data):
    """A progressive JPEG whose first scan and the scan of DC's last bit come behind all others."""
    cuts = starts(data)
    scans = [data[a:b] for a, b in zip(cuts, cuts[1:])]

    def is_dc(scan):
        at = scan.index(b'\xff\xda')
        return scan[at + 2 + int.from_bytes(scan[at + 2:at + 4], 'big') - 3] == 0
    assert len(scans) > 4 and is_dc(scans[0])
    return data[:cuts[0]] + b''.join(sorted(scans, key=is_dc)) + data[cuts[-1]:]


@pytest.fixture(scope='module')
def gpu():
    with daemon.Daemon(*jpeg_options(), environment=fake_gpu.settings()) as own:
        await_places(own)
        yield own


def picture(subsampling):
    samples = pictures.photograph(64, 48)
    return pictures.jpeg(samples[..., 0] if subsampling == 'gray' else samples, subsampling='444' if subsampling == 'gray' else subsampling)


@pytest.mark.parametrize('target', TARGETS)
@pytest.mark.parametrize('subsampling', ('420', '444', 'gray'))
def test_bands_of_sequential_files(server, target, subsampling):
    body = picture(subsampling)
    wanted = server.post(target, body).content
    for band in BANDS:
        answer = server.post(target, with_band(body, band))
        assert (answer.status_code, answer.content) == (200, wanted), band


def test_the_pixels_are_those_of_libjpeg(server):
    body = with_band(picture('444'), BANDS[0])
    answer = server.post('/crop?format=png', body).content
    with Image.open(io.BytesIO(body)) as given, Image.open(io.BytesIO(answer)) as got:
        assert given.convert('RGB').tobytes() == got.convert('RGB').tobytes()


@fake_gpu.needed
@pytest.mark.parametrize('target', ('/blur?sigma=2', '/blur?sigma=2&region=8,8,16,16', '/sharpen'))
def test_bands_on_a_gpu(gpu, target):
    body = picture('420')
    wanted = ask(gpu, body, target)
    assert wanted[0] == BY_GPU
    for band in BANDS:
        assert ask(gpu, with_band(body, band), target) == wanted


@pytest.mark.parametrize('target', TARGETS)
def test_another_order_of_scans(server, target):
    body = pictures.jpeg(pictures.photograph(64, 48), subsampling='420', progressive=True)
    wanted = server.post(target, body).content
    answer = server.post(target, dc_last(body))
    assert (answer.status_code, answer.content) == (200, wanted)


@fake_gpu.needed
def test_another_order_beside_a_gpu(gpu):
    """Cores do it."""
    body = pictures.jpeg(pictures.photograph(64, 48), subsampling='420', progressive=True)
    assert ask(gpu, dc_last(body))[1] == ask(gpu, body)[1]
