# SPDX-License-Identifier: MIT
"""Animations that are written as AVIF sequences: every frame by avifdec, times and plays by the tables in the file, and what ends an encoder."""

import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time

import numpy
import pytest

import anatomy
import animated
import codes
import daemon
import jxls
import pictures
import test_codec_process
import test_sequences
from animated import CLEAR, Frame
from problems import check_late, check_problem

WIDTH, HEIGHT, COUNT = test_sequences.WIDTH, test_sequences.HEIGHT, test_sequences.COUNT
DELAYS = test_sequences.DELAYS
NOTHING = 'blur?sigma=1&region=999999,999999,1,1&quality=100&subsampling=444'  # changes no pixel
KINDS = ('gif', 'webp', 'png', 'jxl', 'avif')


@pytest.fixture(autouse=True, scope='module')
def need(shared):
    missing = {'avif', 'webp', 'jxl'} - set(shared.get('/version').json()['formats']['writes'])
    if missing or not shutil.which('avifdec'):
        pytest.skip(f'this build or host has no {", ".join(missing) or "avifdec"}')


def boxes(data):
    while data:
        size, name = struct.unpack('>I4s', data[:8])
        yield name.decode(), data[8:size]
        data = data[size:]


def inside(data, *path):
    for name in path:
        data = dict(boxes(data))[name]
    return data


def tracks(data):
    return [body for name, body in boxes(inside(data, 'moov')) if name == 'trak']


def times(track):
    """(parts of a second, of each frame)"""
    media = inside(track, 'mdia')
    table = inside(media, 'minf', 'stbl', 'stts')
    entries = struct.iter_unpack('>II', table[8:])
    return struct.unpack('>I', inside(media, 'mdhd')[20:24])[0], [delta for count, delta in entries for _ in range(count)]


def plays(data):
    """0: for ever. The tracks agree; a track without an end is all ones long (ISO/IEC 14496-12, 8.3.2)."""
    found = set()
    for track in tracks(data):
        _, flags, count, media, begin, rate = struct.unpack('>B3sIQqI', inside(track, 'edts', 'elst'))
        length, = struct.unpack('>Q', inside(track, 'tkhd')[28:36])
        assert (count, begin, rate) == (1, 0, 1 << 16) and media == sum(times(track)[1])
        assert length == struct.unpack('>Q', inside(data, 'moov', 'mvhd')[24:32])[0]
        found.add(0 if length == 2**64 - 1 else length // media)
        assert (flags[2] & 1) == (length != media) and (length == 2**64 - 1 or length % media == 0)
    assert len(found) == 1
    return found.pop()


def shown(data):
    """Every frame, by avifdec."""
    return test_sequences.avif_frames(data, len(times(tracks(data)[0])[1]))


def describe(data):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, 'in.avif').write_bytes(data)
        return subprocess.run(['avifdec', '--info', f'{folder}/in.avif'], check=True, capture_output=True, timeout=60).stdout.decode()


def make(kind, frames, delays, count=0):
    if kind == 'jxl':
        return jxls.animation(frames, delays, plays=count)
    if kind == 'avif':
        return test_sequences.avif(frames, delays, '--min', '0', '--max', '0', '--minalpha', '0', '--maxalpha', '0', '--yuv', '444')
    whole = [frame if frame.shape[2] == 4 else numpy.dstack([frame, numpy.full(frame.shape[:2], 255, numpy.uint8)]) for frame in frames]
    height, width = whole[0].shape[:2]
    return animated.write(kind, [Frame(pixels, delay=delay, disposal=CLEAR if kind != 'png' else animated.KEEP, blends=kind == 'gif')
                                 for pixels, delay in zip(whole, delays, strict=True)], width, height, count)


def moving(kind, channels=3, count=COUNT):
    if kind != 'gif':
        return test_sequences.moving(channels, count)
    few = [frame & 0xe0 | 0x10 for frame in test_sequences.moving(3, count)]
    return [numpy.dstack([frame, numpy.where(frame[..., :1] > 128, 0, 255).astype(numpy.uint8)]) if channels == 4 else frame for frame in few]


def ask(server, target, body, **more):
    answer = server.post(f'/{target}', body, **more)
    assert answer.status_code == 200, answer.text
    assert answer.headers['Content-Type'] == 'image/avif'
    return answer.content


def assert_close(got, want, most=4.0):
    """Frames of 3 or 4 channels; colours count where they are seen."""
    assert got.shape[2] == want.shape[2]
    seen = numpy.ones(want.shape[:2], bool) if want.shape[2] == 3 else want[..., 3] > 0
    difference = numpy.abs(got.astype(int) - want)
    assert difference[seen].mean() < most
    if want.shape[2] == 4:
        assert difference[..., 3].mean() < most


@pytest.mark.parametrize('channels', (3, 4))
@pytest.mark.parametrize('kind', KINDS)
def test_frames_times_and_plays(server, kind, channels):
    delays = [delay // 10 * 10 for delay in DELAYS]
    frames = moving(kind, channels)
    answer = ask(server, f'{NOTHING}&format=avif', make(kind, frames, delays, 3))
    assert answer[8:12] == b'avis' and len(tracks(answer)) >= channels - 2
    for track in tracks(answer):
        assert times(track) == (1000, delays)
    assert plays(answer) == (0 if kind == 'avif' else 3)  # avifenc says nothing, or for ever
    for got, want in zip(shown(answer), frames, strict=True):
        assert_close(got[..., :channels], want, {'gif': 8, 'avif': 6}.get(kind, 4))


@pytest.mark.parametrize('count', (0, 1, 2, 65535))
def test_numbers_of_plays(server, count):
    body = make('webp', moving('webp'), DELAYS, count)
    assert plays(ask(server, f'{NOTHING}&format=avif', body)) == count


def test_a_sequence_stays_one(server):
    """Where neither `format` nor `Accept` says else; what says nothing of AVIF has another format."""
    body = make('avif', moving('avif'), DELAYS)
    again = ask(server, 'blur?sigma=1', body)
    assert times(tracks(again)[0]) == (1000, list(DELAYS)) and len(shown(again)) == COUNT
    assert ask(server, 'blur?sigma=1', body, headers={'Accept': '*/*'})
    assert server.post('/blur?sigma=1', body, headers={'Accept': 'image/webp'}).headers['Content-Type'] == 'image/webp'
    assert server.post('/blur?sigma=1', body, headers={'Accept': 'image/png,image/*;q=0.5'}).headers['Content-Type'] == 'image/png'


@pytest.mark.parametrize('accept, kind', (('image/avif', 'avif'), ('image/avif,image/png;q=0.5', 'avif'), ('image/avif,image/webp,*/*;q=0.8', 'webp'),
                                          ('image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8', 'gif'), ('image/avif,*/*', 'gif'),
                                          ('image/avif;q=0.5,image/gif', 'gif')))
def test_avif_is_chosen_where_only_it_is_asked_for(server, accept, kind):
    answer = server.post('/blur?sigma=1', make('gif', moving('gif'), [50] * COUNT), headers={'Accept': accept})
    assert answer.headers['Content-Type'] == f'image/{kind}'


def test_times_of_any_scale(server):
    """The timescale is that of the first frame, or the least multiple of it from 1000 on."""
    frames = moving('jxl')
    film = jxls.animation(frames, (1, 3, 1, 1, 2), ticks=24000, parts=1001)
    assert times(tracks(ask(server, f'{NOTHING}&format=avif', film))[0]) == (24000, [1001, 3003, 1001, 1001, 2002])
    slow = jxls.animation(frames, (1, 3, 1, 1, 2), ticks=24, parts=1)
    assert times(tracks(ask(server, f'{NOTHING}&format=avif', slow))[0]) == (1008, [42, 126, 42, 42, 84])
    at_once = make('webp', moving('webp'), (0, 40, 0, 0, 7))  # a frame of a track has a time
    assert times(tracks(ask(server, f'{NOTHING}&format=avif', at_once))[0]) == (1000, [1, 40, 1, 1, 7])


def test_frames_and_pages(server):
    body = make('webp', moving('webp'), DELAYS, 2)
    some = ask(server, f'{NOTHING}&format=avif&frames=1-2', body)
    assert times(tracks(some)[0])[1] == list(DELAYS[1:3]) and plays(some) == 2
    for got, want in zip(shown(some), moving('webp')[1:3], strict=True):
        assert_close(got[..., :3], want)
    for one in ('frames=3', 'page=3'):
        still = ask(server, f'{NOTHING}&format=avif&{one}', body)
        assert still[8:12] == b'avif' and b'moov' not in still
        assert_close(test_sequences.avif_frames(still, 1)[0][..., :3], moving('webp')[3])


@pytest.mark.parametrize('filters, size', (('blur?sigma=2', (WIDTH, HEIGHT)), ('resize?width=17', (17, 13)), ('rotate?angle=90', (HEIGHT, WIDTH)),
                                           ('crop?x=3&y=4&width=1&height=1', (1, 1)), ('crop?x=3&y=4&width=11&height=1', (11, 1))))
def test_each_frame_is_filtered(server, filters, size):
    body = make('png', moving('png', 4), DELAYS)
    want = animated.read(server.post(f'/{filters}&format=png', body).content).frames
    for got, frame in zip(shown(ask(server, f'{filters}&format=avif&quality=95', body)), want, strict=True):
        assert got.shape[1::-1] == size
        assert_close(got, frame, 10)


def test_colours_depth_and_subsampling(server):
    """As a still picture has them: 16 bits become 10, grey stays grey, a profile stays with the file."""
    deep = test_sequences.avif(moving('avif'), DELAYS, '--depth', '12')
    for options, says in (('', 'YUV420'), ('&subsampling=444', 'YUV444'), ('&subsampling=422', 'YUV422')):
        described = describe(ask(server, f'blur?sigma=1{options}', deep))
        assert re.search(r'Bit Depth *: 10', described) and says in described
    grey = test_sequences.avif(moving('avif'), DELAYS, '--yuv', '400')
    assert re.search(r'Format *: YUV400', describe(ask(server, 'blur?sigma=1', grey)))
    profile = pictures.icc()
    body = make('webp', moving('webp'), DELAYS)
    at = body.index(b'ANIM')
    body = body[:at] + animated.chunk(b'ICCP', profile) + body[at:]
    body = b'RIFF' + struct.pack('<I', len(body) - 8) + body[8:20] + bytes((0x32,)) + body[21:]
    answer = ask(server, 'blur?sigma=1&format=avif', body)
    assert profile in answer and re.search(r'ICC Profile *: Present', describe(answer))


def test_quality_and_effort(server):
    body = make('webp', moving('webp', count=12), [40] * 12)
    sizes = [len(ask(server, f'blur?sigma=0.5&format=avif&quality={quality}', body)) for quality in (20, 60, 95)]
    assert sizes[0] < sizes[1] < sizes[2]
    assert ask(server, 'blur?sigma=0.5&format=avif&effort=9', body) == ask(server, 'blur?sigma=0.5&format=avif&effort=1', body)


def test_frames_are_predicted_from_others(server):
    """What does not change is not written again."""
    still = make('webp', [moving('webp')[0]] * 12, [40] * 12)
    once = server.post('/blur?sigma=0.5&format=avif&page=0', still)
    answer = ask(server, 'blur?sigma=0.5&format=avif', still)
    assert len(answer) < 2 * len(once.content) + 1500 and len(shown(answer)) == 12


@pytest.mark.parametrize('kind', KINDS)
def test_nothing_of_a_redacted_place_is_in_any_frame(server, kind):
    """Files of two secrets are equal to the byte; nothing in them tells when they were made."""
    left, top, wide, high = 9, 6, 24, 19
    answers = []
    for secret in (0, 1):
        frames = [frame.copy() for frame in moving(kind)]
        for index, frame in enumerate(frames):
            inner = numpy.random.default_rng(9 * secret + index).integers(0, 2, (high, wide, 3)) * 224
            frame[top:top + high, left:left + wide, :3] = inner
        if kind == 'avif':  # without losses the secret stays in its place
            frames = [numpy.repeat(frame[..., :1], 3, 2) for frame in frames]
            body = test_sequences.avif(frames, DELAYS, '--lossless', '--yuv', '400')
        else:
            body = make(kind, frames, DELAYS)
        answers.append(ask(server, f'redact?region={left},{top},{wide},{high}&fill=204060&format=avif', body))
        for frame in shown(answers[-1]):
            hidden = frame[top + 4:top + high - 4, left + 4:left + wide - 4]
            assert numpy.abs(hidden[..., :3].astype(int) - (58 if kind == 'avif' else (0x20, 0x40, 0x60))).max() < 24
        time.sleep(1.1 if secret == 0 else 0)
    assert answers[0] == answers[1]


@codes.needed
@pytest.mark.parametrize('kind', ('avif', 'png'))
def test_what_is_found_is_held_over_frames(server, kind):
    """A code that is in three of nine frames is hidden in those around them, too. Codes are read in the process of the decoder."""
    code = numpy.asarray(codes.drawn(codes.QR, 5))
    frames = []
    for index in range(9):
        frame = numpy.full((200, 240, 3), 200, numpy.uint8)
        if 3 <= index <= 5:
            frame[40:40 + code.shape[0], 60:60 + code.shape[1]] = code[..., None]
        frames.append(frame)
    answer = ask(server, 'redact?detect=codes&detect_hold=2&fill=204060&format=avif', make(kind, frames, [40] * 9))
    for index, frame in enumerate(shown(answer)):
        middle = frame[40 + code.shape[0] // 2, 60 + code.shape[1] // 2, :3].astype(int)
        assert (numpy.abs(middle - (0x20, 0x40, 0x60)).max() < 24) == (1 <= index <= 7), (index, middle)


# --- limits and faults --------------------------------------------------------------------
def noise(count, width=320, height=320):
    random = numpy.random.default_rng(3)
    return animated.png([Frame(random.integers(0, 256, (height, width, 4), numpy.uint8)) for _ in range(count)], width, height)


@pytest.mark.alone  # beside others it waits for a processor, and that is 503
def test_a_deadline_ends_the_encoder(start):
    own = start('--work-timeout', '200ms', '--workers', 1)
    assert check_late(lambda: own.post('/blur?sigma=1&format=avif', noise(100, 200, 200))).elapsed.total_seconds() < 4 * daemon.SLOW
    assert own.post('/blur?sigma=1&format=avif', make('webp', moving('webp'), DELAYS)).status_code == 200


def test_memory_is_predicted(start):
    """An answer of noise takes as much as predicted; canvases that are too large are refused before any work."""
    own = start('--memory', '512MiB', '--workers', 1, '--gpus', 'none')
    assert len(shown(ask(own, 'blur?sigma=0.5&format=avif&quality=100&subsampling=444', noise(12, 200, 200)))) == 12
    dot = animated.webp_frame(Frame(numpy.full((1, 1, 4), 255, numpy.uint8)))
    large = animated.webp_file(dot * 3, 2500, 2500)
    assert own.post('/blur?sigma=1&format=gif', large).status_code == 200
    check_problem(own.post('/blur?sigma=1&format=avif', large), 'limit-exceeded', None, 'memory')


@pytest.mark.parametrize('number, problem, says', ((signal.SIGABRT, None, ''),
                                                   (signal.SIGKILL, 'overloaded', 'killed from outside')))
def test_an_encoder_that_faults(start, number, problem, says):
    own = start('--workers', 1)
    done = threading.Event()
    killer = threading.Thread(target=test_codec_process.kill_while_decoding, args=(own, done, number))
    killer.start()
    try:
        answer = own.post('/blur?sigma=1&format=avif', noise(40))
    finally:
        done.set()
        killer.join()
    if problem:
        check_problem(answer, problem, says=says)
    assert answer.status_code == (503 if problem else 500)
    assert own.metrics()['blurd_codec_faults_total'] >= 1
    assert len(shown(ask(own, 'blur?sigma=1&format=avif', make('avif', moving('avif'), DELAYS)))) == COUNT


def test_the_process_ends_with_the_request(start):
    """An encoder has seen pictures of a client; one that is refused midway leaves none, nor does one that is complete leave a decoder."""
    own = start('--workers', 1)
    body = make('avif', moving('avif'), DELAYS)
    assert own.post('/blur?sigma=1', body).status_code == 200
    assert daemon.eventually(lambda: not test_codec_process.codecs(own))
    check_problem(own.post('/redact?detect=codes&format=avif', make('png', moving('png'), DELAYS)), 'no-region', 'detect')
    assert daemon.eventually(lambda: not test_codec_process.codecs(own))


def test_a_drain_waits_for_the_last_frame(start):
    own = start('--workers', 1, '--drain-timeout', '1m')
    answers = []
    asking = threading.Thread(target=lambda: answers.append(own.post('/blur?sigma=1&format=avif', noise(30))))
    asking.start()
    assert daemon.eventually(lambda: any(test_codec_process.cpu_seconds(process) > 0.1 for process in test_codec_process.codecs(own)))
    os.kill(own.process.pid, signal.SIGTERM)
    asking.join()
    assert answers[0].status_code == 200 and len(times(tracks(answers[0].content)[0])[1]) == 30
    assert own.wait() == 0
