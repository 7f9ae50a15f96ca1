# SPDX-License-Identifier: MIT
"""What the pixels of a PNG do not need is left out: alpha, colour, and bits."""

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
    found, content = answered(server, samples, depth, '&png_reduce=false')
    whole = anatomy.read_png(content)
    found, content = answered(server, samples, depth)
    read = rgba(anatomy.read_png(content), depth)
    assert numpy.array_equal(read, rgba(samples, depth)) and numpy.array_equal(whole, samples)
    assert found in (kind, pictures.PALETTE)


def rgba(samples, depth=8):
    """Samples of any kind as RGBA."""
    count = samples.shape[2]
    colour = samples[..., :3] if count >= 3 else numpy.repeat(samples[..., :1], 3, axis=2)
    alpha = samples[..., -1:] if count % 2 == 0 else numpy.full_like(samples[..., :1], (1 << depth) - 1)
    return numpy.dstack([colour, alpha])


def coloured(count, channels, height=170, width=203):
    """Noise of so many colours, all of which occur."""
    colours = numpy.random.default_rng(count).permutation(1 << 12)[:count]
    which = numpy.concatenate([numpy.arange(count), numpy.random.default_rng(1).integers(0, count, height * width - count)])
    values = numpy.stack([colours & 255, colours >> 4, 255 - (colours & 15), 255 - (colours & 1)][:channels], axis=1).astype(numpy.uint8)
    return values[which].reshape(height, width, channels)


@pytest.mark.parametrize('effort', (0, 1, 6))
@pytest.mark.parametrize('channels', (3, 4))
@pytest.mark.parametrize('count, bits', ((2, 1), (3, 2), (4, 2), (5, 4), (16, 4), (17, 8), (256, 8)))
def test_few_colours_become_a_palette(server, count, bits, channels, effort):
    samples = coloured(count, channels)
    answer = server.post(f'{SAME}&format=png&effort={effort}', pictures.png(samples))
    assert anatomy.png_header(answer.content)[2:] == (bits, pictures.PALETTE)
    assert numpy.array_equal(rgba(anatomy.pixels(answer.content)), rgba(samples))
    whole = server.post(f'{SAME}&format=png&effort={effort}&png_reduce=false', pictures.png(samples))
    assert anatomy.png_header(whole.content)[2:] == (8, pictures.RGB if channels == 3 else pictures.RGBA)
    assert len(answer.content) < len(whole.content)
    again = server.post(f'{SAME}&format=png&effort={effort}', answer.content)
    assert again.content == answer.content


def test_too_many_colours_do_not(server):
    found, content = answered(server, coloured(257, 3), 8)
    assert found == pictures.RGB and numpy.array_equal(anatomy.pixels(content), coloured(257, 3))


@pytest.mark.parametrize('depth', (8, 16))
@pytest.mark.parametrize('channels', (3, 4))
def test_grey_in_colour_becomes_grey(server, channels, depth):
    grey = pictures.photograph(61, 45, 3, seed=3).astype(numpy.uint16)[..., :1] * (257 if depth == 16 else 1)
    samples = numpy.dstack([grey] * 3 + [numpy.full_like(grey, (1 << depth) - 1)] * (channels - 3))
    found, content = answered(server, samples, depth)
    assert found == pictures.GRAY and numpy.array_equal(anatomy.read_png(content), grey)
    samples[44, 60, 2] ^= 1
    found, content = answered(server, samples, depth)
    assert found in (pictures.RGB, pictures.PALETTE) and numpy.array_equal(rgba(anatomy.read_png(content), depth), rgba(samples, depth))


@pytest.mark.parametrize('bits', (1, 2, 4))
def test_few_greys_take_few_bits(server, bits):
    levels = (numpy.arange(1 << bits) * (255 // ((1 << bits) - 1))).astype(numpy.uint8)
    samples = levels[numpy.random.default_rng(bits).integers(0, 1 << bits, (99, 151))][:, :, None]
    for body in (pictures.png(samples), pictures.png(numpy.repeat(samples, 3, axis=2))):
        answer = server.post(f'{SAME}&format=png', body)
        assert anatomy.png_header(answer.content)[2:] == (bits, pictures.GRAY)
        assert numpy.array_equal(anatomy.pixels(answer.content), samples)


def test_what_was_redacted_has_no_part_in_it(server):
    """Only the first picture has a colour of its own, and more than 256 of them, inside the region."""
    one, other = coloured(40, 3), coloured(40, 3)
    one[50:90, 50:90] = pictures.noise(40, 40, 3)
    query = '/pixelate?block=8&mode=redact&region=50,50,40,40&fill=000000&format=png'
    answers = [server.post(query, pictures.png(samples)) for samples in (one, other)]
    assert answers[0].status_code == 200, answers[0].text
    assert answers[0].content == answers[1].content and anatomy.png_header(answers[0].content)[3] == pictures.PALETTE


def test_frames_keep_it(server):
    """The first one is opaque, and the second is not: they have one header."""
    frames = [animated.Frame(opaque(4).astype(numpy.uint8)), animated.Frame(numpy.zeros((45, 61, 4), numpy.uint8), blends=False)]
    answer = server.post(SAME, animated.png(frames, 61, 45))
    assert answer.status_code == 200 and anatomy.png_header(answer.content)[3] == pictures.RGBA
    assert [numpy.array_equal(read, sent.pixels) for read, sent in zip(animated.read(answer.content).frames, frames)] == [True, True]
