# SPDX-License-Identifier: MIT
"""Animations: every frame is resolved, filtered and kept, with its time and how often all are played."""

import struct
import zlib

import numpy
import pytest
from PIL import Image

import anatomy
import animated
import pictures
from animated import CLEAR, KEEP, KINDS, RESTORE, Frame
from problems import check_problem

WIDTH, HEIGHT = 40, 30
SAME = '/blur?sigma=1&lossless=true&region=999999,999999,1,1'  # changes no pixel


@pytest.fixture(autouse=True, scope='module')
def with_webp(shared):
    if 'webp' not in shared.get('/version').json()['formats']['writes']:
        pytest.skip('this build has no WebP')


def colours(seed, height, width, alphas=(0, 255)):
    """Few colours, as GIF has them, and alphas."""
    random = numpy.random.default_rng(seed)
    palette = random.integers(0, 256, (20, 4)).astype(numpy.uint8)
    palette[:, 3] = random.choice(alphas, 20)
    return palette[random.integers(0, 20, (height, width))]


def scene(kind, count=9):
    """Frames of all disposals and blendings at many places."""
    alphas = (0, 255) if kind == 'gif' else (0, 1, 77, 128, 254, 255)
    frames = [Frame(colours(1, HEIGHT, WIDTH, alphas), delay=70, disposal=CLEAR)]
    for i in range(1, count):
        height, width = 5 + 3 * i % 20, 7 + 5 * i % 30
        disposal = (KEEP, CLEAR, RESTORE)[i % 3] if kind != 'webp' else (KEEP, CLEAR)[i % 2]
        frames.append(Frame(colours(i + 9, height, width, alphas), 2 * (i * 3 % 5), 2 * (i * 7 % 4), 20 * (i + 1), disposal,
                            kind == 'gif' or i % 4 < 3))
    return frames


def ask(server, target, body, **more):
    answer = server.post(target, body, **more)
    assert answer.status_code == 200, answer.text
    return answer.content


def opaque(frames):
    return [numpy.where(f[..., 3:] < 128, 0, numpy.maximum(f, (0, 0, 0, 255))).astype(numpy.uint8) for f in frames]


@pytest.mark.parametrize('target', KINDS)
@pytest.mark.parametrize('kind', KINDS)
def test_frames_are_resolved_and_kept(server, kind, target):
    frames = scene(kind)
    wanted = animated.resolve(frames, WIDTH, HEIGHT)
    body = animated.write(kind, frames, WIDTH, HEIGHT, plays=5)
    read = animated.read(ask(server, f'{SAME}&format={target}', body))
    assert read.plays == 5 and read.delays == [f.delay for f in frames]
    for number, (got, want) in enumerate(zip(read.frames, opaque(wanted) if target == 'gif' else wanted, strict=True)):
        difference = numpy.abs(animated.hidden(got).astype(int) - animated.hidden(want)).max()
        assert difference == 0, f'frame {number}: {difference}'


@pytest.mark.parametrize('kind', KINDS)
def test_the_answer_has_the_format_of_the_body(server, kind):
    answer = server.post('/blur?sigma=1', animated.write(kind, scene(kind), WIDTH, HEIGHT))
    assert answer.headers['Content-Type'] == f'image/{kind}'
    assert len(animated.read(answer.content).frames) == 9


@pytest.mark.parametrize('accept, kind', [('image/jpeg', 'gif'), ('image/webp,*/*;q=0.8', 'webp'), ('image/webp,*/*', 'gif'), ('image/png', 'png'), ('image/jxl,image/png;q=0.5', 'png')])
def test_accept_chooses_among_formats_that_can_be_animated(server, accept, kind):
    answer = server.post('/blur?sigma=1', animated.gif(scene('gif'), WIDTH, HEIGHT), headers={'Accept': accept})
    assert answer.headers['Content-Type'] == f'image/{kind}'


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('filters', ['/blur?sigma=2', '/resize?width=17', '/crop?x=3&y=4&width=11&height=9', '/rotate?angle=90', '/adjust?saturation=0',
                                     '/blur?sigma=2&region=5,5,9,9&colorspace=linear', '/pixelate?block=4&region=5,5,20,9&feather=2'])
def test_each_frame_is_filtered_like_a_picture(server, kind, filters):
    frames = scene(kind, 4)
    shown = animated.resolve(frames, WIDTH, HEIGHT)
    read = animated.read(ask(server, f'{filters}&format=png', animated.write(kind, frames, WIDTH, HEIGHT)))
    for got, want in zip(read.frames, shown, strict=True):
        still = anatomy.pixels(ask(server, f'{filters}&format=png', pictures.png(want)))
        still = numpy.repeat(still[..., :1], 3, 2) if still.shape[2] < 3 else still
        assert numpy.array_equal(animated.hidden(got)[..., :3], animated.hidden(still if still.shape[2] == 4 else got)[..., :3])


@pytest.mark.parametrize('target', KINDS)
@pytest.mark.parametrize('kind', KINDS)
def test_nothing_of_a_redacted_place_is_in_any_frame(server, kind, target):
    """The secret appears, moves and vanishes; each frame of the answer, and of one that had another secret, shows the fill alone."""
    left, top, wide, high = 9, 6, 14, 11
    answers = []
    for secret in (3, 4):
        frames = [Frame(colours(1, HEIGHT, WIDTH, (255,)), delay=70)]
        for i in range(8):
            patch = colours(100 * secret + i, 7, 6, (255,))
            frames.append(Frame(patch, left + 2 * (i % 4), top + i % 4, 40, (KEEP, CLEAR, RESTORE)[i % 3] if kind == 'gif' else KEEP))
        body = animated.write(kind, frames, WIDTH, HEIGHT, plays=1)
        place = f'{left},{top},{wide},{high}'
        answers.append(ask(server, f'/redact?region={place}&fill=204060&lossless=true&format={target}', body))
        for frame in animated.read(answers[-1]).frames:
            hidden = frame[top:top + high, left:left + wide]
            assert (hidden == (0x20, 0x40, 0x60, 255)).all()
    assert answers[0] == answers[1]


@pytest.mark.parametrize('query', ('region=1,2,9,9&report=true', 'detect=codes&plan=true', 'detect=codes&detect_report=true'))
def test_what_is_not_made_for_animations_fails_closed(signing, query):
    body = animated.write('gif', scene('gif'), WIDTH, HEIGHT)
    check_problem(signing.post(f'/redact?{query}', body), 'unsupported-image')


@pytest.mark.parametrize('kind', KINDS)
def test_page_takes_one_frame(server, kind):
    frames = scene(kind)
    shown = animated.resolve(frames, WIDTH, HEIGHT)
    body = animated.write(kind, frames, WIDTH, HEIGHT)
    for page in (0, 1, 4, 8):
        got = anatomy.pixels(ask(server, f'{SAME}&format=png&page={page}', body))
        assert numpy.array_equal(animated.hidden(got), animated.hidden(shown[page])), page
    assert anatomy.frame(ask(server, '/blur?sigma=1&format=jpeg&page=3', body))[1:3] == (WIDTH, HEIGHT)
    check_problem(server.post('/blur?sigma=1&page=9', body), 'bad-parameter', 'page', 'has 9 frames')
    check_problem(server.post('/blur?sigma=1&page=1', pictures.small_png()), 'bad-parameter', 'page', 'has 1 frame')


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('chosen, first, behind', [('0', 0, 1), ('3', 3, 4), ('2-5', 2, 6), ('7-20', 7, 9), ('0-8', 0, 9)])
def test_frames_takes_a_range(server, kind, chosen, first, behind):
    frames = scene(kind)
    shown = animated.resolve(frames, WIDTH, HEIGHT)[first:behind]
    read = animated.read(ask(server, f'{SAME}&frames={chosen}&format=png', animated.write(kind, frames, WIDTH, HEIGHT)))
    assert len(read.frames) == len(shown)
    for got, want in zip(read.frames, shown, strict=True):
        assert numpy.array_equal(animated.hidden(got), animated.hidden(want))


@pytest.mark.parametrize('chosen, says', [('9', 'has 9 frames'), ('3-2', 'range'), ('', 'range'), ('-3', 'range'), ('1-', 'range'), ('1.5', 'range'),
                                          ('0-1000000', 'range'), ('0-1-2', 'range')])
def test_a_wrong_range_is_refused(server, chosen, says):
    body = animated.gif(scene('gif'), WIDTH, HEIGHT)
    check_problem(server.post(f'/blur?sigma=1&frames={chosen}', body), 'bad-parameter', 'frames', says)


@pytest.mark.parametrize('kind', KINDS)
def test_a_format_of_stills_is_refused(server, kind):
    body = animated.write(kind, scene(kind), WIDTH, HEIGHT)
    check_problem(server.post('/blur?sigma=1&format=jpeg', body), 'bad-parameter', 'format', 'page=0')


def test_answers_without_a_picture_take_stills(server):
    for kind in ('webp', 'gif'):
        body = animated.write(kind, scene(kind), WIDTH, HEIGHT)
        check_problem(server.post('/stats', body), 'unsupported-image', None, 'page=0')
        assert server.post('/stats?page=0', body).status_code == 200
    assert server.post('/stats', animated.png(scene('png'), WIDTH, HEIGHT)).status_code == 200


def test_a_still_picture_that_is_no_frame(server):
    frames = scene('png')
    body = animated.png(frames, WIDTH, HEIGHT, apart=True)
    shown = animated.resolve(frames, WIDTH, HEIGHT)
    read = animated.read(ask(server, SAME, body))
    assert len(read.frames) == 9 and numpy.array_equal(animated.hidden(read.frames[0]), animated.hidden(shown[0]))
    assert numpy.array_equal(animated.hidden(anatomy.pixels(ask(server, f'{SAME}&page=0', body))), animated.hidden(shown[0]))


def test_gif_is_cut_to_its_screen_and_interlaced(server):
    frames = [Frame(colours(3, HEIGHT, WIDTH, (255,))), Frame(colours(4, 25, 33), 30, 20), Frame(colours(5, 9, 9), 39, 300), Frame(colours(6, 7, 5), 3, 3)]
    for interlaced in (False, True):
        read = animated.read(ask(server, f'{SAME}&format=png', animated.gif(frames, WIDTH, HEIGHT, interlaced=interlaced)))
        for got, want in zip(read.frames, animated.resolve(frames, WIDTH, HEIGHT), strict=True):
            assert numpy.array_equal(got, want)


def test_short_times_of_gif(server):
    frames = [Frame(colours(i, HEIGHT, WIDTH, (255,)), delay=delay) for i, delay in enumerate((0, 10, 20, 330, 50))]
    body = animated.gif(frames, WIDTH, HEIGHT)
    assert animated.read(ask(server, f'{SAME}&format=png', body)).delays == [0, 10, 20, 330, 50]
    assert animated.read(ask(server, f'{SAME}&format=gif', body)).delays == [20, 20, 20, 330, 50]


def test_rounded_times_do_not_add_up(server):
    frames = [Frame(colours(i, HEIGHT, WIDTH, (255,)), delay=33) for i in range(30)]
    delays = animated.read(ask(server, f'{SAME}&format=gif', animated.webp(frames, WIDTH, HEIGHT))).delays
    assert set(delays) == {30, 40} and abs(sum(delays) - 30 * 33) <= 10


def test_equal_frames_keep_their_times(server):
    frames = [Frame(colours(1, HEIGHT, WIDTH, (255,)), delay=40)] * 3
    for kind in KINDS:
        read = animated.read(ask(server, f'{SAME}&format=png', animated.write(kind, frames, WIDTH, HEIGHT)))
        assert read.delays == [40] * 3


@pytest.mark.parametrize('kind', KINDS)
def test_profiles_and_metadata_stay_with_the_file(server, kind):
    profile = pictures.icc()
    body = animated.webp(scene('webp'), WIDTH, HEIGHT)
    at = body.index(b'ANIM')
    body = body[:at] + animated.chunk(b'ICCP', profile) + body[at:]
    body = b'RIFF' + struct.pack('<I', len(body) - 8) + body[8:20] + bytes((0x32,)) + body[21:]
    answer = ask(server, f'/blur?sigma=1&format={kind}', body)
    if kind == 'webp':
        assert profile in answer and answer[20] & 0x20
    elif kind == 'png':
        assert profile in [zlib.decompress(p.split(b'\0', 1)[1][1:]) for tag, p in anatomy.chunks(answer) if tag == 'iCCP']
    assert len(animated.read(answer).frames) == 9


# --- limits and damage --------------------------------------------------------------------
@pytest.mark.parametrize('kind', KINDS)
def test_too_many_frames_are_refused(start, kind):
    own = start('--max-frames', '8')
    check_problem(own.post('/blur?sigma=1', animated.write(kind, scene(kind), WIDTH, HEIGHT)), 'limit-exceeded', None, 'more than 8 frames')
    assert own.post('/blur?sigma=1', animated.write(kind, scene(kind, 8), WIDTH, HEIGHT)).status_code == 200


@pytest.mark.parametrize('kind', KINDS)
def test_too_many_pixels_of_all_frames_are_refused(start, kind):
    own = start('--max-animation', str(9 * WIDTH * HEIGHT - 1))
    check_problem(own.post('/blur?sigma=1', animated.write(kind, scene(kind), WIDTH, HEIGHT)), 'limit-exceeded', None, 'pixels in its frames')
    assert own.post('/blur?sigma=1', animated.write(kind, scene(kind, 8), WIDTH, HEIGHT)).status_code == 200


def test_bombs_are_refused_by_their_containers(server):
    dot = numpy.full((1, 1, 4), 255, numpy.uint8)
    pixel = animated.webp_frame(Frame(dot))
    check_problem(server.post('/blur?sigma=1', animated.webp_file(pixel * 200000, 1, 1)), 'limit-exceeded', None, 'frames')
    one = animated.gif([Frame(dot)], 1, 1)
    check_problem(server.post('/blur?sigma=1', one[:-1] + one[13 + 19:-1] * 20000 + b';'), 'limit-exceeded', None, 'frames')
    check_problem(server.post('/blur?sigma=1', animated.webp_file(pixel * 1500, 8000, 8000)), 'limit-exceeded', None, 'pixels in its frames')


WRONG = {
    'webp off the canvas': lambda: animated.webp([Frame(colours(1, 9, 9)), Frame(colours(2, 9, 9), 34, 0)], WIDTH, HEIGHT),
    'webp of another size': lambda: animated.webp_file(animated.webp_frame(Frame(colours(1, 9, 9))) + animated.webp_frame(Frame(colours(1, 9, 9)), 7), 40, 30),
    'webp cut short': lambda: animated.webp_file(animated.webp(scene('webp'), WIDTH, HEIGHT)[44:-9], WIDTH, HEIGHT),
    'png off the canvas': lambda: animated.png([Frame(colours(1, HEIGHT, WIDTH)), Frame(colours(2, 9, 9), 32, 0)], WIDTH, HEIGHT),
    'png far off the canvas': lambda: animated.png([Frame(colours(1, HEIGHT, WIDTH)), Frame(colours(2, 9, 9), 2**32 - 4, 0)], WIDTH, HEIGHT),
    'png with a small first frame': lambda: animated.png([Frame(colours(1, 9, 9)), Frame(colours(2, 9, 9))], WIDTH, HEIGHT),
    'png with more frames stated': lambda: animated.png(scene('png'), WIDTH, HEIGHT, stated=10),
    'png cut short': lambda: animated.png(scene('png'), WIDTH, HEIGHT)[:-40],
    'png without data': lambda: animated.png(scene('png'), WIDTH, HEIGHT).replace(b'fdAT', b'fdBT'),
    'png of no rows': lambda: animated.png([Frame(colours(1, HEIGHT, WIDTH)), Frame(colours(2, 0, 9))], WIDTH, HEIGHT),
    'gif cut short': lambda: animated.gif(scene('gif'), WIDTH, HEIGHT)[:-40],
    'gif with garbage': lambda: animated.gif(scene('gif'), WIDTH, HEIGHT)[:-1] + b'\x99',
    'gif of no screen': lambda: animated.gif(scene('gif'), 0, 0),
}


@pytest.mark.parametrize('name', WRONG)
def test_damaged_animations_are_refused(server, name):
    check_problem(server.post('/blur?sigma=1', WRONG[name]()), 'corrupt-image')


def test_frames_without_pixels_keep_their_time(server):
    frames = [Frame(colours(1, HEIGHT, WIDTH)), Frame(colours(2, 4, 4), delay=50), Frame(colours(3, 9, 9))]
    body = animated.gif(frames, WIDTH, HEIGHT).replace(struct.pack('<HH', 4, 4), bytes(4))
    read = animated.read(ask(server, f'{SAME}&format=png', body))
    assert read.delays == [100, 50, 100] and numpy.array_equal(read.frames[0], read.frames[1])


def test_the_longest_times(server):
    frames = [Frame(colours(i, HEIGHT, WIDTH, (255,)), delay=65535) for i in range(2)]
    assert animated.read(ask(server, f'{SAME}&format=webp', animated.png(frames, WIDTH, HEIGHT))).delays == [65535] * 2
    long = [dataclass_with(frame, 2**24 - 1) for frame in frames]
    assert animated.read(ask(server, f'{SAME}&format=png', animated.webp(long, WIDTH, HEIGHT))).delays[0] == 16777000  # 16 bits of a tenth
    assert animated.read(ask(server, f'{SAME}&format=gif', animated.webp(long, WIDTH, HEIGHT))).delays[0] == 655350


def dataclass_with(frame, delay):
    return Frame(frame.pixels, frame.left, frame.top, delay, frame.disposal, frame.blends)


# --- stills of GIF ------------------------------------------------------------------------
def test_a_still_gif(server):
    samples = colours(7, HEIGHT, WIDTH)
    body = animated.gif([Frame(samples)], WIDTH, HEIGHT)
    got = anatomy.pixels(ask(server, f'{SAME}&format=png', body))
    assert numpy.array_equal(animated.hidden(got), animated.hidden(samples))
    back = animated.read(ask(server, SAME, body))
    assert len(back.frames) == 1 and numpy.array_equal(animated.hidden(back.frames[0]), animated.hidden(samples))


@pytest.mark.parametrize('width, height', [(1, 1), (3, 200), (500, 400)])
def test_a_photograph_as_gif(server, width, height):
    samples = pictures.photograph(width, height)
    got = animated.read(ask(server, f'{SAME}&format=gif', pictures.png(samples))).frames[0]
    median = numpy.asarray(Image.fromarray(samples).quantize(256, method=Image.MEDIANCUT, dither=0).convert('RGB'))
    error, usual = (numpy.sqrt(((picture.astype(float) - samples)**2).mean()) for picture in (got[..., :3], median))
    assert error < 1.1 * usual + 1 and len(numpy.unique(got.reshape(-1, 4), axis=0)) <= 256


def test_noise_as_gif(server):
    samples = pictures.noise(300, 200)
    got = animated.read(ask(server, f'{SAME}&format=gif', pictures.png(samples))).frames[0]
    assert numpy.abs(got[..., :3].astype(int) - samples).mean() < 25
