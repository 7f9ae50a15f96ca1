# SPDX-License-Identifier: MIT
"""Apple's gain maps: an answer has the numbers of ISO 21496-1, and renders as Apple's formula renders what was sent."""

import numpy
import pytest

import gainmaps
from test_hdr_kept import close, decoded, kept

BASE, GAIN = gainmaps.photograph()


@pytest.mark.parametrize('order', '><')
@pytest.mark.parametrize('ratio', ((1, 2, 9, 1000), (4, 5, 3, 1), (101, 100, 1, 1000), (3, 2, 2, 1)))
def test_headroom_of_the_maker_note(server, ratio, order):
    a, b, c, d = ratio
    file = gainmaps.apple(BASE, GAIN, {1: (5, 1), 33: (a, b), 48: (c, d)}, order=order, quality=98)
    parts = kept(server.post('/blur?sigma=0.1&quality=98', file))
    stops = gainmaps.apple_stops(a / b, c / d)
    assert abs(parts.numbers.headroom - stops) < 1e-6 and parts.numbers.max == (parts.numbers.headroom,)
    assert parts.numbers._replace(max=(), headroom=0) == gainmaps.Numbers((0,), (), (1,), (0,), (0,), 0, 0)
    close(decoded(parts)[2], gainmaps.apple_render(BASE, GAIN, 2 ** stops), 0.05)


def test_headroom_of_the_map_counts_before(server):
    file = gainmaps.apple(BASE, GAIN, {33: (3, 2), 48: (2, 1)}, headroom=3.5, quality=98)
    parts = kept(server.post('/rotate?angle=90&quality=98', file))
    assert abs(parts.numbers.headroom - numpy.log2(3.5)) < 1e-6
    close(decoded(parts)[2], gainmaps.apple_render(BASE, GAIN, 3.5).transpose(1, 0, 2)[:, ::-1], 0.07)


def test_iso_counts_before_both(server):
    """As iOS 18 writes them: the samples are those of ISO 21496-1."""
    parts = kept(server.post('/blur?sigma=0.1&quality=98', gainmaps.apple(BASE, GAIN, {33: (3, 2), 48: (2, 1)}, 3.5, 'iso', quality=98)))
    assert parts.numbers.headroom == gainmaps.USUAL.headroom
    close(decoded(parts)[2], gainmaps.render(BASE, GAIN, gainmaps.USUAL), 0.08)


@pytest.mark.parametrize('ratios', ({33: (1, 1)}, {48: (1, 1)}, {33: (1, 0), 48: (1, 1)}, {33: (1, 1), 48: (1, 0)}, {33: (1, 2), 48: (40, 1)}),
                         ids=('no 48', 'no 33', '33 of zero', '48 of zero', 'no headroom'))
def test_unusable_maker_notes(server, ratios):
    answer = server.post('/blur?sigma=1', gainmaps.apple(BASE, GAIN, ratios))
    assert answer.headers['X-HDR'] == 'dropped' and 'headroom' in answer.headers['X-Blurd-Notice']


def test_the_maker_note_is_not_carried(server):
    """Nor is Apple's packet, with metadata=keep."""
    answer = server.post('/blur?sigma=1&metadata=keep', gainmaps.apple(BASE, GAIN, {33: (3, 2), 48: (2, 1)}, 3.5))
    assert kept(answer) and b'Apple' not in answer.content and b'apple' not in answer.content
