# SPDX-License-Identifier: MIT
"""Crops of AVIF files (`clap`): what was cropped away is never answered, with any subsampling and place."""

import numpy
import pytest

import anatomy
import heif
import pictures

WIDTH, HEIGHT = 64, 48
SHOWN = '/blur?sigma=1&format=png&region=999999,999999,1,1'  # changes no pixel
PLACES = [(10, 6, 40, 30), (10, 6, 41, 30), (10, 6, 40, 31), (11, 6, 40, 30), (10, 7, 40, 30), (11, 7, 41, 31), (1, 1, 63, 47), (63, 47, 1, 1), (0, 0, 64, 48)]
KINDS = [('-y', '420'), ('-y', '422'), ('-y', '444'), ('-y', '400'), ('-y', '420', '-d', '10')]


def avif(samples, kind, *properties):
    file = heif.File('avif')
    file.picture(heif.coded('avif', samples, *kind), samples.shape[1], samples.shape[0], *properties)
    return file.write()


def crop_at(x, y, width, height):
    return heif.clap((width, 1), (height, 1), (2 * x + width - WIDTH, 2), (2 * y + height - HEIGHT, 2))


def shown(server, body):
    answer = server.post(SHOWN, body)
    assert answer.status_code == 200, answer.text
    found = anatomy.pixels(answer.content)
    return found if found.ndim == 3 else found[..., None]


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
    assert answer.status_code == 400
    assert 'crop (clap)' in answer.json()['detail']
