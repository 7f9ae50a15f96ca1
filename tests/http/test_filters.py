# SPDX-License-Identifier: MIT
"""Every filter against scipy and numpy in float64 (filtering.py), PNG in and PNG out; then the
same requests on both backends, whose bytes must be equal."""

import io
import os
import pathlib

import numpy
import pytest
from PIL import Image

import daemon
import fake_gpu
import filtering
import pictures
from filtering import ask, ask_png

CORPUS = pathlib.Path(os.environ.get('CORPUS') or daemon.ROOT.parent / 'shared/corpus')
PHOTOS = [path for name in ('chelsea_451x300_rgb_icc.png', 'grass_512x512_gray.png', 'tulips_500x500_rgba_icc.png',
                            'scooter_320x240_420.jpg', 'sign_730x547_422_gps.jpg')
          if (path := CORPUS / 'photos' / name).exists()]
KINDS = [(channels, depth) for depth in (8, 16) for channels in (1, 2, 3, 4)]
EDGES = ('clamp', 'mirror', 'wrap', 'zero')
of_every_kind = pytest.mark.parametrize('channels,depth', KINDS, ids=lambda value: str(value))

RANDOM = numpy.random.default_rng(4)
MATRICES = {
    'whole 3x3': RANDOM.integers(-9, 10, (3, 3)),
    'real 5x5': RANDOM.uniform(-1, 1, (5, 5)).round(3),
    'wide 3x7': RANDOM.uniform(-0.2, 1, (3, 7)).round(4),
    'tall 9x1': RANDOM.integers(0, 9, (9, 1)),
    'one 1x1': numpy.array([[3]]),
    'mean 15x15': RANDOM.uniform(0, 1, (15, 15)).round(2),
    'separable whole': numpy.outer([1, 4, 6, 4, 1], [1, 2, 0, -2, -1]),
    'separable real': numpy.outer([0.25, 0.5, 0.25], [0.1, 0.2, 0.4, 0.2, 0.1]).round(6),
    'not quite separable': numpy.outer([1, 2, 1], [1, 2, 1]) + numpy.eye(3, dtype=int),
    'negative': -RANDOM.integers(1, 9, (3, 3)),
    'sparse 7x7': numpy.where(RANDOM.uniform(0, 1, (7, 7)) < 0.2, 1.5, 0),
}
PRESETS = {
    'edge': [[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]],
    'emboss': [[-2, -1, 0], [-1, 1, 1], [0, 1, 2]],
    'laplacian': [[0, 1, 0], [1, -4, 1], [0, 1, 0]],
    'sobel-x': [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]],
    'sobel-y': [[-1, -2, -1], [0, 0, 0], [1, 2, 1]],
    'box': [[1, 1, 1]] * 3,
    'box&size=7': [[1] * 7] * 7,
}


def top_of(depth):
    return 2 ** depth - 1


def check_convolve(server, picture, depth, query, matrix, **how):
    result = ask_png(server, '/convolve?' + query, pictures.png(picture, depth=depth), depth)
    filtering.check(result, filtering.convolve(picture, numpy.array(matrix, float), top=top_of(depth), **how), top_of(depth))


def check_sharpen(server, picture, depth, edge='clamp', **how):
    query = '&'.join(f'{name}={value}' for name, value in how.items())
    result = ask_png(server, f'/sharpen?edge={edge}&{query}', pictures.png(picture, depth=depth), depth)
    filtering.check(result, filtering.sharpen(picture, edge=edge, top=top_of(depth), **how), top_of(depth))


# --- convolve ----------------------------------------------------------------------------
@of_every_kind
@pytest.mark.parametrize('name', ('whole 3x3', 'real 5x5', 'mean 15x15', 'separable whole', 'separable real'))
def test_convolve(server, name, channels, depth):
    picture = filtering.sample_picture(67, 41, channels, depth)
    matrix = MATRICES[name]
    check_convolve(server, picture, depth, f'kernel={filtering.as_rows(matrix)}', matrix)


@pytest.mark.parametrize('name', MATRICES)
@pytest.mark.parametrize('edge', (*EDGES, 'frame'))
def test_matrices_and_edges(server, name, edge):
    matrix = MATRICES[name]
    for channels in (3, 4):
        picture = filtering.sample_picture(53, 38, channels)
        check_convolve(server, picture, 8, f'edge={edge}&kernel={filtering.as_rows(matrix)}', matrix, edge=edge)


@pytest.mark.parametrize('name', PRESETS)
def test_presets(server, name):
    for channels, depth in KINDS:
        picture = filtering.sample_picture(45, 33, channels, depth)
        check_convolve(server, picture, depth, f'preset={name}', PRESETS[name])


@pytest.mark.parametrize('divisor,bias', ((3, 0), (-3, 0), (0.5, 10), (None, 128), (7, -20.5), (1000, 255)))
def test_divisor_and_bias(server, divisor, bias):
    matrix = MATRICES['whole 3x3']
    query = f'kernel={filtering.as_rows(matrix)}&bias={bias}' + (f'&divisor={divisor}' if divisor else '')
    for channels, depth in KINDS:
        picture = filtering.sample_picture(37, 29, channels, depth)
        check_convolve(server, picture, depth, query, matrix, divisor=divisor, bias=bias)


@pytest.mark.parametrize('size', ((1, 1), (1, 9), (9, 1), (2, 3), (8, 7)))
@pytest.mark.parametrize('edge', (*EDGES, 'frame'))
def test_convolve_pictures_smaller_than_the_matrix(server, size, edge):
    picture = pictures.noise(*size).astype(int)
    for name in ('mean 15x15', 'whole 3x3', 'separable real'):
        matrix = MATRICES[name]
        check_convolve(server, picture, 8, f'edge={edge}&kernel={filtering.as_rows(matrix)}', matrix, edge=edge)


def test_the_matrix_is_taken_as_written(server):
    """Correlation: an impulse shows the matrix turned by half."""
    picture = numpy.zeros((9, 9, 1), int)
    picture[4, 4] = 1
    result = ask_png(server, '/convolve?kernel=1,2,3;4,5,6;7,8,9&divisor=1&edge=zero', pictures.png(picture))
    assert result[3:6, 3:6, 0].tolist() == [[9, 8, 7], [6, 5, 4], [3, 2, 1]]
    assert result.sum() == 45


@pytest.mark.parametrize('channels', (1, 3))
@pytest.mark.parametrize('corner', ((10, 8), (0, 0)), ids=('inside', 'at the border'))
def test_the_textbook_edge_filter_on_a_white_square(server, channels, corner):
    picture = numpy.zeros((40, 50, channels), int)
    top, left = corner
    picture[top:top + 20, left:left + 25] = 255
    wanted = numpy.zeros_like(picture)
    for y in range(1, 39):
        for x in range(1, 49):
            around = picture[y - 1:y + 2, x - 1:x + 2].sum((0, 1))
            wanted[y, x] = numpy.clip(9 * picture[y, x] - around, 0, 255)
    result = ask_png(server, '/convolve?preset=edge&edge=frame', pictures.png(picture))
    assert (result == wanted).all()
    assert result.any() and not result[0].any() and not result[:, -1].any(), 'no frame of zeros'


# --- sharpen -----------------------------------------------------------------------------
@of_every_kind
@pytest.mark.parametrize('sigma', (0.6, 2, 9, 30))
def test_sharpen(server, sigma, channels, depth):
    check_sharpen(server, filtering.sample_picture(71, 52, channels, depth, seed=5), depth, sigma=sigma, amount=0.8)


@pytest.mark.parametrize('edge', EDGES)
@pytest.mark.parametrize('sigma', (1, 12))
def test_sharpen_edges(server, sigma, edge):
    for channels in (3, 4):
        check_sharpen(server, filtering.sample_picture(61, 43, channels), 8, edge, sigma=sigma, amount=1.5)


@pytest.mark.parametrize('amount', (0, 0.25, 1, 10))
@pytest.mark.parametrize('threshold', (0, 3, 40.5, 255))
def test_amount_and_threshold(server, amount, threshold):
    for channels, depth in ((3, 8), (1, 16), (4, 8)):
        check_sharpen(server, filtering.sample_picture(59, 40, channels, depth), depth,
                      sigma=1.5, amount=amount, threshold=threshold)


def test_sharpen_without_parameters(server):
    picture = filtering.sample_picture(60, 50, 3)
    result = ask_png(server, '/sharpen', pictures.png(picture))
    filtering.check(result, filtering.sharpen(picture, 1, 1), 255)


# --- pixelate ----------------------------------------------------------------------------
@of_every_kind
@pytest.mark.parametrize('block', (2, 3, 8, 16, 25, 61, 4096))
def test_pixelate(server, block, channels, depth):
    for size in ((61, 47), (64, 48)):
        picture = filtering.sample_picture(*size, channels, depth)
        result = ask_png(server, f'/pixelate?block={block}', pictures.png(picture, depth=depth), depth)
        assert (result == filtering.pixelate(picture, block)).all()


@pytest.mark.parametrize('size', ((1, 1), (1, 40), (40, 1), (17, 16), (15, 33)))
def test_pixelate_small_pictures(server, size):
    picture = pictures.noise(*size, 4).astype(int)
    for block in (1, 2, 16):
        result = ask_png(server, f'/pixelate?block={block}', pictures.png(picture))
        assert (result == filtering.pixelate(picture, block)).all()


# --- stats -------------------------------------------------------------------------------
@of_every_kind
@pytest.mark.parametrize('size', ((1, 1), (61, 47), (300, 211)))
def test_stats(server, size, channels, depth):
    picture = filtering.sample_picture(*size, channels, depth)
    answer = ask(server, '/stats', pictures.png(picture, depth=depth))
    assert answer.headers['Content-Type'] == 'application/json'
    filtering.check_stats(answer.json(), picture, depth)


def test_stats_of_a_jpeg_are_those_of_its_pixels(server):
    body = pictures.jpeg(pictures.photograph(120, 90), subsampling='420')
    picture = ask_png(server, '/pixelate?block=1&format=png', body)
    filtering.check_stats(ask(server, '/stats', body).json(), picture)


@pytest.mark.parametrize('value', (0, 65535))
def test_stats_of_one_tone(server, value):
    picture = numpy.full((200, 300, 3), value)
    page = ask(server, '/stats', pictures.png(picture, depth=16)).json()
    filtering.check_stats(page, picture, 16)
    assert all(channel['standard_deviation'] == 0 for channel in page['channels'])


# --- halos -------------------------------------------------------------------------------
@pytest.mark.parametrize('target', (
    '/sharpen?sigma=2', '/sharpen?sigma=9&amount=5', '/pixelate?block=24', '/pixelate?block=7', '/convolve?preset=box&size=9',
    '/convolve?kernel=0,-1,0;-1,5,-1;0,-1,0', '/pipeline?ops=blur:sigma=3|sharpen:amount=2|convolve:preset=box|pixelate:block=5'))
def test_no_halo(server, target):
    result = ask_png(server, target, pictures.png(pictures.halves(64, 20)))
    seen = result[result[..., 3] > 0]
    assert (seen[:, 0] >= 254).all() and (seen[:, 1:3] <= 1).all(), 'the invisible green shows'


# --- real photographs --------------------------------------------------------------------
def cropped(path):
    """The upper left of a photograph, as the file it is."""
    if path.suffix == '.jpg':
        return path.read_bytes()
    with Image.open(path) as photo:
        piece = io.BytesIO()
        photo.crop((0, 0, min(photo.width, 333), min(photo.height, 250))).save(piece, 'PNG')
    return piece.getvalue()


@pytest.mark.skipif(not PHOTOS, reason='../shared/corpus/photos is absent')
@pytest.mark.parametrize('path', PHOTOS, ids=[path.stem for path in PHOTOS])
def test_real_photograph(server, path):
    body = cropped(path)
    picture = ask_png(server, '/pixelate?block=1&format=png', body)  # the daemon's own decoding

    def ask_for(target):
        return ask_png(server, target + '&format=png', body)

    for name in ('real 5x5', 'separable real', 'whole 3x3'):
        wanted = filtering.convolve(picture, numpy.array(MATRICES[name], float), edge='mirror')
        filtering.check(ask_for(f'/convolve?edge=mirror&kernel={filtering.as_rows(MATRICES[name])}'), wanted, 255)
    for sigma, amount, threshold in ((0.8, 0.5, 0), (4, 2, 5)):
        wanted = filtering.sharpen(picture, sigma, amount, threshold)
        filtering.check(ask_for(f'/sharpen?sigma={sigma}&amount={amount}&threshold={threshold}'), wanted, 255)
    for block in (7, 16):
        assert (ask_for(f'/pixelate?block={block}') == filtering.pixelate(picture, block)).all()
    filtering.check_stats(ask(server, '/stats', body).json(), picture)


# --- both backends -----------------------------------------------------------------------
TARGETS = (
    '/sharpen?sigma=0.7', '/sharpen?sigma=3&amount=2&threshold=4', '/sharpen?sigma=20&edge=mirror',
    '/convolve?preset=edge&edge=frame', '/convolve?preset=emboss&bias=128&edge=wrap', '/convolve?preset=box&size=15&edge=zero',
    f'/convolve?kernel={filtering.as_rows(MATRICES["real 5x5"])}', f'/convolve?kernel={filtering.as_rows(MATRICES["wide 3x7"])}&edge=mirror',
    '/pixelate?block=7', '/pixelate?block=16', '/median?radius=2', '/median?radius=5&edge=mirror', '/dilate?radius=2', '/erode?radius=9&edge=wrap', '/stats', '/stats?region=10,10,30,20',
    '/adjust?saturation=2&gamma=1.5', '/adjust?grayscale=true', '/adjust?sepia=1&region=10,10,30,20&feather=3', '/adjust?negate=1&contrast=1.3',
    '/adjust?duotone=102030,ffeecc&colorspace=linear', '/resize?width=50&height=90&fit=contain&background=blur:4', '/placeholder',
    '/pipeline?ops=blur:sigma=2|sharpen:amount=0.5|convolve:preset=box|pixelate:block=4',
    '/blur?sigma=3&region=10,10,30,20&region=ellipse:20,15,40,30', '/sharpen?region=polygon:5,5,50,10,30,40&feather=3',
    '/pixelate?block=6&region=10%25,10%25,50%25,50%25&invert=true', '/blur?sigma=4&colorspace=linear',
    '/blur?sigma=4&mode=redact&region=10,10,30,20', '/pixelate?block=8&mode=redact&region=ellipse:10,10,30,20',
    '/pipeline?ops=pixelate:block=5|blur:sigma=9&region=3,3,40,40&feather=2&colorspace=linear',
)
BODIES = {
    **{f'{channels} x {depth}': pictures.png(filtering.sample_picture(67, 45, channels, depth), depth=depth)
       for channels, depth in KINDS},
    'jpeg 420': pictures.jpeg(pictures.photograph(67, 45), subsampling='420'),
    'jpeg gray': pictures.jpeg(pictures.photograph(67, 45, 1)),
}
gpu_has_filters = pytest.mark.skipif(not (daemon.ROOT / 'filters/pixelate/gpu/pixelate.cu').exists(), reason='the GPU does blurs only')


@pytest.fixture(scope='module')
def gpu():
    with daemon.Daemon(*fake_gpu.options(), environment=fake_gpu.settings()) as own:
        fake_gpu.await_state(own, 'serving')
        yield own


@fake_gpu.needed
@gpu_has_filters
@pytest.mark.parametrize('target', TARGETS)
def test_the_gpu_makes_the_bytes_of_the_cpu(gpu, cpu, target):
    for name, body in BODIES.items():
        wanted, answer = ask(cpu, target, body), ask(gpu, target, body)
        assert wanted.headers['X-Backend'].startswith('cpu/')
        assert answer.headers['X-Backend'] == 'cuda:0', f'{name}\n' + '\n'.join(gpu.lines[-20:])
        assert answer.content == wanted.content, name


@fake_gpu.needed
@gpu_has_filters
@pytest.mark.parametrize('size', ((1, 1), (1, 70), (70, 1), (2, 3), (129, 17)))
def test_the_gpu_with_other_sizes(gpu, cpu, size):
    for channels, depth in ((1, 8), (3, 8), (4, 8), (2, 16), (3, 16)):
        body = pictures.png(filtering.sample_picture(*size, channels, depth), depth=depth)
        for target in TARGETS:
            if 'mode=redact' in target:
                continue  # refuses regions off the picture
            answer = ask(gpu, target, body)
            assert answer.headers['X-Backend'] == 'cuda:0'
            assert answer.content == ask(cpu, target, body).content, (target, channels, depth)


@pytest.mark.parametrize('level', ('baseline', 'avx2', 'avx512'))
def test_every_instruction_set_gives_the_same_bytes(cpu, start, level):
    with open('/proc/cpuinfo', encoding='ascii') as info:
        if level != 'baseline' and level not in info.read().replace('avx512bw', 'avx512'):
            pytest.skip(f'this processor has no {level}')
    other = start('--gpus', 'none', '--cpu-level', level)
    for target in TARGETS:
        for name, body in BODIES.items():
            assert ask(other, target, body).content == ask(cpu, target, body).content, (target, name)
