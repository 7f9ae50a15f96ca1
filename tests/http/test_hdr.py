# SPDX-License-Identifier: MIT
"""Gain maps: what the header X-HDR says of them."""

import pathlib

import numpy
import pytest

import gainmaps
import pictures

BASE, GAIN = gainmaps.photograph()
SHARED = pathlib.Path(__file__).resolve().parents[3] / 'shared'
FILES = [f'reproduce/{name}' for name in ('apple_gainmap_1.heic', 'tmap.avif', 'tmap.heic')] + ['inputs/ios18_gainmap_of_two.heic']
WITHOUT = [f'reproduce/{name}' for name in ('thm.heic', 'thm.avif', 'two.heic', 'two.avif')]


def hdr(answer):
    assert answer.status_code == 200, answer.text
    return answer.headers['X-HDR']


@pytest.mark.parametrize('form', ('xmp', 'iso', 'both'))
def test_map_is_found(server, form):
    assert hdr(server.post('/blur?sigma=1', gainmaps.ultra_hdr(BASE, GAIN, form=form))) == 'kept'


def test_apple_map_without_headroom(server):
    """Neither in the map nor in the base."""
    answer = server.post('/blur?sigma=1', gainmaps.apple(BASE, GAIN))
    assert hdr(answer) == 'dropped' and 'headroom' in answer.headers['X-Blurd-Notice']


def test_other_pictures_are_no_maps(server):
    """A file of two pictures, and answers that are no pictures."""
    other = gainmaps.assemble(pictures.jpeg(BASE), pictures.jpeg(GAIN), announce=False)
    assert hdr(server.post('/blur?sigma=1', other)) == 'none'
    assert hdr(server.post('/blur?sigma=1', pictures.jpeg(BASE))) == 'none'
    assert hdr(server.post('/blur?sigma=1', pictures.png(numpy.asarray(BASE)))) == 'none'
    for target in ('/stats', '/placeholder'):
        assert 'X-HDR' not in server.post(target, gainmaps.ultra_hdr(BASE, GAIN)).headers


@pytest.mark.parametrize('name', FILES + WITHOUT)
def test_maps_of_other_formats(server, name):
    path = SHARED / name
    if not path.exists():
        pytest.skip(f'no {name}')
    assert hdr(server.post('/blur?sigma=1&format=png', path.read_bytes())) == ('dropped' if name in FILES else 'none')
