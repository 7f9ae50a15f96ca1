# SPDX-License-Identifier: MIT
"""Large bodies are read in turns beside a GPU, and each request gets its picture: server/http/body_throttle.h."""

import concurrent.futures
import os
import signal
import time

import pytest

import certificates
import daemon
import fake_gpu
import pictures
import wire
from certificates import Pair, Secure, context
from fake_gpu import ask, launch

pytestmark = fake_gpu.needed
BODY = pictures.jpeg(pictures.noise(320, 240), subsampling='420')  # 75 kB
OTHER = pictures.png(pictures.noise(200, 150))  # 90 kB, which no codec of the GPU takes
LIMIT = 8  # of one event thread beside one place
TURN_MS = 100  # the longest wait for a turn
OPTIONS = ('--jpeg-codec', 'gpu', '--event-threads', 1, '--gpu-pictures', 1, '--workers', 1, '--gpu-timeout', '20s', '--work-timeout', '60s', '--queue-target', '10s')


@pytest.fixture(scope='module')
def expected():
    own = fake_gpu.Reference()
    yield own(BODY)
    own.stop()


class Stopped:
    """A daemon whose GPU's process is stopped while as many requests as are read at a time wait for it."""

    def __init__(self, start):
        self.own = launch(start, *OPTIONS)
        self.engine = fake_gpu.engine(self.own)
        self.connections = []
        ask(self.own, BODY)  # the worker is connected
        os.kill(self.engine, signal.SIGSTOP)
        for _ in range(LIMIT):
            self.send(wire.message('POST', '/blur?sigma=2', BODY))
        assert daemon.eventually(lambda: self.received() >= (LIMIT + 1) * len(BODY))

    def received(self):
        return self.own.metrics()['blurd_received_bytes_total']

    def send(self, message, connect=None):
        self.connections.append(connect() if connect else self.own.connect(60))
        self.connections[-1].send(message)
        return self.connections[-1]

    def go_on(self):
        os.kill(self.engine, signal.SIGCONT)

    def assert_pictures(self, expected, count):
        answers = [connection.answer() for connection in self.connections]
        assert len(answers) == count
        assert [(answer.status, answer.body == expected) for answer in answers] == [(200, True)] * count
        for connection in self.connections:
            connection.close()


@pytest.fixture
def stopped(start):
    return Stopped(start)


def is_read_later(stopped):
    """Whether another body was seen to be left alone for half of a turn. On a busy host nothing may be seen in time."""
    before, begin = stopped.received(), time.monotonic()
    stopped.send(wire.message('POST', '/blur?sigma=2', BODY))
    time.sleep(TURN_MS / 1000 / 2)
    seen = stopped.received()
    in_time = time.monotonic() - begin < TURN_MS / 1000
    assert daemon.eventually(lambda: stopped.received() >= before + len(BODY))
    return in_time and seen == before


def test_a_body_waits_for_its_turn(stopped, expected):
    count = LIMIT
    for count in range(LIMIT + 1, LIMIT + 11):
        if is_read_later(stopped):
            break
    else:
        pytest.fail('ten bodies were read at once')
    stopped.go_on()
    stopped.assert_pictures(expected, count)


def test_more_clients_than_turns(start, expected):
    own = launch(start, *OPTIONS)
    with concurrent.futures.ThreadPoolExecutor(5 * LIMIT) as pool:
        assert [result == expected for _, result in pool.map(lambda _: ask(own, BODY), range(5 * LIMIT))] == [True] * 5 * LIMIT


def test_pictures_for_cores_hold_no_turns(stopped, expected):
    """The GPU's process is stopped, and so are requests that need it. Those beside them are read at once."""
    reference = fake_gpu.Reference()
    for _ in range(LIMIT):
        own = stopped.own.connect(60)
        begin = time.monotonic()
        own.send(wire.message('POST', '/blur?sigma=2&backend=cpu', OTHER))
        assert own.answer().body == reference(OTHER)
        own.close()
        assert time.monotonic() - begin < 1 * daemon.SLOW
    reference.stop()
    stopped.go_on()
    stopped.assert_pictures(expected, LIMIT)


def test_slow_clients_hold_no_turns(start, expected):
    own = launch(start, *OPTIONS)
    message = wire.message('POST', '/blur?sigma=2', BODY)
    slow = [own.connect() for _ in range(3 * LIMIT)]
    for connection in slow:
        connection.send(message[:-1000])
    begin = time.monotonic()
    assert ask(own, BODY)[1] == expected
    assert time.monotonic() - begin < 1 * daemon.SLOW
    for connection in slow:
        connection.send(message[-1000:])
    assert [connection.answer().body == expected for connection in slow] == [True] * len(slow)


def test_a_client_that_waits_for_leave(stopped, expected):
    """100 comes while others have their turns or afterwards, and the body is read."""
    head = wire.message('POST', '/blur?sigma=2', headers=['Expect: 100-continue', f'Content-Length: {len(BODY)}'], length=False)
    last = stopped.send(head)
    assert last.answer().status == 100
    last.send(BODY)
    stopped.go_on()
    stopped.assert_pictures(expected, LIMIT + 1)


def test_clients_that_leave(stopped, expected):
    message = wire.message('POST', '/blur?sigma=2', BODY)
    for leave in ('close', 'reset') * 2:
        getattr(stopped.send(message), leave)()
        stopped.connections.pop()
    stopped.send(message)
    stopped.go_on()
    stopped.assert_pictures(expected, LIMIT + 1)
    assert daemon.eventually(lambda: stopped.own.metrics()['blurd_requests_in_flight'] <= 1)  # that of the question


def test_the_end_of_the_daemon(stopped, expected):
    """Bodies that wait are read, and answered."""
    for _ in range(3):
        stopped.send(wire.message('POST', '/blur?sigma=2', BODY))
    assert daemon.eventually(lambda: stopped.own.metrics()['blurd_requests_in_flight'] == LIMIT + 3 + 1)
    stopped.own.signal()
    stopped.go_on()
    stopped.assert_pictures(expected, LIMIT + 3)
    assert stopped.own.wait() == 0


@certificates.needed
def test_tls(start, tmp_path, expected):
    pair = Pair(tmp_path)
    own = start(*fake_gpu.options(*OPTIONS), *pair.options(), '--admin-listen', '127.0.0.1', '--admin-port', 0,
                environment=fake_gpu.settings())
    with concurrent.futures.ThreadPoolExecutor(3 * LIMIT) as pool:
        def post(_):
            with Secure(own.port, 60 * daemon.SLOW, context(pair)) as one:
                one.send(wire.message('POST', '/blur?sigma=2', BODY))
                return one.answer().body
        assert [body == expected for body in pool.map(post, range(3 * LIMIT))] == [True] * 3 * LIMIT
