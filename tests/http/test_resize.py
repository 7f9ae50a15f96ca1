# SPDX-License-Identifier: MIT
"""/resize against float64, its sizes, what it keeps of a picture, its background, and every refusal."""

import io

import numpy
import pytest
from PIL import Image

import anatomy
import filtering
import pictures
from filtering import ask, ask_png
from problems import check_problem

KERNELS = ('lanczos3', 'mitchell', 'cubic', 'linear', 'nearest', 'area')
KINDS = [(channels, depth) for depth in (8, 16) for channels in (1, 2, 3, 4)]
of_every_kind = pytest.mark.parametrize('channels,depth', KINDS, ids=lambda value: str(value))


# --- the definition ------------------------------------------------------------------------------
def bicubic(x, b, c):
    x = numpy.abs(x)
    inner = ((12 - 9 * b - 6 * c) * x ** 3 + (-18 + 12 * b + 6 * c) * x ** 2 + (6 - 2 * b)) / 6
    outer = ((-b - 6 * c) * x ** 3 + (6 * b + 30 * c) * x ** 2 + (-12 * b - 48 * c) * x + (8 * b + 24 * c)) / 6
    return numpy.where(x < 1, inner, numpy.where(x < 2, outer, 0))


SHAPES = {'lanczos3': lambda x: numpy.where(numpy.abs(x) < 3, numpy.sinc(x) * numpy.sinc(x / 3), 0),
          'mitchell': lambda x: bicubic(x, 1 / 3, 1 / 3), 'cubic': lambda x: bicubic(x, 0, 0.5),
          'linear': lambda x: numpy.maximum(1 - numpy.abs(x), 0)}


def weights(kernel, size, count, begin=0.0, scale=None):
    """A row for each sample of the result; the samples outside count as those at the border."""
    scale = scale or size / count
    centre = (numpy.arange(count)[:, None] + 0.5) * scale + begin
    margin = int(3 * max(scale, 1)) + 2
    j = numpy.arange(-margin, size + margin)[None, :]
    if kernel == 'nearest':
        values = (j == numpy.floor(centre)).astype(float)
    elif kernel == 'area':
        values = numpy.maximum(numpy.minimum(j + 1, centre + scale / 2) - numpy.maximum(j, centre - scale / 2), 0)
    else:
        values = SHAPES[kernel]((j + 0.5 - centre) / max(scale, 1))
    values = values / values.sum(axis=1, keepdims=True)
    inside = values[:, margin:-margin].copy()
    inside[:, 0] += values[:, :margin].sum(axis=1)
    inside[:, -1] += values[:, -margin:].sum(axis=1)
    return inside


def resized(samples, rows, columns):
    return numpy.einsum('yj,jxc->yxc', rows, numpy.einsum('xi,jic->jxc', columns, samples.astype(numpy.float64)))


def wanted(picture, rows, columns, top):
    """The exact result, and where it counts: not where nothing can be seen."""
    if not filtering.has_alpha(picture):
        value = resized(picture, rows, columns)
        return numpy.clip(value, 0, top), numpy.ones(value.shape, bool)
    alpha = resized(picture[..., -1:], rows, columns)
    colour = filtering.over(resized(picture[..., :-1].astype(numpy.float64) * picture[..., -1:], rows, columns), alpha)
    seen = numpy.broadcast_to(alpha >= top / 255, colour.shape)
    value = numpy.concatenate((colour, alpha), axis=2)
    return numpy.clip(value, 0, top), numpy.concatenate((seen, numpy.ones(alpha.shape, bool)), axis=2)


def check(result, value, seen, top):
    assert result.shape == value.shape
    assert numpy.abs(result - value)[seen].max() <= (0.51 if top == 255 else 4)


@of_every_kind
@pytest.mark.parametrize('kernel', KERNELS)
def test_exact(server, kernel, channels, depth):
    top = 2 ** depth - 1
    picture = filtering.sample_picture(83, 47, channels, depth)
    for width, height in ((31, 19), (101, 20), (1, 1), (83, 90)):
        result = ask_png(server, f'/resize?width={width}&height={height}&fit=fill&enlarge=1&kernel={kernel}',
                         pictures.png(picture, depth=depth), depth)
        check(result, *wanted(picture, weights(kernel, 47, height), weights(kernel, 83, width), top), top)


@pytest.mark.parametrize('width,height', ((1, 1), (1, 37), (37, 1), (5, 3)))
def test_tiny_pictures(server, width, height):
    picture = filtering.sample_picture(width, height, 3)
    result = ask_png(server, '/resize?width=7&height=11&fit=fill&enlarge=1', pictures.png(picture))
    check(result, *wanted(picture, weights('lanczos3', height, 11), weights('lanczos3', width, 7), 255), 255)


def test_a_long_row(server):
    picture = filtering.sample_picture(32768, 1, 1)
    result = ask_png(server, '/resize?width=600&height=1&fit=fill', pictures.png(picture))
    check(result, *wanted(picture, numpy.ones((1, 1)), weights('lanczos3', 32768, 600), 255), 255)


@of_every_kind
def test_linear_light(server, channels, depth):
    top = 2 ** depth - 1
    picture = filtering.sample_picture(60, 40, channels, depth)
    result = ask_png(server, '/resize?width=23&colorspace=linear', pictures.png(picture, depth=depth), depth)
    light = picture.astype(numpy.float64)
    colours = channels - 1 if filtering.has_alpha(picture) else channels
    light[..., :colours] = 65535 * filtering.to_linear(light[..., :colours], top)
    light[..., colours:] *= 65535 / top
    value, seen = wanted(light, weights('lanczos3', 40, 15), weights('lanczos3', 60, 23), 65535)
    for sign, compare in ((-1, numpy.greater_equal), (1, numpy.less_equal)):
        bound = value + sign * 8
        bound[..., :colours] = filtering.from_linear(bound[..., :colours] / 65535, top)
        bound[..., colours:] *= top / 65535
        assert compare(result, bound + sign * top / 255)[seen].all()


def test_fine_patterns_keep_their_light(server):
    """A checkerboard becomes the grey of half its light, and without linear light the mean of its samples."""
    checker = (numpy.indices((64, 64)).sum(axis=0) % 2 * 255)[..., None].astype(numpy.int64)
    assert (ask_png(server, '/resize?width=16&kernel=area&colorspace=linear', pictures.png(checker)) == 188).all()
    assert (ask_png(server, '/resize?width=16&kernel=area', pictures.png(checker)) == 128).all()


# --- sizes ---------------------------------------------------------------------------------------
@pytest.mark.parametrize('query,size', (
    ('width=60', (60, 40)), ('height=60', (90, 60)), ('scale=0.5', (60, 40)), ('scale=0.001', (1, 1)),
    ('width=50&height=50', (50, 33)), ('width=50&height=50&fit=inside', (50, 33)), ('width=50&height=50&fit=outside', (75, 50)),
    ('width=50&height=50&fit=fill', (50, 50)), ('width=50&height=50&fit=cover', (50, 50)),
    ('width=50&height=50&fit=contain', (50, 50)), ('width=1', (1, 1)), ('width=119', (119, 79)), ('width=60&fit=cover', (60, 40)),
    # larger than the picture
    ('width=600', (120, 80)), ('scale=3', (120, 80)), ('width=600&enlarge=true', (600, 400)), ('scale=3&enlarge=true', (360, 240)),
    ('width=240&height=40&fit=fill', (120, 40)), ('width=240&height=40&fit=fill&enlarge=1', (240, 40)),
    ('width=240&height=40&fit=cover', (120, 40)), ('width=240&height=40&fit=cover&enlarge=1', (240, 40)),
    ('width=240&height=400&fit=outside', (120, 80)), ('width=240&height=400&fit=outside&enlarge=1', (600, 400)),
    ('width=240&height=400&fit=contain', (240, 400)), ('width=240&height=400&fit=inside', (120, 80))))
@pytest.mark.parametrize('make', (pictures.png, pictures.jpeg), ids=('png', 'jpeg'))
def test_sizes(server, make, query, size):
    answer = ask(server, f'/resize?{query}', make(pictures.photograph(120, 80)))
    assert Image.open(io.BytesIO(answer.content)).size == size


def test_turned_pictures_are_resized_upright(server):
    body = pictures.with_segments(pictures.jpeg(pictures.photograph(120, 80)), pictures.exif_segment(6))
    assert Image.open(io.BytesIO(ask(server, '/resize?width=40', body).content)).size == (40, 60)
    assert Image.open(io.BytesIO(ask(server, '/resize?width=60&autorotate=false', body).content)).size == (60, 40)


PLACES = {'northwest': (0, 0), 'north': (0.5, 0), 'northeast': (1, 0), 'west': (0, 0.5), 'center': (0.5, 0.5), 'east': (1, 0.5),
          'southwest': (0, 1), 'south': (0.5, 1), 'southeast': (1, 1), '0.3,0.7': (0.3, 0.7), '0,1': (0, 1), '0.05,0.5': (0.05, 0.5)}


@pytest.mark.parametrize('gravity', PLACES)
def test_cover_cuts_around_gravity(server, gravity):
    picture = filtering.sample_picture(90, 60, 3)
    for width, height in ((20, 40), (30, 10)):
        result = ask_png(server, f'/resize?width={width}&height={height}&fit=cover&gravity={gravity}', pictures.png(picture))
        scale = min(90 / width, 60 / height)
        begin = [numpy.clip(place * size - count * scale / 2, 0, size - count * scale)
                 for place, size, count in zip(PLACES[gravity], (90, 60), (width, height))]
        check(result, *wanted(picture, weights('lanczos3', 60, height, begin[1], scale),
                              weights('lanczos3', 90, width, begin[0], scale), 255), 255)


# --- the background ------------------------------------------------------------------------------
def contained(picture, box, gravity, colour):
    """The picture, as it is, at its place in the box."""
    height, width = picture.shape[:2]
    left, top = (int((side - size) * place) for side, size, place in zip(box, (width, height), gravity))
    canvas = numpy.empty((box[1], box[0], picture.shape[2]), numpy.int64)
    canvas[:] = colour
    canvas[top:top + height, left:left + width] = picture
    return canvas


@pytest.mark.parametrize('gravity', PLACES)
def test_contain_puts_the_picture_at_gravity(server, gravity):
    picture = filtering.sample_picture(30, 20, 3)
    result = ask_png(server, f'/resize?width=41&height=33&fit=contain&gravity={gravity}&background=%230102fe', pictures.png(picture))
    assert (result == contained(picture, (41, 33), PLACES[gravity], (1, 2, 254))).all()


@of_every_kind
@pytest.mark.parametrize('colorspace', ('native', 'linear'))
@pytest.mark.parametrize('background,rgba', (('', (0, 0, 0, 255)), ('%23ffffff', (255, 255, 255, 255)), ('c0ff33', (192, 255, 51, 255)),
                                             ('%23C0FF3380', (192, 255, 51, 128)), ('00000000', (0, 0, 0, 0))))
def test_background_of_every_kind(server, background, rgba, colorspace, channels, depth):
    picture = filtering.sample_picture(30, 20, channels, depth)
    query = f'&background={background}' if background else ''
    result = ask_png(server, f'/resize?width=40&height=30&fit=contain&colorspace={colorspace}{query}', pictures.png(picture, depth=depth), depth)
    step = 1 if depth == 8 else 257
    luma = int(0.299 * rgba[0] * step + 0.587 * rgba[1] * step + 0.114 * rgba[2] * step + 0.5)
    colour = {1: [luma], 2: [luma, rgba[3] * step], 3: [c * step for c in rgba[:3]], 4: [c * step for c in rgba]}[channels]
    error = numpy.abs(result[:4] - colour)
    assert error.max() <= (6 if depth == 16 and colorspace == 'linear' else 0)  # the steps of linear light


@pytest.mark.parametrize('colorspace', ('native', 'linear'))
@pytest.mark.parametrize('channels,adjusted,wanted', ((4, 'grayscale=true', (195, 128)), (1, 'duotone=000,fff', (128, 255, 64))))
def test_background_behind_another_colour_model(server, channels, adjusted, wanted, colorspace):
    steps = f'adjust:{adjusted}|resize:width=40:height=60:fit=contain:background=80ff4080'
    body = pictures.png(filtering.sample_picture(40, 30, channels, 8))
    result = ask_png(server, f'/pipeline?colorspace={colorspace}&ops={steps}', body)
    assert (result[:10] == wanted).all()


# --- the blurred background ----------------------------------------------------------------------
@of_every_kind
@pytest.mark.parametrize('box,how', (((60, 60), ''), ((90, 30), '&gravity=west'), ((33, 81), '&kernel=area&enlarge=true')))
def test_blurred_background(server, box, how, channels, depth):
    """The bytes of a picture that covers the box and is blurred, under the picture in the box."""
    body = pictures.png(filtering.sample_picture(50, 36, channels, depth), depth=depth)
    size = f'width={box[0]}&height={box[1]}{how}'
    result = ask_png(server, f'/resize?{size}&fit=contain&background=blur:4', body, depth)
    steps = f'resize:{size}:fit=cover:enlarge=true|blur:sigma=4'.replace('&enlarge=true', '').replace('&', ':')
    expected = ask_png(server, '/pipeline?ops=' + steps, body, depth)
    picture = ask_png(server, f'/resize?{size}&fit=inside', body, depth)
    height, width = picture.shape[:2]
    left, top = 0 if 'west' in how else (box[0] - width) // 2, (box[1] - height) // 2
    expected[top:top + height, left:left + width] = picture
    assert (result == expected).all()


def test_blurred_background_of_a_jpeg(server):
    """Near the middle of its sides the background has the colours of the picture there."""
    body = pictures.jpeg(pictures.photograph(160, 90), subsampling='420')
    answer = ask(server, '/resize?width=128&height=128&fit=contain&background=blur:6&quality=95', body)
    assert anatomy.subsampling(answer.content) == anatomy.subsampling(body) and anatomy.pixels(answer.content).shape == (128, 128, 3)
    assert answer.content == ask(server, '/pipeline?ops=resize:width=128:height=128:fit=contain:background=blur,6&quality=95', body).content
    top = anatomy.pixels(answer.content)[:20].astype(int)
    assert top.std() > 3 and top.mean() > 20  # neither one colour nor black


@pytest.mark.parametrize('box', ((200, 160), (101, 161), (160, 83)))
@pytest.mark.parametrize('subsampling', ('444', '422', '420', 'gray'))
def test_background_of_a_jpeg(server, subsampling, box):
    pixels = pictures.photograph(80, 50, 1 if subsampling == 'gray' else 3)
    body = pictures.jpeg(pixels) if subsampling == 'gray' else pictures.jpeg(pixels, subsampling=subsampling)
    answer = ask(server, f'/resize?width={box[0]}&height={box[1]}&fit=contain&background=%23d04020&quality=95', body)
    result = anatomy.pixels(answer.content).astype(int)
    colour = (105,) if subsampling == 'gray' else (208, 64, 32)
    for bar in (result[:3], result[-3:]):  # in MCUs of their own
        assert numpy.abs(bar.reshape(-1, len(colour)) - colour).max() <= 4


# --- files ---------------------------------------------------------------------------------------
@pytest.mark.parametrize('subsampling', ('444', '422', '420'))
def test_a_jpeg_keeps_its_subsampling(server, subsampling):
    body = pictures.jpeg(pictures.photograph(97, 61), subsampling=subsampling)
    answer = ask(server, '/resize?width=41&quality=100', body)
    assert anatomy.subsampling(answer.content) == anatomy.subsampling(body)
    before, after = (numpy.asarray(Image.open(io.BytesIO(data)).convert('L'))[..., None] for data in (body, answer.content))
    exact, _ = wanted(before, weights('lanczos3', 61, 26), weights('lanczos3', 97, 41), 255)
    assert numpy.abs(after - exact).mean() <= 1.5 and numpy.abs((after - exact).mean()) <= 0.2


def test_planes_and_pixels_agree(server):
    """No shift of chroma: the planes as stored against RGB, at odd sizes."""
    y, x, c = numpy.indices((203, 301, 3))
    smooth = (128 + 100 * numpy.sin(x / (7 + 3 * c) + c) * numpy.cos(y / (11 - 2 * c))).astype(numpy.uint8)
    body = pictures.jpeg(smooth, subsampling='420', quality=98)
    planes, pixels = (anatomy.pixels(ask(server, f'/resize?width=151&quality=98&colorspace={space}', body).content).astype(int)
                      for space in ('native', 'rgb'))
    assert planes.shape == pixels.shape and numpy.abs(planes - pixels).mean() <= 1.5


def test_other_formats(server):
    answer = ask(server, '/resize?width=50&format=png', pictures.jpeg(pictures.photograph(100, 70)))
    assert anatomy.png_header(answer.content)[:2] == (50, 35)


# --- steps ---------------------------------------------------------------------------------------
def test_in_a_pipeline(server):
    body = pictures.png(filtering.sample_picture(90, 60, 3))
    alone = ask(server, '/blur?sigma=2', ask(server, '/resize?width=37', body).content).content
    assert (anatomy.read_png(ask(server, '/pipeline?ops=resize:width=37|blur:sigma=2', body).content) == anatomy.read_png(alone)).all()
    twice = ask_png(server, '/pipeline?ops=resize:width=45:kernel=area|resize:width=90:kernel=nearest:enlarge=true', body)
    assert twice.shape == (60, 90, 3) and (twice[::2, ::2] == twice[1::2, 1::2]).all()


def test_one_size_changes_nothing(server):
    picture = filtering.sample_picture(50, 40, 4)
    picture[..., 3] |= 1
    for query in ('scale=1', 'width=50', 'width=500', 'width=50&height=40&fit=cover', 'width=50&height=40&fit=fill&kernel=cubic'):
        assert (ask_png(server, f'/resize?{query}', pictures.png(picture)) == picture).all()


def test_redaction_comes_first(server):
    """Nothing of the region is left in its surroundings, where the kernel reaches into it."""
    picture = numpy.full((64, 64, 3), 40, numpy.int64)
    other = picture.copy()
    other[20:40, 20:40] = filtering.sample_picture(20, 20, 3)
    other[20:40, 20:40] += 40 - other[20:40, 20:40].mean(axis=(0, 1), keepdims=True).astype(int)
    answer = ask_png(server, '/resize?width=16&mode=redact&region=20,20,20,20', pictures.png(numpy.clip(other, 0, 255)))
    assert numpy.abs(answer - 40).max() <= 20  # a redacted colour has few bits; what was there differs by far more


# --- refusals ------------------------------------------------------------------------------------
@pytest.mark.parametrize('query,parameter,says', (
    ('', 'width', 'resize needs width, height or scale'), ('fit=cover', 'width', 'resize needs'),
    ('width=10&scale=0.5', 'scale', 'scale and width are given'), ('height=10&scale=2', 'scale', 'scale and height are given'),
    ('width=0', 'width', 'from 1 to 65535 pixels'), ('width=65536', 'width', 'from 1 to 65535'), ('width=1.5', 'width', 'a whole number'),
    ('width=-4', 'width', 'from 1'), ('height=0', 'height', 'from 1 to 65535 pixels'), ('height=x', 'height', 'x'),
    ('scale=0', 'scale', 'from 0.001 to 100'), ('scale=101', 'scale', 'from 0.001 to 100'), ('scale=nan', 'scale', 'nan'),
    ('width=9&fit=crop', 'fit', 'it must be inside, contain, cover, fill or outside'),
    ('width=9&kernel=sinc', 'kernel', 'it must be lanczos3, mitchell, cubic, linear, nearest or area'),
    ('width=9&gravity=up', 'gravity', 'it must be center, north'), ('width=9&gravity=0.5', 'gravity', 'x,y'),
    ('width=9&gravity=0.5,1.1', 'gravity', 'from 0 to 1'), ('width=9&gravity=-0.1,0', 'gravity', 'from 0 to 1'),
    ('width=9&gravity=0.5,', 'gravity', 'x,y'), ('width=9&gravity=,', 'gravity', 'x,y'), ('width=9&gravity=', 'gravity', 'empty'),
    ('width=9&gravity=0.5,0.5,0.5', 'gravity', 'x,y'), ('width=9&enlarge=yes', 'enlarge', 'false'),
    ('width=9&background=red', 'background', '#rrggbb'), ('width=9&background=%23fffff', 'background', '#rrggbb'),
    ('width=9&background=%23ggffff', 'background', '#rrggbb'), ('width=9&background=%2300112233445', 'background', '#rrggbb'),
    ('width=9&background=blur', 'background', 'or blur:sigma'), ('width=9&background=blur,', 'background', 'from 0.1 to 500'),
    ('width=9&background=blur,0', 'background', 'from 0.1 to 500'), ('width=9&background=blur,501', 'background', 'from 0.1 to 500 pixels'),
    ('width=9&background=blur,x', 'background', 'sigma x'), ('width=9&background=', 'background', 'empty'), ('width=9&background=%23+1+2+3', 'background', '#rrggbb')))
def test_refusals(server, query, parameter, says):
    for target in (f'/resize?{query}', '/pipeline?ops=resize:' + query.replace('&', ':') if query else '/pipeline?ops=resize'):
        problem = check_problem(server.post(target, pictures.small_png()), 'bad-parameter', None if 'ops' in target else parameter, says) \
            if 'ops' not in target else server.post(target, pictures.small_png()).json()
        assert says in problem['detail']


@pytest.mark.parametrize('query', ('width=65535&height=65535&fit=fill&enlarge=1', 'scale=100&enlarge=1', 'width=40000&enlarge=1',
                                   'width=30000&height=30000&fit=contain', 'width=65535&enlarge=true'))
def test_large_results_are_refused(server, query):
    body = pictures.png(pictures.photograph(400, 4))
    if query.startswith('scale'):
        body = pictures.png(pictures.photograph(4000, 4))
    problem = check_problem(server.post(f'/resize?{query}', body), 'limit-exceeded')
    assert 'resize makes a picture of' in problem['detail']


def test_too_many_pixels_for_a_side(server):
    problem = check_problem(server.post('/resize?width=65535&enlarge=1', pictures.png(pictures.photograph(1, 30))), 'limit-exceeded')
    assert 'a side has at most 65535' in problem['detail']
