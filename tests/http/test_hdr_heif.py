# SPDX-License-Identifier: MIT
"""Gain maps of HEIC and AVIF files, which become those of the JPEG that is answered: a `tmap` with the numbers of ISO 21496-1, or Apple's
auxiliary picture. The files are put together around pictures that other programs code."""

import struct

import numpy
import pytest

import anatomy
import gainmaps
import heif
from test_hdr_kept import close, decoded, kept

BASE, GAIN = gainmaps.photograph(320, 256)  # HEVC codes whole blocks
HEIGHT, WIDTH = BASE.shape[:2]
KINDS = ('avif', 'heic')
FILE = 0.2  # stops on the mean that coding takes: heif-enc reduces colour, and the noise of these pictures is coloured
SHARP = {'avif': ('--min', '0', '--max', '10', '-y', '444'), 'heic': ('-q', '95', '-p', 'chroma=444')}
APPLE = heif.full(b'auxC', gainmaps.APPLE.encode() + b'\0')
AS_JPEG = '&format=jpeg&quality=98'


def coded(kind, samples):
    return heif.coded(kind, samples, *SHARP[kind])


def rgb(gain):
    return gain if gain.ndim == 3 else numpy.repeat(gain[:, :, None], 3, 2)


class Photograph(heif.File):
    """The second item is the map."""

    def __init__(self, kind, gain=GAIN, base=BASE, turn=(), gain_turn=None, gain_properties=()):
        super().__init__(kind)
        self.shown = self.picture(coded(kind, base), base.shape[1], base.shape[0], heif.pixi(3), *turn)
        self.gain = self.picture(coded(kind, rgb(gain)), gain.shape[1], gain.shape[0], heif.pixi(3), *gain_properties, *(turn if gain_turn is None else gain_turn))
        self.hidden = {self.gain}

    def tone(self, numbers=gainmaps.USUAL, data=None):
        tone = self.add(b'tmap', bytes(1) + gainmaps.iso(numbers) if data is None else data, heif.ispe(WIDTH, HEIGHT))
        self.refer(b'dimg', tone, self.shown, self.gain)
        return self

    def apple(self, ratios=None, headroom=None):
        self.refer(b'auxl', self.gain, self.shown)
        if ratios:
            self.refer(b'cdsc', self.add(b'Exif', struct.pack('>I', 6) + b'Exif\0\0' + gainmaps.apple_exif(ratios)), self.shown)
        self.refer(b'cdsc', self.add(b'mime', gainmaps.apple_packet(headroom)), self.gain)
        return self


def dropped(answer, why):
    assert answer.status_code == 200, answer.text
    assert answer.headers['X-HDR'] == 'dropped' and why in answer.headers['X-Blurd-Notice'], answer.headers
    assert answer.content.count(b'\xff\xd8\xff') == 1 and b'21496' not in answer.content


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('query, expected', [('/blur?sigma=0.1', lambda hdr: hdr), ('/rotate?angle=90', lambda hdr: hdr.transpose(1, 0, 2)[:, ::-1]),
                                             ('/crop?x=40&y=20&width=160&height=120', lambda hdr: hdr[20:140, 40:200])])
def test_tone_map(server, kind, query, expected):
    parts = kept(answer := server.post(query + AS_JPEG, Photograph(kind).tone().write()))
    assert parts.numbers == gainmaps.USUAL and 'X-Metadata-Dropped' not in answer.headers
    close(decoded(parts)[2], expected(gainmaps.render(BASE, GAIN, gainmaps.USUAL)), FILE)


@pytest.mark.parametrize('kind', KINDS)
def test_numbers_of_each_channel(server, kind):
    coloured = gainmaps.photograph(320, 256, channels=3)[1]
    parts = kept(server.post('/blur?sigma=0.1' + AS_JPEG, Photograph(kind, coloured).tone(gainmaps.PER_CHANNEL).write()))
    assert parts.xmp_numbers is None
    close(decoded(parts)[2], gainmaps.render(BASE, coloured, gainmaps.PER_CHANNEL), 0.2)


@pytest.mark.parametrize('ratios, headroom', [({33: (3, 2), 48: (2, 1)}, None), (None, 3.5), ({33: (3, 2), 48: (2, 1)}, 3.5)])
def test_apple_map(server, ratios, headroom):
    """HEIC is answered as JPEG without being asked to."""
    body = Photograph('heic', gain_properties=[APPLE]).apple(ratios, headroom).write()
    factor = headroom or 2 ** gainmaps.apple_stops(1.5, 2)
    parts = kept(server.post('/blur?sigma=0.1&quality=98', body))
    assert abs(parts.numbers.headroom - numpy.log2(factor)) < 1e-6
    close(decoded(parts)[2], gainmaps.apple_render(BASE, GAIN, factor), FILE)


def test_both_forms_as_ios_18_writes_them(server):
    """The `tmap` counts."""
    body = Photograph('heic', gain_properties=[APPLE]).apple(None, 3.5).tone().write()
    assert kept(server.post('/blur?sigma=0.1', body)).numbers == gainmaps.USUAL


@pytest.mark.parametrize('kind', KINDS)
def test_turned_alike(server, kind):
    """By the container: irot 3 is a quarter clockwise."""
    turn = [heif.box(b'irot', b'\3')]
    parts = kept(server.post('/blur?sigma=0.1' + AS_JPEG, Photograph(kind, turn=turn).tone().write()))
    close(decoded(parts)[2], gainmaps.render(BASE, GAIN, gainmaps.USUAL).transpose(1, 0, 2)[:, ::-1], FILE)
    dropped(server.post('/blur?sigma=1' + AS_JPEG, Photograph(kind, turn=turn, gain_turn=[]).tone().write()), 'turned')
    dropped(server.post('/blur?sigma=1' + AS_JPEG, Photograph(kind, gain_turn=[heif.box(b'imir', b'\0')]).tone().write()), 'turned')


@pytest.mark.parametrize('kind', KINDS)
def test_a_map_of_tiles(server, kind):
    file = heif.File(kind)
    shown = file.picture(coded(kind, BASE), WIDTH, HEIGHT, heif.pixi(3))
    grid = file.add(b'grid', bytes([0, 0, 0, 1]) + struct.pack('>HH', 128, 64), heif.ispe(128, 64), heif.pixi(3))
    gain = numpy.zeros((64, 128, 3), 'uint8')
    gain[:, :64], gain[:, 64:] = 60, 200
    file.refer(b'dimg', grid, *(file.picture(coded(kind, gain[:, x:x + 64]), 64, 64, heif.pixi(3)) for x in (0, 64)))
    file.refer(b'dimg', file.add(b'tmap', bytes(1) + gainmaps.iso(gainmaps.USUAL), heif.ispe(WIDTH, HEIGHT)), shown, grid)
    answer = server.post('/blur?sigma=0.1' + AS_JPEG, file.write())
    dropped(answer, 'shape')  # two to one, and the picture is five to four
    assert 'pictures' in answer.headers['X-Metadata-Dropped']


@pytest.mark.parametrize('kind', KINDS)
def test_redaction(server, kind):
    body = Photograph(kind).tone(gainmaps.USUAL._replace(min=(-1,), max=(2,))).write()
    dropped(server.post('/redact?region=96,64,96,64' + AS_JPEG, body), 'hidden')
    parts = kept(server.post('/redact?region=96,64,96,64&hdr=keep' + AS_JPEG, body))
    gain = anatomy.pixels(parts.map)[:, :, 0].astype(int)
    assert numpy.abs(gain[16:32, 24:48] - 85).max() <= 1


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('data', (bytes([1]) + gainmaps.iso(gainmaps.USUAL), bytes(1) + gainmaps.iso(gainmaps.USUAL)[:-1], bytes(1), bytes(80),
                                  bytes(1) + gainmaps.iso(gainmaps.USUAL._replace(base_headroom=4)),
                                  bytes(5) + b'\0' + gainmaps.iso(gainmaps.USUAL)[5:]),
                         ids=('version 1', 'cut', 'empty', 'zeros', 'HDR base', 'other colours'))
def test_unusable_numbers(server, kind, data):
    dropped(server.post('/blur?sigma=1' + AS_JPEG, Photograph(kind).tone(data=data).write()), 'damaged')


@pytest.mark.parametrize('kind', KINDS)
def test_maps_of_other_pictures(server, kind):
    """A map that belongs to another item, to itself, or to a missing one, is not taken for the picture's."""
    for targets in ((2, 1), (1, 1), (1, 9), (9, 2), (1,), ()):
        file = Photograph(kind)
        file.refer(b'dimg', file.add(b'tmap', bytes(1) + gainmaps.iso(gainmaps.USUAL), heif.ispe(WIDTH, HEIGHT)), *targets)
        answer = server.post('/blur?sigma=1' + AS_JPEG, file.write())
        assert answer.status_code == 200 and answer.headers['X-HDR'] == 'dropped', targets
        assert answer.content.count(b'\xff\xd8\xff') == 1


def test_other_answers_have_none(server):
    """The map is not even looked for."""
    body = Photograph('avif').tone().write()
    for query in ('/blur?sigma=1', '/blur?sigma=1&format=png', '/blur?sigma=1&format=jpeg&hdr=drop'):
        answer = server.post(query, body)
        assert answer.headers['X-HDR'] == 'dropped' and 'gain map' not in answer.headers.get('X-Blurd-Notice', '')
