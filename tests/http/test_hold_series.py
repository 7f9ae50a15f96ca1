# SPDX-License-Identifier: MIT
"""A series with detect_hold: frames wait for those behind them, in bounded memory and time."""

import io

import numpy
import pytest
from PIL import Image

import daemon
import faces
import pictures
import streams
import test_hold
import wire
from test_hold import REDACT, blank, frame, hidden

pytestmark = faces.needed

TARGET = f'/series/{REDACT}'


def jpeg(picture):
    return faces.encoded(picture, quality=95)


def are_hidden(answer):
    return [hidden(numpy.asarray(Image.open(io.BytesIO(one)))).any() for one in answer.frames]


def test_a_frame_is_answered_once_those_behind_it_are_searched(server):
    with streams.Stream(server.port, f'{TARGET}&detect_hold=3') as stream:
        for i in range(9):
            stream.put(jpeg(frame() if i == 4 else blank()))
            assert stream.wait_for_frames(i - 2)
            assert len(stream.frames) <= max(i - 2, 0), 'not before'
        assert stream.finish().whole and are_hidden(stream) == [abs(i - 4) <= 3 for i in range(9)]


def test_without_memory_each_frame_is_a_request(server):
    sent = [jpeg(frame() if i % 2 else blank()) for i in range(6)]
    answer = streams.ask(server.port, f'{TARGET}&detect_hold=0', *sent)
    assert answer.frames == [server.post(f'/{REDACT}&require=false', one).content for one in sent]
    answer = streams.ask(server.port, '/series/blur?sigma=3&region=5,5,50,50', *sent)
    assert answer.frames == [server.post('/blur?sigma=3&region=5,5,50,50', one).content for one in sent]


@pytest.mark.parametrize('count', (1, 2, 5, 6, 7))
def test_series_shorter_than_the_wait(server, count):
    answer = streams.ask(server.port, TARGET, *[jpeg(frame() if i == count - 1 else blank()) for i in range(count)])
    assert answer.whole and are_hidden(answer) == [count - 1 - i <= 5 for i in range(count)]


def test_frames_of_other_sizes(server):
    """What was found is scaled to them."""
    large = blank().resize((480, 540))
    answer = streams.ask(server.port, TARGET, jpeg(frame()), jpeg(large))
    mask = hidden(numpy.asarray(Image.open(io.BytesIO(answer.frames[1]))))
    left, top, right, bottom = test_hold.face(60, 40)
    assert mask[3 * top:3 * bottom, 2 * left:2 * right].mean() > 0.75 and mask.mean() < 0.3


def test_a_frame_that_fails_is_the_end(server):
    """Those before it are answered, with what was found among them."""
    bad = jpeg(frame())[:900] + b'\xff\xd9'
    answer = streams.ask(server.port, TARGET, jpeg(blank()), jpeg(frame()), jpeg(blank()), bad, jpeg(frame()))
    assert answer.status == 200 and not answer.whole and are_hidden(answer) == [True] * 3
    assert server.wait_for_line(r'path=/series/redact .*detail="frame 4: .*frames=3')


def test_a_frame_that_takes_longer_than_those_behind_it(start):
    """They wait for what is found in it, although all behind them are searched."""
    own = start('--workers', 4)
    slow = frame().resize((20 * test_hold.SIZE[0], 20 * test_hold.SIZE[1]))
    answer = streams.ask(own.port, TARGET, jpeg(slow), *[jpeg(blank())] * 8)
    assert answer.whole and are_hidden(answer) == [i <= 5 for i in range(9)]


def test_a_client_that_stops_sending_while_frames_wait(start):
    own = start('--body-timeout', '400ms')
    with streams.Stream(own.port, f'{TARGET}&detect_hold=5') as stream:
        stream.put(*[jpeg(blank())] * 7)
        assert stream.wait_for_frames(2) and not stream.wait().whole
    assert len(stream.frames) == 2 and own.wait_for_line(r'path=/series/redact .*reason=timeout.*frames=2')
    assert daemon.eventually(lambda: own.metrics()['blurd_requests_in_flight'] == 1)


def test_the_time_limit_is_not_for_the_wait(start):
    """Frames wait longer than work_timeout for those behind them."""
    own = start('--work-timeout', f'{1000 * daemon.SLOW:.0f}ms', '--body-timeout', '1m', '--min-rate', '0')
    with streams.Stream(own.port, TARGET) as stream:
        stream.put(jpeg(frame()))
        assert not own.wait_for_line(r'path=/series.*reason=', timeout=1.5)
        assert stream.finish().whole and are_hidden(stream) == [True]


def test_frames_that_wait_are_bounded(start):
    """A client that does not read is held back, and the daemon serves others."""
    own = start('--workers', 1, '--write-timeout', '2s')
    noise = pictures.jpeg(pictures.noise(640, 480), 95)
    with own.connect(30) as connection:
        connection.send(wire.message('POST', f'{TARGET}&detect_hold=25', length=False, headers=[f'Content-Length: {len(noise) * 4000}']))
        connection.socket.settimeout(1)
        sent = 0
        try:
            while sent < len(noise) * 400:
                sent += connection.socket.send(noise[sent % len(noise):])
        except TimeoutError:
            pass
        assert len(noise) * 20 < sent < len(noise) * 100
        assert own.metrics()['blurd_slot_bytes'] < 60 * len(noise) + (64 << 20)
        assert own.wait_for_line(r'path=/series/redact .*reason=timeout', timeout=30)
    assert daemon.eventually(lambda: own.metrics()['blurd_requests_in_flight'] == 1)


def test_bodies_without_memory_end_the_series(start):
    """Frames whose bodies fill their share of memory cannot wait for more of them: no deadlock, and no frame that hides less."""
    own = start('--memory', '64MiB', '--workers', 1)
    noise = pictures.jpeg(pictures.noise(1200, 900), 95)
    answer = streams.ask(own.port, f'{TARGET}&detect_hold=25', *[noise] * 60, timeout=60)
    if answer.status == 200:
        assert not answer.whole
    assert own.wait_for_line(r'path=/series/redact .*reason=overloaded', timeout=30)
    assert own.post('/blur?sigma=3', pictures.small_jpeg()).status_code == 200


def test_a_client_that_leaves_while_frames_wait(start):
    own = start()
    for ends in ('close', 'reset'):
        stream = streams.Stream(own.port, TARGET, reads=False)
        stream.put(*[jpeg(frame())] * 4)
        getattr(stream, ends)()
    assert daemon.eventually(lambda: own.metrics()['blurd_requests_in_flight'] == 1)


def test_drain(start):
    """Frames that have arrived are answered; the answer is not called whole."""
    own = start('--workers', 1)
    with streams.Stream(own.port, f'{TARGET}&detect_hold=2') as stream:
        stream.put(*[jpeg(frame())] * 4)
        assert stream.wait_for_frames(2)
        own.process.terminate()
        assert not stream.wait().whole and are_hidden(stream) == [True] * 4
    assert own.wait() == 0


def test_two_series_and_a_full_queue(start):
    own = start('--workers', 1, '--queue', 1)
    sent = [jpeg(frame() if i % 9 == 4 else blank()) for i in range(18)]
    answer = streams.ask(own.port, TARGET, *sent)
    assert answer.whole and len(answer.frames) == 18 and all(are_hidden(answer))
    metrics = own.metrics()
    assert metrics['blurd_frames_total'] == 18


@pytest.mark.parametrize('query', ('detect_hold=3', 'detect_hold=5&gravity=faces', 'detect=faces&detect_hold=26', 'detect=faces&detect_hold=-1', 'detect=faces&detect_hold=1.5'))
def test_wrong_values(server, query):
    answer = server.post(f'/crop?aspect=1:1&{query}', pictures.small_jpeg())
    assert answer.status_code == (200 if query == 'detect_hold=5&gravity=faces' else 400)
    assert answer.status_code == 200 or answer.json()['parameter'] == 'detect_hold'
