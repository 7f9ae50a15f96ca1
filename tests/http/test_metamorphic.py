# SPDX-License-Identifier: MIT
"""Relations between answers that hold for any exact definition of the filters."""

import urllib.parse

import numpy
import pytest
from scipy import special

import anatomy
import areas
import filtering
import pictures
from filtering import ask, ask_png

FILTERS = ('/blur?sigma=1.5', '/blur?sigma=14&edge=mirror', '/sharpen?sigma=2&amount=3', '/pixelate?block=7',
           '/convolve?preset=emboss', '/convolve?kernel=1,2,3,4,5;0,1,0,1,0;5,4,3,2,1&edge=wrap')
KINDS = [(channels, depth) for depth in (8, 16) for channels in (1, 2, 3, 4)]
WIDTH, HEIGHT = 61, 45
BODIES = {f'{channels} x {depth}': pictures.png(filtering.sample_picture(WIDTH, HEIGHT, channels, depth), depth=depth)
          for channels, depth in KINDS}
JPEG = pictures.jpeg(pictures.photograph(WIDTH, HEIGHT), subsampling='420')
every_filter = pytest.mark.parametrize('target', FILTERS)


def depth_of(name):
    return int(name.split()[-1])


# --- regions -----------------------------------------------------------------------------
EVERYTHING = ('0,0,100%,100%', '0,0,61,45', '0,0,5000,5000', 'polygon:0,0,100%,0,100%,100%,0,100%')


@every_filter
@pytest.mark.parametrize('region', EVERYTHING)
def test_a_region_of_everything_is_no_region(server, target, region):
    for body in BODIES.values():
        assert ask(server, f'{target}&{areas.query(region)}', body).content == ask(server, target, body).content
    for how in ('&format=png', '&quality=85'):
        answer = ask(server, f'{target}&{areas.query(region)}{how}', JPEG)
        assert answer.content == ask(server, target + how, JPEG).content, how


@every_filter
def test_the_inverse_of_everything_is_nothing(server, target):
    for name, body in BODIES.items():
        result = ask_png(server, f'{target}&{areas.query("0,0,100%,100%", invert="true")}', body, depth_of(name))
        assert (result == anatomy.read_png(body)).all()
    assert anatomy.pixels(ask(server, f'{target}&{areas.query("0,0,100%,100%", invert="true")}', JPEG).content).tolist() \
        == anatomy.pixels(JPEG).tolist()


OVERLAPPING = ('5,5,25,20', '20,10,30,30', 'ellipse:3.2,20.1,40,20', '5,5,25,20')


@every_filter
def test_overlapping_regions_act_once(server, target):
    inside = numpy.any([areas.mask(region, WIDTH, HEIGHT) for region in OVERLAPPING], 0)[:, :, None]
    for name, body in BODIES.items():
        picture, filtered = anatomy.read_png(body), ask_png(server, target, body, depth_of(name))
        result = ask_png(server, f'{target}&{areas.query(*OVERLAPPING)}', body, depth_of(name))
        assert (result == numpy.where(inside, filtered, picture)).all()


@every_filter
def test_the_parts_of_a_region_are_the_region(server, target):
    body = BODIES['3 x 8']
    whole = ask(server, f'{target}&{areas.query("7,5,41.3,30.2")}', body).content
    parts = areas.query('7,5,13.5,11', '7,16,13.5,19.2', '20.5,5,27.8,30.2')
    assert ask(server, f'{target}&{parts}', body).content == whole


@every_filter
def test_invert_is_the_complement(server, target):
    regions = ('ellipse:5.3,4.1,30.2,33.3', '50%,50%,40%,40%')
    inside = numpy.any([areas.mask(region, WIDTH, HEIGHT) for region in regions], 0)[:, :, None]
    for name, body in BODIES.items():
        picture, filtered = anatomy.read_png(body), ask_png(server, target, body, depth_of(name))
        there = ask_png(server, f'{target}&{areas.query(*regions)}', body, depth_of(name))
        elsewhere = ask_png(server, f'{target}&{areas.query(*regions, invert="true")}', body, depth_of(name))
        assert (numpy.where(inside, there, elsewhere) == filtered).all()
        assert (numpy.where(inside, elsewhere, there) == picture).all()


@pytest.mark.parametrize('regions', (('3,4,20,20',), ('ellipse:10,10,30,30', '0,0,12,12'), ('500,500,2,2',)))
@pytest.mark.parametrize('invert', (False, True))
def test_stats_count_the_regions(server, regions, invert):
    inside = numpy.any([areas.mask(region, WIDTH, HEIGHT) for region in regions], 0) ^ invert
    for name, body in BODIES.items():
        query = areas.query(*regions, invert=str(invert).lower())
        filtering.check_stats(ask(server, f'/stats?{query}', body).json(), anatomy.read_png(body), depth_of(name), inside)


# --- soft edges: kernel 1 and bias 200 show the coverage ---------------------------------------
SHOW = '/convolve?kernel=1&bias=200'


def coverage(server, width, height, *regions, **more):
    """0 to 1"""
    body = pictures.png(numpy.zeros((height, width, 1), int))
    return ask_png(server, f'{SHOW}&{areas.query(*regions, **more)}', body)[..., 0] / 200


@pytest.mark.parametrize('feather', (0.5, 1, 4, 10.5, 25))
def test_feather_is_a_soft_edge(server, feather):
    width, border = 200, 100
    line = coverage(server, width, 40, f'{border},0,{width},40', feather=feather)[20]
    x = numpy.arange(width) + 0.5 - border
    away = numpy.abs(x) > 2.5 * feather + 2
    assert (numpy.diff(line) >= 0).all(), 'not monotone'
    assert (line[away] == (x[away] > 0)).all(), 'not the hard mask far away'
    gauss = special.ndtr(x / (feather / 2))
    assert numpy.abs(line - gauss).max() <= (0.02 if feather >= 2 else 0.1)  # the mask is sampled
    assert abs(line[border - 1] + line[border] - 1) <= 0.01, 'the middle has moved'


@every_filter
def test_feather_mixes(server, target):
    region = 'ellipse:10.2,8.1,40.3,30.2'
    for name, body in BODIES.items():
        picture, filtered = anatomy.read_png(body), ask_png(server, target, body, depth_of(name))
        result = ask_png(server, f'{target}&{areas.query(region, feather=3)}', body, depth_of(name))
        share = coverage(server, WIDTH, HEIGHT, region, feather=3)
        assert (result[share == 0] == picture[share == 0]).all()
        assert (result[share == 1] == filtered[share == 1]).all()
        assert ((share > 0) & (share < 1)).sum() > 100
        if picture.shape[2] in (1, 3):
            low, high = numpy.minimum(picture, filtered), numpy.maximum(picture, filtered)
            assert (result >= low).all() and (result <= high).all()
            error = numpy.abs(result - (picture + share[:, :, None] * (filtered - picture.astype(int))))
            assert error.max() <= 2.5 * 257 ** (depth_of(name) == 16)  # the coverage is known to 1 of 200


def test_feather_and_invert(server):
    soft = coverage(server, 90, 70, 'ellipse:20,15,40,33', feather=6)
    inverse = coverage(server, 90, 70, 'ellipse:20,15,40,33', feather=6, invert='true')
    assert numpy.abs(soft + inverse - 1).max() <= 0.011


# --- pipelines -------------------------------------------------------------------------------
def as_step(target):
    """/blur?sigma=2&edge=wrap -> blur:sigma=2:edge=wrap"""
    return target.lstrip('/').replace('?', ':').replace('&', ':')


def pipeline(*targets):
    return '/pipeline?ops=' + urllib.parse.quote('|'.join(as_step(target) for target in targets), safe=':=,')


@pytest.mark.parametrize('more', ('', '&region=5,5,40,30&feather=2', '&colorspace=linear', '&format=png', '&format=jpeg&quality=70'))
@every_filter
def test_a_pipeline_of_one_is_the_endpoint(server, target, more):
    for body in (JPEG, *BODIES.values()):
        assert ask(server, pipeline(target) + more, body).content == ask(server, target + more, body).content


CHAINS = (FILTERS[:2], FILTERS[2:4], FILTERS[::-1], (FILTERS[2],) * 8, ('/pixelate?block=5', '/blur?sigma=2', '/sharpen', '/pixelate?block=2'))


@pytest.mark.parametrize('chain', CHAINS, ids=lambda chain: f'{len(chain)} steps')
def test_a_pipeline_is_its_steps_one_after_the_other(server, chain):
    for body in BODIES.values():
        one_by_one = body
        for target in chain:
            one_by_one = ask(server, target, one_by_one).content
        assert ask(server, pipeline(*chain), body).content == one_by_one


def test_a_pipeline_with_a_region_mixes_once(server):
    region = '10,10,25.2,20.3'
    inside = areas.mask(region, WIDTH, HEIGHT)[:, :, None]
    chain = pipeline('/blur?sigma=5', '/sharpen', '/pixelate?block=4')
    for name, body in BODIES.items():
        result = ask_png(server, f'{chain}&{areas.query(region)}', body, depth_of(name))
        everywhere = ask_png(server, chain, body, depth_of(name))
        assert (result == numpy.where(inside, everywhere, anatomy.read_png(body))).all()


# --- invariants ----------------------------------------------------------------------------------
@pytest.mark.parametrize('target', (
    '/blur?sigma=0.1', '/blur?sigma=2', '/blur?sigma=40&edge=wrap', '/blur?sigma=400&edge=mirror', '/blur?sigma=3&kernel_size=5',
    '/sharpen', '/sharpen?sigma=30&amount=10&edge=wrap', '/dilate?radius=4', '/median?radius=2', '/median?radius=7', '/erode?radius=25&edge=mirror', '/convolve?preset=box&size=15', '/pixelate?block=9',
    '/convolve?kernel=0,-1,0;-1,5,-1;0,-1,0&edge=mirror', '/blur?sigma=6&colorspace=linear'))
def test_a_constant_stays(server, target):
    for channels, depth in KINDS:
        if 'linear' in target and depth == 16:
            continue  # linear steps are coarser near black
        picture = numpy.empty((50, 70, channels), int)
        picture[...] = numpy.array([37, 201, 118, 90][:channels]) * (1 if depth == 8 else 211)
        assert (ask_png(server, target, pictures.png(picture, depth=depth), depth) == picture).all()


def test_pixelate_of_block_1_is_the_identity(server):
    for name, body in BODIES.items():
        picture = anatomy.read_png(body)
        result = ask_png(server, '/pixelate?block=1', body, depth_of(name))
        if filtering.has_alpha(picture):  # invisible pixels have no colour
            picture = picture * (picture[..., -1:] > 0)
        assert (result == picture).all()


@pytest.mark.parametrize('target', ('/blur?sigma=0.7', '/blur?sigma=3', '/blur?sigma=11', '/blur?sigma=90',
                                    '/convolve?kernel=1,2,3;4,5,6;7,8,9', '/convolve?preset=box&size=5'))
@pytest.mark.parametrize('depth', (8, 16))
def test_wrap_preserves_the_sum(server, target, depth):
    picture = filtering.sample_picture(256, 192, 1, depth)
    result = ask_png(server, target + '&edge=wrap', pictures.png(picture, depth=depth), depth)
    assert abs(result.mean() - picture.mean()) <= (0.02 if depth == 8 else 1)


@pytest.mark.parametrize('target', ('/blur?sigma=1.5', '/sharpen?sigma=2', '/convolve?preset=box&size=5', '/convolve?preset=laplacian'))
def test_mirrored_pictures_give_mirrored_answers(server, target):
    for channels, depth in KINDS:
        picture = filtering.sample_picture(WIDTH, HEIGHT, channels, depth)
        result = ask_png(server, target, pictures.png(picture, depth=depth), depth)
        for turn in (numpy.flipud, numpy.fliplr):
            turned = ask_png(server, target, pictures.png(turn(picture), depth=depth), depth)
            exact = depth == 8 or channels in (1, 3)  # else sums have more bits than single precision
            assert numpy.abs(turned - turn(result)).max() <= (0 if exact else 1)
