# SPDX-License-Identifier: MIT
"""/median, /dilate and /erode against scipy and numpy, sample by sample."""

import io

import numpy
import pytest
from PIL import Image
from scipy import ndimage

import filtering
import pictures
from filtering import MODES, ask, ask_png
from problems import check_problem

EDGES = tuple(MODES)
RADII = (1, 2, 3, 8, 25)
ENDPOINTS = ('dilate', 'erode')
ALL = ('median', *ENDPOINTS)
KINDS = [(channels, depth) for depth in (8, 16) for channels in (1, 2, 3, 4)]
BODY = pictures.small_png()
of_every_kind = pytest.mark.parametrize('channels,depth', KINDS, ids=str)


def extreme(picture, endpoint, radius, edge='clamp'):
    """Exact."""
    samples = picture.astype(numpy.int64)
    side = 2 * radius + 1
    find = {'dilate': ndimage.maximum_filter, 'erode': ndimage.minimum_filter}[endpoint]

    def of(planes):
        return find(planes, size=(side, side, 1), mode=MODES[edge])

    if not filtering.has_alpha(samples):
        return of(samples)
    alpha = of(samples[..., -1:])
    colour = of(samples[..., :-1] * samples[..., -1:])
    colour = numpy.where(alpha > 0, (colour + alpha // 2) // numpy.maximum(alpha, 1), 0)
    return numpy.concatenate([colour, alpha], 2)


def weighted_median(samples, weights):
    """The least of the samples up to which at least half of the weights lie, or 0."""
    order = samples.argsort(-1, kind='stable')
    sums = numpy.take_along_axis(weights, order, -1).cumsum(-1)
    first = (2 * sums >= sums[..., -1:]).argmax(-1)
    found = numpy.take_along_axis(numpy.take_along_axis(samples, order, -1), first[..., None], -1)[..., 0]
    return numpy.where(sums[..., -1] > 0, found, 0)


def median(picture, radius, edge='clamp'):
    """Exact."""
    mode = {'clamp': 'edge', 'mirror': 'reflect', 'wrap': 'wrap', 'zero': 'constant'}[edge]
    samples = picture.astype(numpy.int64)
    side = 2 * radius + 1
    wide = numpy.pad(samples, ((radius, radius), (radius, radius), (0, 0)), mode)
    windows = numpy.lib.stride_tricks.sliding_window_view(wide, (side, side), (0, 1)).reshape(*samples.shape, side * side)
    if not filtering.has_alpha(samples):
        return numpy.median(windows, -1).astype(int)
    alpha = numpy.median(windows[:, :, -1], -1).astype(int)
    planes = [weighted_median(windows[:, :, c], windows[:, :, -1]) * (alpha > 0) for c in range(samples.shape[2] - 1)]
    return numpy.stack([*planes, alpha], 2)


@pytest.mark.parametrize('radius', (1, 2, 3, 8, 25))
@of_every_kind
def test_median(server, radius, channels, depth):
    picture = filtering.sample_picture(47, 33, channels, depth)
    result = ask_png(server, f'/median?radius={radius}', pictures.png(picture, depth=depth), depth)
    assert (result == median(picture, radius)).all()


@pytest.mark.parametrize('edge', EDGES)
@pytest.mark.parametrize('channels', (3, 4))
def test_edges_of_medians(server, edge, channels):
    picture = filtering.sample_picture(41, 44, channels)
    for radius in (1, 2, 7):
        result = ask_png(server, f'/median?radius={radius}&edge={edge}', pictures.png(picture))
        assert (result == median(picture, radius, edge)).all()


@pytest.mark.parametrize('size', ((1, 1), (1, 40), (40, 1), (2, 3), (17, 13)))
def test_medians_of_small_pictures(server, size):
    picture = pictures.noise(*size, 4).astype(int)
    for edge in ('clamp', 'wrap', 'zero'):
        for radius in (1, 25):
            result = ask_png(server, f'/median?radius={radius}&edge={edge}', pictures.png(picture))
            assert (result == median(picture, radius, edge)).all()


def test_a_median_removes_specks_and_keeps_edges(server):
    picture = numpy.zeros((40, 50, 3), int)
    picture[:, 25:] = 200
    wanted = picture.copy()
    picture[5::10, 3::7] = 255
    assert (ask_png(server, '/median?radius=1', pictures.png(picture)) == wanted).all()


def test_planes_of_a_jpeg_are_filtered_as_stored(server):
    """Where the radius fits them; else, and on demand, RGB is."""
    body = pictures.jpeg(pictures.photograph(90, 70), subsampling='420')
    for radius, planar in ((2, True), (3, False), (4, True)):
        native = ask(server, f'/median?radius={radius}', body).content
        rgb = ask(server, f'/median?radius={radius}&colorspace=rgb', body).content
        assert (native != rgb) == planar
        a, b = (numpy.asarray(Image.open(io.BytesIO(one))).astype(int) for one in (native, rgb))
        assert abs(a - b).mean() < 6  # a picture of noise
    picture = ask_png(server, '/pixelate?block=1&colorspace=rgb&format=png', body)
    assert (ask_png(server, '/median?radius=2&format=png', body) == median(picture, 2)).all()


def test_invisible_colours_have_no_part_in_medians(server):
    for radius in (1, 4):
        result = ask_png(server, f'/median?radius={radius}', pictures.png(pictures.halves(64, 20)))
        seen = result[result[..., 3] > 0]
        assert (seen[:, 0] >= 254).all() and (seen[:, 1:3] <= 1).all(), 'the invisible green shows'


@pytest.mark.parametrize('endpoint', ENDPOINTS)
@pytest.mark.parametrize('radius', RADII)
@of_every_kind
def test_extremes(server, endpoint, radius, channels, depth):
    picture = filtering.sample_picture(83, 59, channels, depth)
    result = ask_png(server, f'/{endpoint}?radius={radius}', pictures.png(picture, depth=depth), depth)
    assert (result == extreme(picture, endpoint, radius)).all()


@pytest.mark.parametrize('endpoint', ENDPOINTS)
@pytest.mark.parametrize('edge', EDGES)
@pytest.mark.parametrize('channels', (3, 4))
def test_edges_of_extremes(server, endpoint, edge, channels):
    picture = filtering.sample_picture(61, 64, channels)
    for radius in (1, 7, 25):
        result = ask_png(server, f'/{endpoint}?radius={radius}&edge={edge}', pictures.png(picture))
        assert (result == extreme(picture, endpoint, radius, edge)).all()


@pytest.mark.parametrize('endpoint', ENDPOINTS)
@pytest.mark.parametrize('size', ((1, 1), (1, 40), (40, 1), (2, 3), (17, 13)))
def test_pictures_smaller_than_the_window(server, endpoint, size):
    picture = pictures.noise(*size, 4).astype(int)
    for edge in ('clamp', 'wrap', 'zero'):
        result = ask_png(server, f'/{endpoint}?radius=25&edge={edge}', pictures.png(picture))
        assert (result == extreme(picture, endpoint, 25, edge)).all()


@pytest.mark.parametrize('endpoint', ALL)
def test_the_radius_is_1_without_parameters(server, endpoint):
    body = pictures.png(filtering.sample_picture(60, 50, 3))
    assert ask(server, f'/{endpoint}', body).content == ask(server, f'/{endpoint}?radius=1&edge=clamp', body).content


@pytest.mark.parametrize('endpoint', ENDPOINTS)
def test_a_jpeg_is_filtered_as_rgb(server, endpoint):
    body = pictures.jpeg(pictures.photograph(90, 70), subsampling='420')
    picture = ask_png(server, '/pixelate?block=1&colorspace=rgb&format=png', body)
    assert (ask_png(server, f'/{endpoint}?radius=2&format=png', body) == extreme(picture, endpoint, 2)).all()
    assert ask(server, f'/{endpoint}?radius=2', body).content == ask(server, f'/{endpoint}?radius=2&colorspace=rgb', body).content


def test_invisible_colours_do_not_grow(server):
    result = ask_png(server, '/dilate?radius=5', pictures.png(pictures.halves(64, 20)))
    seen = result[result[..., 3] > 0]
    assert (seen[:, 0] >= 254).all() and (seen[:, 1:3] <= 1).all(), 'the invisible green shows'
    assert len(seen) == 20 * (32 + 5)


def test_radii_add_up(server):
    body = pictures.png(filtering.sample_picture(120, 90, 3))
    assert (ask_png(server, '/pipeline?ops=dilate:radius=20|dilate:radius=5', body) == ask_png(server, '/dilate?radius=25', body)).all()


def test_an_opening_removes_a_spot_and_keeps_a_square(server):
    picture = numpy.zeros((40, 50, 1), int)
    picture[5, 7] = 255
    picture[20:30, 20:30] = 255
    wanted = picture.copy()
    wanted[5, 7] = 0
    assert (ask_png(server, '/pipeline?ops=erode:radius=2|dilate:radius=2', pictures.png(picture)) == wanted).all()


@pytest.mark.parametrize('endpoint', ALL)
@pytest.mark.parametrize('query,name,says', (
    ('radius=0', 'radius', 'from 1 to 25 pixels'), ('radius=26', 'radius', 'from 1 to 25 pixels'), ('radius=-1', 'radius', 'from 1 to 25'),
    ('radius=1.5', 'radius', ''), ('radius=', 'radius', 'empty'), ('radius=x', 'radius', ''), ('edge=frame', 'edge', 'clamp'),
    ('edge=', 'edge', ''), ('radius=1&radius=1', 'radius', 'more than once'), ('sigma=1', 'sigma', 'radius'), ('mode=redact', 'mode', '')))
def test_refusals(server, endpoint, query, name, says):
    check_problem(server.post(f'/{endpoint}?{query}', BODY), 'bad-parameter', name, says)
    if name in ('radius', 'edge') and query.count('=') == 1:
        step = server.post(f'/pipeline?ops=blur|{endpoint}:{query}', BODY)
        check_problem(step, 'bad-parameter', 'ops', 'step 2')
