# SPDX-License-Identifier: MIT
"""Alpha that says nothing is left out of a PNG."""

import numpy
import pytest

import anatomy
import animated
import pictures

SAME = '/pixelate?block=1'  # changes no pixel
WITHOUT = {pictures.GRAY_ALPHA: pictures.GRAY, pictures.RGBA: pictures.RGB}


def opaque(channels, depth=8):
    samples = pictures.photograph(61, 45, channels, seed=3).astype(numpy.uint16)
    samples = samples * 257 - 7 * (samples > 0) if depth == 16 else samples
    samples[..., -1] = (1 << depth) - 1
    return samples


def answered(server, samples, depth, query=''):
    """The colour type of the answer, and its samples."""
    answer = server.post(f'{SAME}&format=png{query}', pictures.png(samples, depth=depth))
    assert answer.status_code == 200, answer.text
    return anatomy.png_header(answer.content)[3], answer.content


@pytest.mark.parametrize('depth', (8, 16))
@pytest.mark.parametrize('kind', WITHOUT)
@pytest.mark.parametrize('effort', (0, 1, 6))
def test_full_alpha_is_left_out(server, kind, depth, effort):
    samples = opaque(2 if kind == pictures.GRAY_ALPHA else 4, depth)
    found, content = answered(server, samples, depth, f'&effort={effort}')
    assert found == WITHOUT[kind]
    assert numpy.array_equal(anatomy.read_png(content), samples[..., :-1])
    found, content = answered(server, samples, depth, f'&effort={effort}&png_reduce=false')
    assert found == kind and numpy.array_equal(anatomy.read_png(content), samples)


@pytest.mark.parametrize('depth', (8, 16))
@pytest.mark.parametrize('kind', WITHOUT)
@pytest.mark.parametrize('place', ((0, 0), (44, 60), (22, 7), (44, 0)))
def test_one_pixel_is_enough(server, kind, depth, place):
    samples = opaque(2 if kind == pictures.GRAY_ALPHA else 4, depth)
    samples[place][-1] -= 1
    found, content = answered(server, samples, depth)
    assert found == kind and numpy.array_equal(anatomy.read_png(content), samples)


def test_frames_keep_it(server):
    """The first one is opaque, and the second is not: they have one header."""
    frames = [animated.Frame(opaque(4).astype(numpy.uint8)), animated.Frame(numpy.zeros((45, 61, 4), numpy.uint8), blends=False)]
    answer = server.post(SAME, animated.png(frames, 61, 45))
    assert answer.status_code == 200 and anatomy.png_header(answer.content)[3] == pictures.RGBA
    assert [numpy.array_equal(read, sent.pixels) for read, sent in zip(animated.read(answer.content).frames, frames)] == [True, True]
