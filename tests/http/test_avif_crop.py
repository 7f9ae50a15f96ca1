# SPDX-License-Identifier: MIT
"""Crops of AVIF files (`clap`): what was cropped away is never answered, with any subsampling and place."""

import struct

import numpy
import pytest

import anatomy
import foreign
import heif
import pictures
from problems import check_problem
from test_multipart import form

WIDTH, HEIGHT = 64, 48
SHOWN = '/blur?sigma=1&format=png&png_reduce=false&region=999999,999999,1,1'  # changes no pixel
PLACES = [(10, 6, 40, 30), (10, 6, 41, 30), (10, 6, 40, 31), (11, 6, 40, 30), (10, 7, 40, 30), (11, 7, 41, 31), (1, 1, 63, 47), (63, 47, 1, 1), (0, 0, 64, 48)]
KINDS = [('-y', '420'), ('-y', '422'), ('-y', '444'), ('-y', '400'), ('-y', '420', '-d', '10')]


def avif(samples, kind, *properties):
    file = heif.File('avif')
    file.picture(heif.coded('avif', samples, *kind), samples.shape[1], samples.shape[0], *properties)
    return file.write()


def crop_at(x, y, width, height):
    return heif.clap((width, 1), (height, 1), (2 * x + width - WIDTH, 2), (2 * y + height - HEIGHT, 2))


def shown(server, body, target=SHOWN):
    answer = server.post(target, body)
    assert answer.status_code == 200, answer.text
    found = foreign.read(foreign.kind_of(answer.content), answer.content)
    return found if found.ndim == 3 else found[..., None]


def need_writer(server):
    if 'avif' not in server.get('/version').json()['formats']['writes']:
        pytest.skip('built without AVIF\'s encoder')


@pytest.mark.parametrize('place', PLACES, ids=str)
@pytest.mark.parametrize('kind', KINDS, ids=' '.join)
def test_what_is_cropped_away_is_not_shown(server, kind, place):
    x, y, width, height = place
    samples = numpy.full((HEIGHT, WIDTH, 3), (255, 0, 0) if '400' not in kind else 255, numpy.uint8)
    samples[y:y + height, x:x + width] = (0, 0, 255) if '400' not in kind else 0
    found = shown(server, avif(samples, kind, crop_at(*place)))
    assert found.shape[:2] == (height, width)
    assert (found[..., 0] > 200).sum() == 0


@pytest.mark.parametrize('place', PLACES, ids=str)
@pytest.mark.parametrize('kind', KINDS, ids=' '.join)
def test_the_part_of_the_picture(server, kind, place):
    x, y, width, height = place
    samples = pictures.photograph(WIDTH, HEIGHT)
    whole = shown(server, avif(samples, kind))[y:y + height, x:x + width].astype(int)
    found = shown(server, avif(samples, kind, crop_at(*place)))
    inner = numpy.abs(found - whole)[2:-2, 2:-2]
    assert found.shape == whole.shape
    assert inner.size == 0 or inner.max() <= 1
    if '400' in kind or x % 2 + y % 2 == 2:  # chroma at the edges was interpolated before
        assert (found == whole).all()


AS_AVIF = SHOWN.replace('png&png_reduce=false', 'avif') + '&quality=100'


@pytest.mark.parametrize('place', PLACES, ids=str)
@pytest.mark.parametrize('kind', KINDS, ids=' '.join)
def test_the_part_as_avif(server, kind, place):
    """Planes are copied as they are stored, where the crop does not cut a sample of colour; `colorspace=rgb` never copies them."""
    need_writer(server)
    x, y, width, height = place
    samples = (pictures.photograph(WIDTH, HEIGHT, 1) * (0.9, 1, 0.8)).astype(numpy.uint8)  # one colour, which a half resolution keeps
    samples[:y], samples[y + height:], samples[:, :x], samples[:, x + width:] = ((255, 0, 255),) * 4
    body = avif(samples, kind, crop_at(*place))
    expected = shown(server, body)[..., :3].astype(int)
    for more in '', '&colorspace=rgb':
        found = shown(server, body, AS_AVIF + more)[..., :3]
        error = numpy.abs(found - expected)[2:-2, 2:-2]  # chroma at the edges was interpolated before
        assert found.shape == expected.shape and (error.size == 0 or error.mean() <= 2), more
        shows = '400' not in kind and (found[..., 0] > 200) & (found[..., 1] < 60) & (expected[..., 1] > 90)
        assert not numpy.any(shows), 'what was cropped away'


@pytest.mark.parametrize('kind', (('-y', '420'), ('-y', '444')), ids=' '.join)
@pytest.mark.parametrize('place', ((10, 6, 40, 30), (11, 7, 41, 31)), ids=str)
@pytest.mark.parametrize('target', ('png', 'avif&quality=100'))
def test_regions_count_from_the_corner_of_the_crop(server, place, kind, target):
    need_writer(server)
    x, y, width, height = place
    body = avif(pictures.photograph(WIDTH, HEIGHT), kind, crop_at(*place))
    plain, mask = shown(server, body).astype(int), numpy.zeros((height, width), numpy.uint8)
    mask[:8, :8] = 255

    def ask(mode, mask):
        query = f'/pixelate?block=8&format={target}{mode}'
        return server.post(query, form(('image"; filename="p', body), ('mask"; filename="m.png', pictures.png(mask))),
                           headers={'Content-Type': 'multipart/form-data; boundary=simple'})

    for mode in '', '&mode=redact':
        one = shown(server, body, f'/pixelate?block=8&format={target}&region=0,0,8,8{mode}').astype(int)
        other = ask(mode, mask)
        assert other.status_code == 200 and (foreign.read(foreign.kind_of(other.content), other.content) == one).all()
        loss = 0 if target == 'png' else 24
        assert one.shape == plain.shape and numpy.ptp(one[:6, :6], (0, 1)).max() <= loss, 'the corner is one tile'
        assert numpy.ptp(plain[:6, :6], (0, 1)).max() > 30
        assert numpy.abs(one - plain)[-4:, -8:].max() <= loss, 'the other corner stays'
        check_problem(ask(mode, numpy.full((HEIGHT, WIDTH), 255, numpy.uint8)), 'bad-parameter', 'mask')


ALPHA = heif.full(b'auxC', b'urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0')
PLACE = (11, 7, 41, 31)
PART = numpy.s_[7:38, 11:52]


def test_the_crop_of_an_alpha(server):
    samples = pictures.photograph(WIDTH, HEIGHT, 4)
    file = heif.File('avif')
    picture = file.picture(heif.coded('avif', samples[..., :3], '-y', '444'), WIDTH, HEIGHT, crop_at(*PLACE))
    alpha = file.picture(heif.coded('avif', samples[..., 3], '-y', '400'), WIDTH, HEIGHT, ALPHA)
    file.refer(b'auxl', alpha, picture)
    found = shown(server, file.write())
    assert found.shape == (31, 41, 4) and numpy.abs(found[..., 3].astype(int) - samples[PART][..., 3]).max() <= 12
    assert (found[..., :3] == shown(server, avif(samples[..., :3], ('-y', '444')))[PART]).all()


@pytest.mark.parametrize('turns, expected', (('irot', numpy.rot90), ('imir', lambda part: part[:, ::-1]), ('irot imir', lambda part: numpy.rot90(part)[:, ::-1])))
def test_the_crop_comes_before_the_turn(server, turns, expected):
    samples = pictures.photograph(WIDTH, HEIGHT)
    body = avif(samples, ('-y', '444'), crop_at(*PLACE), *(heif.box(name.encode(), b'\1') for name in turns.split()))
    assert (shown(server, body) == expected(shown(server, avif(samples, ('-y', '444')))[PART])).all()


@pytest.mark.parametrize('place', ((10, 6, 140, 50), (91, 7, 41, 31)), ids=str)
def test_the_crop_of_a_grid(server, place):
    x, y, width, height = place
    pieces = [pictures.photograph(96, 64, seed=seed) for seed in (1, 2)]
    file, crop = heif.File('avif'), heif.clap((width, 1), (height, 1), (2 * x + width - 192, 2), (2 * y + height - 64, 2))
    grid = file.add(b'grid', struct.pack('>BBBBHH', 0, 0, 0, 1, 192, 64), heif.ispe(192, 64), heif.pixi(3), crop)
    file.refer(b'dimg', grid, *(file.picture(heif.coded('avif', piece, '-y', '444'), 96, 64, heif.pixi(3)) for piece in pieces))
    whole = numpy.hstack([shown(server, avif(piece, ('-y', '444'))) for piece in pieces])
    assert (shown(server, file.write()) == whole[y:y + height, x:x + width]).all()


def test_half_pixels_are_not_shown(server):
    samples = pictures.photograph(WIDTH, HEIGHT)
    body = avif(samples, ('-y', '444'), heif.clap((41, 2), (30, 1), (0, 1), (1, 2)))  # from 21.75 to 42.25, and from 9.5 to 39.5
    whole = shown(server, avif(samples, ('-y', '444')))
    assert (shown(server, body) == whole[10:39, 22:42]).all()


WRONG = {
    'a column to the left': crop_at(-1, 0, 10, 10), 'a row above': crop_at(0, -1, 10, 10),
    'a column to the right': crop_at(55, 0, 10, 10), 'a row below': crop_at(0, 39, 10, 10),
    'wider': crop_at(0, 0, WIDTH + 1, 10), 'no width': crop_at(10, 10, 0, 10), 'no height': crop_at(10, 10, 10, 0),
    'no whole pixel': heif.clap((1, 2), (10, 1), (1, 4), (0, 1)),
    **{f'the denominator {i} is 0': heif.clap(*((10, int(i != n)) for n in range(4))) for i in range(4)},
    'numbers that overflow': heif.clap((0xFFFFFFFF, 1), (0xFFFFFFFF, 1), (-0x80000000, 1), (-0x80000000, 1)),
    'denominators that overflow': heif.clap((1, 0xFFFFFFFF), (1, 0xFFFFFFFF), (1, 0xFFFFFFFF), (1, 0xFFFFFFFF)),
}


@pytest.mark.parametrize('name', WRONG)
def test_a_wrong_crop_is_refused(server, name):
    answer = server.post(SHOWN, avif(pictures.photograph(WIDTH, HEIGHT), ('-y', '420'), WRONG[name]))
    check_problem(answer, 'corrupt-image', says='crop (clap)')
