# SPDX-License-Identifier: MIT
"""Gain maps of answers, as other programs see them: libultrahdr, by imagecodecs, and libvips decode what is sent and what is answered to
linear HDR, and an answer has to be what numpy makes of the HDR picture that was sent.

Differences are in stops, of light with 1/64 of white added, as a map's offsets are. Both pictures are encoded anew at quality 98, and a
decoder stretches the map over the base before and after by its own rule: libultrahdr weights four samples by their distance. After a crop
that begins between two samples these lie at other places. So 1/8 of a stop is allowed on the mean, a quarter of what is just seen as a
step; where something is filtered, more."""

import io
import os
import subprocess
import sys

import numpy
import pytest

import daemon
import gainmaps
import pictures
from test_hdr_kept import blurred, kept

FOLDER = daemon.ROOT / 'build/hdr/python'
MOVED = 1 / 8
FILTERED = 1 / 3

pytestmark = pytest.mark.skipif(not FOLDER.is_dir() and os.environ.get('CI') != 'true', reason='no decoders: config/pypi.sh hdr')

BASE, GAIN = gainmaps.photograph()
COLOURED = gainmaps.photograph(channels=3)[1]
HEIGHT, WIDTH = BASE.shape[:2]
FILES = {'xmp': gainmaps.ultra_hdr(BASE, GAIN, form='xmp', quality=98),
         'iso': gainmaps.ultra_hdr(BASE, COLOURED, gainmaps.PER_CHANNEL, 'iso', quality=98)}


@pytest.fixture(params=('imagecodecs', 'libvips'))
def decode(request):
    def run(data):
        done = subprocess.run([sys.executable, daemon.ROOT / 'tests/hdr/decode.py', request.param], input=data, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return numpy.load(io.BytesIO(done.stdout)).astype(float)
    return run


def stops(samples):
    return numpy.log2(numpy.maximum(samples, 0) + 1 / 64)


def difference(a, b):
    assert a.shape == b.shape, (a.shape, b.shape)
    return numpy.abs(stops(a) - stops(b)).mean()


def halved(hdr):
    return hdr.reshape(HEIGHT // 2, 2, WIDTH // 2, 2, 3).mean((1, 3))


@pytest.mark.parametrize('form', FILES)
@pytest.mark.parametrize('query, expected', [
    ('/blur?sigma=0.1', lambda hdr: hdr),
    ('/crop?x=40&y=20&width=160&height=120', lambda hdr: hdr[20:140, 40:200]),
    ('/crop?x=41&y=22&width=163&height=117', lambda hdr: hdr[22:139, 41:204]),
    ('/rotate?angle=90', lambda hdr: hdr.transpose(1, 0, 2)[:, ::-1]),
    ('/rotate?flip=both', lambda hdr: hdr[::-1, ::-1]),
    ('/resize?width=160&kernel=area', halved),
    ('/pipeline?ops=crop:x=41:y=22:width=163:height=117|rotate:angle=270', lambda hdr: hdr[22:139, 41:204].transpose(1, 0, 2)[::-1]),
])
def test_places(server, decode, form, query, expected):
    answer = server.post(query + '&quality=98', FILES[form])
    assert kept(answer)
    before, after = decode(FILES[form]), decode(answer.content)
    assert after.max() > 2, 'brighter than white'
    assert difference(after, expected(before)) < MOVED


def test_apple_map(server, decode):
    """Neither of the decoders knows Apple's maps; the answer is Ultra HDR."""
    headroom = 2 ** gainmaps.apple_stops(1.5, 2)
    answer = server.post('/blur?sigma=0.1&quality=98', gainmaps.apple(BASE, GAIN, {33: (3, 2), 48: (2, 1)}, quality=98))
    assert difference(decode(answer.content), gainmaps.apple_render(BASE, GAIN, headroom)) < MOVED


@pytest.mark.parametrize('form', FILES)
@pytest.mark.parametrize('query', ('/blur?sigma=12', '/blur?sigma=12&colorspace=linear'))
def test_blur(server, decode, form, query):
    """The base is blurred as it is coded or in linear light, the map in stops: a mean of products is another one than the product of means,
    and a mean of stops is below that of light. That makes up to 0.30 of a stop here, where the blur itself changes about one."""
    before, after = decode(FILES[form]), decode(server.post(query + '&quality=98', FILES[form]).content)
    expected = blurred(before, 12)
    assert difference(after, expected) < FILTERED < difference(before, expected)


@pytest.mark.parametrize('form', FILES)
def test_region(server, decode, form):
    """Beyond a tile of the region's border all is as it was, brighter than white too."""
    box = (64, 64, 128, 96)
    answer = server.post(f'/pixelate?block=16&region={",".join(map(str, box))}&quality=98', FILES[form])
    before, after = decode(FILES[form]), decode(answer.content)
    inside = numpy.zeros((HEIGHT, WIDTH), bool)
    inside[box[1] - 16:box[1] + box[3] + 16, box[0] - 16:box[0] + box[2] + 16] = True
    changed = numpy.abs(stops(after) - stops(before)).mean(2)
    assert changed[~inside].mean() < MOVED / 4
    tiles = after[box[1] + 16:box[1] + box[3] - 16, box[0] + 16:box[0] + box[2] - 16].reshape(4, 16, 6, 16, 3)
    assert changed[inside].mean() > 4 * changed[~inside].mean() and stops(tiles)[:, 4:12, :, 4:12].std((1, 3)).max() < 0.1
