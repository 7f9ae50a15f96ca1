# SPDX-License-Identifier: MIT
"""JPEG to JPEG by a fake GPU: its files are the CPU's to the byte."""

import concurrent.futures
import os
import random

import numpy
import pytest
import requests

import anatomy
import daemon
import fake_gpu
import pictures
import wire
from fake_jpeg import BY_GPU, MEDIUM, OTHER, PHOTO, PLACES, ask, await_places, jpeg_options, launch_jpeg, places
from problems import check_problem
from test_lossless_jpeg import lossless
from test_multipart import form
from test_orientation import marked, says_upright

pytestmark = fake_gpu.needed


def form_440(width=52, height=39):
    """Pillow does not write it: one in 4:2:2 of as many blocks, with the factors exchanged. It looks odd."""
    body = bytearray(pictures.jpeg(pictures.photograph(height, width), subsampling='422'))
    at = body.index(b'\xff\xc0')
    body[at + 5:at + 9] = height.to_bytes(2, 'big') + width.to_bytes(2, 'big')
    body[at + 11] = 0x12
    return bytes(body)


@pytest.fixture(scope='module')
def gpu():
    with daemon.Daemon(*jpeg_options(), environment=fake_gpu.settings()) as own:
        await_places(own)
        yield own


# --- on the GPU ----------------------------------------------------------------------------
TARGETS = ('/adjust?negate=true', '/adjust?grayscale=true', '/adjust?grayscale=1&contrast=1.5', '/blur?sigma=2', '/blur?sigma=0.1',
           '/blur?sigma=9&edge=wrap', '/blur?kernel_size=5', '/pixelate?block=16',
           '/blur?quality=30', '/blur?quality=100', '/blur?quality=1', '/blur?backend=auto', '/blur?format=jpeg',
           '/pipeline?ops=blur:sigma=2|pixelate:block=16|blur:sigma=1', '/resize?width=31',
           '/resize?width=48&height=64&fit=contain&background=blur:3',
           '/resize?width=40&height=40&fit=cover&gravity=north&kernel=area', '/resize?scale=1.7&enlarge=true',
           '/pipeline?ops=blur|resize:width=30|blur:sigma=1')
GRAY_TARGETS = ('/adjust?gamma=2&brightness=1.2', '/sharpen?amount=2', '/pixelate?block=5', '/convolve?preset=edge',
                '/pipeline?ops=blur|sharpen|pixelate:block=3')
SHAPES = {'gray': lambda w, h: pictures.jpeg(pictures.photograph(w, h, 1)), '440': lambda w, h: form_440(w, h),
          **{s: lambda w, h, s=s: pictures.jpeg(pictures.photograph(w, h), subsampling=s) for s in ('420', '422', '444')}}
SIZES = ((64, 48), (63, 47), (17, 65), (8, 8))
if daemon.SANITIZED:  # the kernels take seconds then
    TARGETS, SIZES = TARGETS[::3], SIZES[1:3]


@pytest.mark.parametrize('shape', SHAPES)
@pytest.mark.parametrize('size', SIZES, ids=str)
def test_shapes(gpu, cpu, shape, size):
    body = SHAPES[shape](*size)
    name, result = ask(gpu, body)
    assert name == BY_GPU
    assert result == ask(cpu, body)[1]


@pytest.mark.parametrize('size', ((1, 1), (2, 3), (7, 300), (300, 7)), ids=str)
def test_narrow_ones(gpu, cpu, size):
    """The bytes are equal, on the GPU or the CPU."""
    for shape, make in SHAPES.items():
        if shape != '440':
            body = make(*size)
            assert ask(gpu, body)[1] == ask(cpu, body)[1]


@pytest.mark.parametrize('target', TARGETS)
def test_filters(gpu, cpu, target):
    name, result = ask(gpu, PHOTO, target)
    assert name == BY_GPU
    assert result == ask(cpu, PHOTO, target)[1]


@pytest.mark.parametrize('shape', SHAPES)
@pytest.mark.parametrize('quality', (1, 40, 85, 100))
def test_tables_of_the_picture(gpu, cpu, shape, quality):
    for size in SIZES:
        body, target = SHAPES[shape](*size), f'/blur?sigma=0.4&quality={quality}'
        name, result = ask(gpu, body, target + '&huffman=optimal')
        assert name == BY_GPU and result == ask(cpu, body, target + '&huffman=optimal')[1]
        assert len(result) < len(ask(cpu, body, target + '&huffman=standard')[1])


@pytest.mark.parametrize('target', GRAY_TARGETS)
def test_filters_of_gray(gpu, cpu, target):
    """Its only plane is one that filters take."""
    body = SHAPES['gray'](61, 43)
    name, result = ask(gpu, body, target)
    assert name == BY_GPU
    assert result == ask(cpu, body, target)[1]


def test_411(gpu, cpu):
    """By its factors: another picture, but a whole file of as many blocks."""
    body = bytearray(PHOTO)
    body[body.index(b'\xff\xc0') + 11] = 0x41
    assert ask(gpu, bytes(body)) == (BY_GPU, ask(cpu, bytes(body))[1])


def test_standard_tables(gpu, cpu):
    for body in (PHOTO, SHAPES['gray'](61, 43)):
        name, result = ask(gpu, body, '/blur?sigma=2&huffman=standard')
        assert name == BY_GPU
        assert result == ask(cpu, body, '/blur?sigma=2&huffman=standard')[1]
        assert len(result) > len(ask(gpu, body, '/blur?sigma=2')[1])


def test_restart_markers(gpu, cpu):
    body = pictures.mosaic_jpeg(numpy.arange(48).reshape(6, 8) * 5, interval=5)
    assert b'\xff\xdd' in body
    name, result = ask(gpu, body)
    assert name == BY_GPU
    assert result == ask(cpu, body)[1]


# --- orientation and metadata ------------------------------------------------------------------
@pytest.mark.parametrize('orientation', range(1, 9))
@pytest.mark.parametrize('query', ('', '&autorotate=false'))
def test_orientation(gpu, cpu, orientation, query):
    body = marked(pictures.photograph(64, 48), orientation, subsampling='420')
    name, result = ask(gpu, body, '/blur?sigma=2' + query)
    assert name == BY_GPU
    assert result == ask(cpu, body, '/blur?sigma=2' + query)[1]
    assert says_upright(result)  # strip


@pytest.mark.parametrize('orientation', range(1, 9))
@pytest.mark.parametrize('subsampling', ('420', '422'))
def test_orientation_of_odd_sizes(gpu, cpu, orientation, subsampling):
    """If the grid of the chroma would shift, the way goes over RGB."""
    body = marked(pictures.photograph(63, 47), orientation, subsampling=subsampling)
    assert ask(gpu, body) == (BY_GPU, ask(cpu, body)[1])


@pytest.mark.parametrize('orientation', (1, 3, 6))
@pytest.mark.parametrize('query', ('', '&metadata=keep', '&metadata=strip', '&metadata=keep&autorotate=false'))
def test_metadata(gpu, cpu, orientation, query):
    body = marked(pictures.photograph(64, 48), orientation, subsampling='420')
    name, result = ask(gpu, body, '/blur?sigma=2' + query)
    wanted = ask(cpu, body, '/blur?sigma=2' + query)[1]
    assert name == BY_GPU and result == wanted
    assert (pictures.CANARY in result) == ('keep' in query)
    assert anatomy.icc_of(result) == pictures.icc()


def test_metadata_of_all_sizes(gpu, cpu):
    """Profiles of several segments, more than a segment's worth of text."""
    profile = os.urandom(150000)
    parts = [profile[i:i + 60000] for i in range(0, len(profile), 60000)]
    segments = [(0xE2, b'ICC_PROFILE\0' + bytes([i + 1, len(parts)]) + part) for i, part in enumerate(parts)]
    body = pictures.with_segments(PHOTO, *segments, (0xFE, b'c' * 65533), pictures.exif_segment(1), (0xED, b'Photoshop'))
    for query in ('&metadata=keep', ''):
        name, result = ask(gpu, body, '/blur?sigma=2' + query)
        assert name == BY_GPU and result == ask(cpu, body, '/blur?sigma=2' + query)[1]


# --- on the CPU -------------------------------------------------------------------------------
def cmyk():
    return pictures.jpeg(pictures.photograph(40, 32, 4))


NOT_THEIRS = {
    'PNG': (pictures.small_png, '/blur?sigma=2'), 'PNG to JPEG': (pictures.small_png, '/blur?format=jpeg'),
    'to PNG': (lambda: PHOTO, '/blur?format=png'), 'progressive out': (lambda: PHOTO, '/blur?progressive=true'), 'CMYK': (cmyk, '/blur?sigma=2'),
    'linear, to grey': (lambda: PHOTO, '/adjust?grayscale=true&colorspace=linear'),
    'linear, grey': (lambda: SHAPES['gray'](40, 30), '/blur?colorspace=linear'), 'stats': (lambda: PHOTO, '/stats'),
    'placeholder': (lambda: PHOTO, '/placeholder'),
    'backend': (lambda: PHOTO, '/blur?backend=cpu'),
    'regions in RGB': (lambda: PHOTO, '/sharpen?region=8,8,16,16'),
    'redaction in RGB': (lambda: PHOTO, '/pixelate?block=5&mode=redact&region=8,8,16,16'),
    'SOF3': (lambda: lossless(pictures.photograph(40, 32)), '/blur?sigma=2'), 'SOF3, grey': (lambda: lossless(pictures.photograph(40, 32, 1)), '/median'),
    'SOF3, a region': (lambda: lossless(pictures.photograph(40, 32)), '/pixelate?block=5&mode=redact&region=8,8,16,16&quality=80'),
    '16 bits': (lambda: pictures.png(pictures.photograph(40, 30).astype('uint16') * 257, depth=16), '/blur?format=jpeg'),
}


@pytest.mark.parametrize('name', NOT_THEIRS)
def test_what_the_gpu_does_not_take(gpu, cpu, name):
    make, target = NOT_THEIRS[name]
    body = make()
    answers = [own.post(target, body) for own in (gpu, cpu)]
    assert [a.status_code for a in answers] == [200, 200], answers[0].text
    assert not answers[0].headers.get('X-Backend', '').endswith('/jpeg')
    assert answers[0].content == answers[1].content


@pytest.mark.parametrize('field, value', [('backend', 'cpu'), ('format', 'png'), ('progressive', 'true')])
def test_fields_of_a_form_count_as_parameters_do(gpu, field, value):
    """In front of the picture: they are known when the queue chooses the device."""
    made = requests.Request('POST', 'http://localhost/', files=[(field, (None, value)), ('image', ('a.jpg', PHOTO))]).prepare()
    answer = gpu.post('/blur', made.body, headers={'Content-Type': made.headers['Content-Type']})
    assert answer.status_code == 200, answer.text
    assert not answer.headers['X-Backend'].endswith('/jpeg')
    assert answer.content == gpu.post(f'/blur?{field}={value}', PHOTO).content


def test_accept_decides(gpu):
    assert ask(gpu, PHOTO, headers={'Accept': 'image/png'})[1].startswith(b'\x89PNG')
    name, result = ask(gpu, PHOTO, headers={'Accept': 'image/jpeg'})
    assert name == BY_GPU and result.startswith(b'\xff\xd8')


# --- damage ------------------------------------------------------------------------------------
def damaged():
    """(name, bytes)"""
    chance = random.Random(5)
    scan = PHOTO.index(b'\xff\xda')
    for cut in (2, 20, scan - 1, scan + 2, scan + 20, len(PHOTO) // 2, len(PHOTO) - 3, len(PHOTO) - 2, len(PHOTO) - 1):
        yield f'cut at {cut}', PHOTO[:cut]
    for _ in range(40):
        at = chance.randrange(2, len(PHOTO))
        yield f'flipped at {at}', PHOTO[:at] + bytes([PHOTO[at] ^ 1 << chance.randrange(8)]) + PHOTO[at + 1:]
    for marker in (b'\xff\xd8', b'\xff\xd0', b'\xff\xda', b'\xff\xfe', b'\xff\x00', b'\0\0'):
        yield f'ends with {marker}', PHOTO[:-2] + marker
        yield f'{marker} within the scan', PHOTO[:-60] + marker + PHOTO[-58:]
    yield 'two of them', PHOTO + OTHER
    at = PHOTO.index(b'\xff\xc0')
    for width, height in ((0, 48), (64, 0), (65, 48), (64, 56), (80, 48), (64, 32), (32, 48), (65535, 65535)):
        size = height.to_bytes(2, 'big') + width.to_bytes(2, 'big')
        yield f'says {width}x{height}', PHOTO[:at + 5] + size + PHOTO[at + 9:]


DAMAGED = dict(damaged())


def told(answer):
    """The parts of a refusal that a client sees, without the request's number."""
    problem = answer.json()
    return answer.status_code, problem['type'], problem['detail']


@pytest.mark.parametrize('part', range(4))
def test_damage(gpu, cpu, part):
    for what in list(DAMAGED)[part::4]:
        ours, theirs = (own.post('/blur?sigma=2', DAMAGED[what]) for own in (gpu, cpu))
        assert ours.status_code == theirs.status_code, f'{what}: {ours.content[:200]} {theirs.content[:200]}'
        if theirs.status_code != 200:
            assert told(ours) == told(theirs), what
        else:
            assert ours.content == theirs.content, what


def test_more_behind_the_end(gpu, cpu):
    """Phones write data behind the end of the picture."""
    index = b'\xff\xe2\0\x08MPF\0\0\0'
    for what, body in (('something', PHOTO + b'what is this?' * 9), ('an index', PHOTO[:2] + index + PHOTO[2:]),
                       ('more pictures', PHOTO[:2] + index + PHOTO[2:] + OTHER)):
        backend, content = ask(gpu, body)
        assert backend == BY_GPU, what
        assert content == cpu.post('/blur?sigma=2', body).content, what


def test_damage_is_counted(start, cpu):
    own = launch_jpeg(start)
    check_problem(own.post('/blur', PHOTO[:-200] + PHOTO[-2:]), 'corrupt-image')
    metrics = own.metrics()
    assert metrics['blurd_jpeg_returned_total'] == 1 and own.pictures('gpu-file') == 0
    assert metrics['blurd_backend_failures_total'] == 0 and places(own) == PLACES
    assert ask(own, PHOTO)[0] == BY_GPU
    assert own.pictures('gpu-file') == 1


# --- forms and connections -----------------------------------------------------------------------
@pytest.mark.parametrize('odd', range(9))
def test_forms(gpu, cpu, odd):
    """The picture lies anywhere in the body."""
    body = form(('sigma', '2'), ('image"; filename="' + 'p' * odd + '.jpg', PHOTO), extra=b'')
    name, result = ask(gpu, body, '/blur', headers={'Content-Type': 'multipart/form-data; boundary=simple'})
    assert name == BY_GPU and result == ask(gpu, PHOTO)[1]
    assert result == ask(cpu, PHOTO)[1]


def test_a_form_that_looks_like_a_picture(gpu, cpu):
    """The head of a JPEG for the GPU stands in the name of a file; the picture is another."""
    decoy = PHOTO[:PHOTO.index(b'\xff\xc0') + 19].translate(None, b'"\r\n')
    for body in (pictures.small_png(), cmyk(), OTHER):
        parts = b'--simple\r\nContent-Disposition: form-data; name="image"; filename="' + decoy + b'"\r\n\r\n'
        answers = [own.post('/blur?sigma=2', parts + body + b'\r\n--simple--\r\n',
                            headers={'Content-Type': 'multipart/form-data; boundary=simple'}) for own in (gpu, cpu)]
        assert answers[0].status_code == answers[1].status_code
        if body != OTHER and answers[0].status_code == 200:
            assert answers[0].content == answers[1].content


def test_many_connections_with_keep_alive(gpu):
    wanted = {body: ask(gpu, body)[1] for body in (PHOTO, OTHER)}

    def talk(number):
        with gpu.connect(60) as connection:
            for i in range(6):
                body = (PHOTO, OTHER)[(number + i) % 2]
                connection.send(wire.message('POST', '/blur?sigma=2', body))
                answer = connection.answer()
                assert answer.status == 200 and answer.body == wanted[body]
                assert answer.header('X-Backend') == BY_GPU
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        list(pool.map(talk, range(24)))


def test_who_goes_away_leaves_nothing(start):
    own = launch_jpeg(start, '--gpu-pictures', 1, wanted=1)
    wanted = ask(own, PHOTO)[1]
    for i in range(24):
        with own.connect() as connection:
            connection.send(wire.message('POST', '/blur?sigma=9', MEDIUM)[:None if i % 4 else 3000])
    assert daemon.eventually(lambda: own.metrics()['blurd_requests_in_flight'] == 1)
    assert ask(own, PHOTO) == (BY_GPU, wanted)


# --- the option ----------------------------------------------------------------------------------
def test_cpu_means_the_same_bytes(start, cpu):
    own = fake_gpu.launch(start, *jpeg_options('--jpeg-codec', 'cpu'))
    for body in (PHOTO, OTHER, SHAPES['gray'](40, 30)):
        assert ask(own, body) == ('cuda:0', ask(cpu, body)[1])
    metrics = own.metrics()
    assert metrics['blurd_jpeg_places'] == 0 and own.pictures('gpu-file') == 0


def test_auto_leaves_small_ones_to_the_cpu(start, cpu):
    """Small ones go to the CPU at the latest once the times of both ways are known."""
    own = launch_jpeg(start, '--jpeg-codec', 'auto')
    answers = [ask(own, PHOTO) for _ in range(20)]
    assert 'cuda:0' in {name for name, _ in answers}
    assert {result for name, result in answers if name != BY_GPU} == {ask(cpu, PHOTO)[1]}


BIG = pictures.jpeg(pictures.photograph(1280, 960), 90, subsampling='420')


@pytest.mark.skipif(daemon.SANITIZED, reason='a picture takes longer than a request may wait then')
def test_auto_uses_both_ways_under_load(start, cpu):
    own = launch_jpeg(start, '--jpeg-codec', 'auto', '--gpu-pictures', 1, '--workers', 2, '--work-timeout', '1m', wanted=1)
    target = '/blur?sigma=0.5'
    wanted = ask(cpu, BIG, target)[1]
    answers = set()

    def both_ways():
        """Six at a time, until the daemon has learnt how slow this GPU is."""
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            answers.update(pool.map(lambda _: ask(own, BIG, target), range(12)))
        return len({name for name, _ in answers}) > 1

    assert daemon.eventually(both_ways, 60)
    assert BY_GPU in {name for name, _ in answers}
    assert {result for _, result in answers} == {wanted}


def test_two_gpus_are_both_used(start, cpu):
    own = launch_jpeg(start, '--gpu-pictures', 4, DEVICES=2)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ask(own, PHOTO), range(60)))
    assert {name for name, _ in answers} == {'cuda:0/jpeg', 'cuda:1/jpeg'}
    assert len({result for _, result in answers}) == 1
    assert answers[0][1] == ask(cpu, PHOTO)[1]


def test_one_of_two_gpus_does_no_jpegs(start):
    own = launch_jpeg(start, '--gpu-pictures', 4, DEVICES=2, FAULT='cuMemHostAlloc:1:2', wanted=2)
    assert own.wait_for_line(r'cuda:0: no JPEGs: .*cuMemHostAlloc')
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        names = set(pool.map(lambda _: ask(own, PHOTO)[0], range(24)))
    assert names == {'cuda:1/jpeg'}


@pytest.mark.parametrize('asked, gpus, made', ((0, 1, 28), (3, 2, 4), (1, 2, 2), (40, 1, 40)))
def test_how_many_at_a_time(start, asked, gpus, made):
    names = ','.join(map(str, range(gpus)))  # `all` counts device files, of which there are none
    own = launch_jpeg(start, '--gpu-pictures', asked, '--gpus', names, wanted=made, DEVICES=gpus)
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        answers = set(pool.map(lambda _: ask(own, PHOTO), range(48)))
    assert {name.partition('/')[2] for name, _ in answers} == {'jpeg'}
    assert len({result for _, result in answers}) == 1


def test_a_single_process(start, cpu):
    own = launch_jpeg(start, '--single-process', 'yes')
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = set(pool.map(lambda _: ask(own, PHOTO), range(24)))
    assert {name for name, _ in answers} == {BY_GPU} and len(answers) == 1
    assert answers.pop()[1] == ask(cpu, PHOTO)[1]


def test_numpy_sees_the_form_440():
    """The test's own maker."""
    body = form_440(52, 39)
    assert anatomy.subsampling(body) == '440' and anatomy.frame(body)[1:3] == (52, 39)
    assert anatomy.pixels(body).dtype == numpy.uint8
