# SPDX-License-Identifier: MIT
"""AVIF sequences and animated JPEG XL: every frame is that of the libraries' own programs, with its time, and what is hostile stays within limits."""

import pathlib
import shutil
import subprocess
import tempfile
import time

import numpy
import pytest

import anatomy
import animated
import daemon
import jxls
import pictures
from problems import check_problem

WIDTH, HEIGHT, COUNT = 61, 47, 5
DELAYS = (100, 40, 250, 70, 130)  # milliseconds
SAME = '/blur?sigma=1&lossless=true&region=999999,999999,1,1'  # changes no pixel
KINDS = ('avif', 'jxl')


@pytest.fixture(autouse=True, scope='module')
def need(shared):
    missing = {*KINDS, 'webp'} - set(shared.get('/version').json()['formats']['writes'])
    if missing or not shutil.which('avifenc'):
        pytest.skip(f'this build or host has no {", ".join(missing) or "avifenc"}')


def moving(channels=3, count=COUNT):
    """A photograph over which a square moves."""
    made = []
    for i in range(count):
        frame = numpy.dstack([pictures.photograph(WIDTH, HEIGHT), numpy.full((HEIGHT, WIDTH), 255, numpy.uint8)])
        frame[5 + i:20 + i, 3 * i:3 * i + 12] = (255, 10 * i, 0, 60)
        made.append(numpy.ascontiguousarray(frame[..., :channels]))
    return made


def avif(frames, delays, *options):
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for i, (frame, delay) in enumerate(zip(frames, delays, strict=True)):
            pathlib.Path(folder, f'{i}.png').write_bytes(pictures.png(frame))
            names += ['--duration', str(delay), f'{folder}/{i}.png']
        subprocess.run(['avifenc', '-s', '8', *options, '--timescale', '1000', *names, f'{folder}/out.avif'], check=True, capture_output=True, timeout=60)
        return pathlib.Path(folder, 'out.avif').read_bytes()


def avif_frames(data, count):
    """By avifdec."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, 'in.avif')
        source.write_bytes(data)
        shown = []
        for i in range(count):
            subprocess.run(['avifdec', '--index', str(i), source, f'{folder}/{i}.png'], check=True, capture_output=True, timeout=60)
            shown.append(anatomy.read_png(pathlib.Path(folder, f'{i}.png').read_bytes()))
        return shown


def make(kind, frames=None, delays=DELAYS):
    frames = moving() if frames is None else frames
    return jxls.animation(frames, delays) if kind == 'jxl' else avif(frames, delays)


def ask(server, target, body, **more):
    answer = server.post(target, body, **more)
    assert answer.status_code == 200, answer.text
    return answer.content


@pytest.mark.parametrize('target', ('png', 'webp', 'gif'))
@pytest.mark.parametrize('channels', (3, 4))
def test_frames_of_jpeg_xl_are_exact(server, target, channels):
    frames = moving(channels)
    read = animated.read(ask(server, f'{SAME}&format={target}', jxls.animation(frames, DELAYS, plays=3)))
    assert read.delays == list(DELAYS) and read.plays == 3
    for got, want in zip(read.frames, frames, strict=True):
        if target != 'gif':
            assert (got[..., :channels] == want).all()


@pytest.mark.parametrize('options', ((), ('--depth', '10'), ('--yuv', '420'), ('--yuv', '400'), ('--range', 'limited')), ids=' '.join)
@pytest.mark.parametrize('channels', (3, 4))
def test_frames_of_avif_are_those_of_avifdec(server, options, channels):
    body = avif(moving(channels), DELAYS, *options)
    answer = ask(server, f'{SAME}&format=png', body)
    read = animated.read(answer)
    assert read.delays == list(DELAYS) and read.plays == 0
    for page, want in enumerate(avif_frames(body, COUNT)):
        got = anatomy.read_png(ask(server, f'{SAME}&format=png&page={page}', body))
        got, want = (numpy.repeat(a[..., :1], 3, 2) if a.shape[2] < 3 else a for a in (got, want))
        most = 1 if want.max() < 256 else 257
        colours = min(got.shape[2], want.shape[2], 3)
        shown = numpy.ones(got.shape[:2], bool) if got.shape[2] < 4 else got[..., 3] > 0
        assert numpy.abs(got[..., :colours].astype(int) - want[..., :colours])[shown].max() <= most
        assert numpy.abs(read.frames[page][..., :1].astype(int) - (got[..., :1] >> 8 if most > 1 else got[..., :1]))[shown].max() <= 1


@pytest.mark.parametrize('kind', KINDS)
def test_other_codecs_work_between_two_frames(server, kind):
    """Lossy WebP is written in the process that holds the decoder."""
    read = animated.read(ask(server, '/blur?sigma=1&format=webp&quality=90', make(kind)))
    assert read.delays == list(DELAYS)
    for got, want in zip(read.frames, moving(), strict=True):
        assert numpy.abs(got[..., :3].astype(int) - want).mean() < 30


@pytest.mark.parametrize('kind', KINDS)
def test_the_answer_is_an_animation(server, kind):
    if kind == 'jxl':  # which is not written
        answer = server.post('/blur?sigma=1', make(kind))
        assert answer.headers['Content-Type'] == 'image/png' and len(animated.read(answer.content).frames) == COUNT
    answer = server.post('/blur?sigma=1', make(kind), headers={'Accept': 'image/webp'})
    assert answer.headers['Content-Type'] == 'image/webp'
    check_problem(server.post('/blur?sigma=1&format=jpeg', make(kind)), 'bad-parameter', 'format', 'page=0')
    check_problem(server.post('/stats', make(kind)), 'unsupported-image', None, 'page=0')
    assert server.post('/stats?page=0', make(kind)).status_code == 200


@pytest.mark.parametrize('kind', KINDS)
def test_pages_and_ranges(server, kind):
    body = make(kind)
    every = animated.read(ask(server, f'{SAME}&format=png', body)).frames
    some = animated.read(ask(server, f'{SAME}&format=png&frames=2-3', body))
    assert some.delays == list(DELAYS[2:4]) and all((a == b).all() for a, b in zip(some.frames, every[2:4], strict=True))
    for page in (0, 4):
        still = anatomy.pixels(ask(server, f'{SAME}&format=png&page={page}', body))
        assert numpy.abs(still[..., :3].astype(int) - every[page][..., :3]).max() <= (1 if kind == 'avif' else 0)
    check_problem(server.post('/blur?sigma=1&page=5', body), 'bad-parameter', 'page', 'has 5 frames')


def test_times_of_jpeg_xl(server):
    """A frame without time is a layer of the next one; ticks are parts of a second; what is too long is cut."""
    frames = moving()
    read = animated.read(ask(server, f'{SAME}&format=png', jxls.animation(frames, (0, 3, 0, 0, 1), ticks=60000, parts=1001)))
    assert len(read.frames) == 2 and (read.frames[0][..., :3] == frames[1]).all() and (read.frames[1][..., :3] == frames[4]).all()
    assert read.delays == [50, 17]
    endless = animated.read(ask(server, f'{SAME}&format=png', jxls.animation(frames[:3], (2**32 - 1, 5, 2**32 - 1), ticks=1, parts=1000)))
    assert endless.delays == [65535000, 5000000, 65535000]
    assert animated.read(ask(server, f'{SAME}&format=png', jxls.animation(frames[:2], (1, 1), plays=2**31))).plays in (2**31 - 1, 2**31)
    assert anatomy.png_header(ask(server, f'{SAME}&format=png', jxls.animation(frames[:1], (7,))))[:2] == (WIDTH, HEIGHT)


@pytest.mark.parametrize('target', ('png', 'webp', 'gif'))
@pytest.mark.parametrize('kind', KINDS)
def test_nothing_of_a_redacted_place_is_in_any_frame(server, kind, target):
    place = (slice(4, 30), slice(0, 32))
    read = animated.read(ask(server, f'/redact?region=0,4,32,26&fill=204060&format={target}&lossless=true', make(kind)))
    for frame in read.frames:
        assert (frame[place] == (0x20, 0x40, 0x60, 255)).all()


# --- limits and damage --------------------------------------------------------------------
@pytest.mark.parametrize('kind', KINDS)
def test_limits(start, kind):
    own = start('--max-frames', '4')
    check_problem(own.post('/blur?sigma=1', make(kind)), 'limit-exceeded', None, 'more than 4 frames')
    assert own.post('/blur?sigma=1', make(kind, moving()[:4], DELAYS[:4])).status_code == 200
    own = start('--max-animation', str(COUNT * WIDTH * HEIGHT - 1))
    check_problem(own.post('/blur?sigma=1', make(kind)), 'limit-exceeded', None, 'pixels in its frames')
    assert own.post('/blur?sigma=1', make(kind, moving()[:4], DELAYS[:4])).status_code == 200


@pytest.mark.parametrize('kind', KINDS)
def test_cut_and_damaged_files(server, kind):
    body = make(kind)
    for part in (9, 8, 5, 2):
        answer = server.post('/blur?sigma=1', body[:len(body) * part // 10])
        assert answer.status_code == 400, answer.status_code
    for at in range(len(body) // 3, len(body), len(body) // 16):
        answer = server.post('/blur?sigma=1&format=webp', body[:at] + bytes(b ^ 0xa5 for b in body[at:at + 9]) + body[at + 9:])
        assert answer.status_code in (200, 400, 415, 422), answer.text
    assert ask(server, '/blur?sigma=1', body)


def test_many_frames_are_counted_before_any_is_decoded(server):
    """Frames of a few bytes each: 2001 are one more than the limit."""
    dot = numpy.zeros((8, 8, 3), numpy.uint8)
    body = jxls.animation([dot] * 2001, [1] * 2001)
    begun = time.monotonic()
    check_problem(server.post('/blur?sigma=1', body), 'limit-exceeded', None, 'more than 2000 frames')
    layers = jxls.animation([dot] * 4000, [0] * 3999 + [1])
    assert server.post('/blur?sigma=1', layers).status_code in (200, 422)
    assert time.monotonic() - begun < 10


def test_a_large_canvas_takes_no_memory(start):
    """Its frames are refused by their number of pixels, or by what they need."""
    large = numpy.zeros((2000, 2000, 3), numpy.uint8)
    body = jxls.animation([large] * 3, [1] * 3)
    own = start('--max-animation', '10000000')
    check_problem(own.post('/blur?sigma=1', body), 'limit-exceeded', None, 'pixels in its frames')
    check_problem(start('--max-pixels', '3000000').post('/blur?sigma=1', body), 'limit-exceeded', None, 'limit')


def test_a_deadline_ends_the_decoder(start):
    random = numpy.random.default_rng(3)
    noise = [random.integers(0, 256, (640, 640, 3), numpy.uint8) for _ in range(10)]
    own = start('--work-timeout', '300ms')
    answer = own.post('/blur?sigma=1&format=webp', jxls.animation(noise, [1] * 10))
    assert answer.status_code in (422, 503) and 'time limit' in answer.json()['detail']  # where others had the core, it is 503
    assert own.post('/blur?sigma=1', pictures.small_png()).status_code == 200


# --- hostile boxes of AVIF sequences ------------------------------------------------------
def patched(body, box, at, value, size=4):
    """Every box of that type with other bytes, counted from behind its type."""
    start, changed = 0, bytearray(body)
    while (start := body.find(box, start) + 4) > 3:
        changed[start + at:start + at + size] = value.to_bytes(size, 'big')
    return bytes(changed)


HOSTILE = {
    'as many samples as a number holds, all of one size': (b'stsz', 4, 1 << 32 | 0xfffffff0, 8),
    'more samples than sizes': (b'stsz', 8, 0xfffffff0, 4),
    'samples larger than the file': (b'stsz', 12, 0xfffffff0, 4),
    'empty samples': (b'stsz', 12, 0, 4),
    'times for more samples than there are': (b'stts', 4, 0xffffffff, 4),
    'a time for as many samples as a number holds': (b'stts', 8, 0xffffffff, 4),
    'times of zero': (b'stts', 12, 0, 4),
    'the longest times': (b'stts', 12, 0xffffffff, 4),
    'chunks of more samples than there are': (b'stsc', 12, 0xffffffff, 4),
    'chunks that begin behind the last one': (b'stsc', 8, 0xffffffff, 4),
    'more chunks than offsets': (b'stco', 4, 0xffffffff, 4),
    'an offset behind the file': (b'stco', 8, 0xfffffff0, 4),
    'no time scale': (b'mdhd', 20, 0, 4),
    'more keyframes than numbers': (b'stss', 4, 0xffffffff, 4),
    'an endless track': (b'mdhd', 24, 2**64 - 1, 8),
    'a track of no height': (b'tkhd', 92, 0, 4),
    'a huge track': (b'tkhd', 88, 2**64 - 1, 8),
    'a box longer than the file': (b'trak', -8, 0x7fffffff, 4),
}


@pytest.mark.parametrize('name', HOSTILE)
def test_hostile_boxes(shared, name):
    """Answered at once, in memory of the file's size: the codec's process is limited, and would say so with 422."""
    body = avif(moving(), DELAYS)
    changed = patched(body, *HOSTILE[name])
    assert changed != body
    for target in (f'{SAME}&format=png', '/blur?sigma=1&page=0', '/blur?sigma=1&page=4&format=png'):
        answer = shared.post(target, changed)
        assert answer.status_code in (200, 400, 415, 422), f'{answer.status_code} {answer.text}'
        assert answer.elapsed.total_seconds() < 2 * daemon.SLOW
        if answer.status_code == 200 and answer.headers['Content-Type'] == 'image/png' and 'page' not in target:
            assert len(animated.read(answer.content).frames) == COUNT
