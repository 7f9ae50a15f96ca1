# SPDX-License-Identifier: MIT
"""Deadlines are absolute: a byte now and then does not hold a connection."""

import select
import time

import pytest

import daemon
import pictures
import wire
from problems import check_problem

HEAD = wire.message('POST', '/blur?sigma=1', length=False, headers=['Content-Length: 5000', 'X-Request-Id: slow-one'])


@pytest.fixture(scope='module')
def impatient():
    with daemon.Daemon('--header-timeout', '400ms', '--body-timeout', '600ms', '--idle-timeout', '500ms',
                       '--write-timeout', '500ms') as running:
        yield running


def trickle(connection, data, limit):
    """A byte each 50 ms until the other side has something to say; the seconds that took."""
    begin = time.monotonic()
    for i in range(len(data)):
        connection.send(data[i:i + 1])
        if select.select([connection.socket], [], [], 0.05)[0] or time.monotonic() - begin > limit:
            break
    return time.monotonic() - begin


def test_slow_headers(impatient):
    with impatient.connect() as connection:
        took = trickle(connection, b'GET /livez HTTP/1.1\r\nHost: a\r\nX: ' + b'a' * 500, 5 * daemon.SLOW)
        assert 0.3 <= took < 1.5 * daemon.SLOW
        answer = connection.answer()
        assert answer is None or answer.status == 408
        assert answer is None or connection.is_closed()


def test_slow_body(impatient):
    with impatient.connect() as connection:
        connection.send(HEAD)
        took = trickle(connection, bytes(5000), 5 * daemon.SLOW)
        assert 0.5 <= took < 1.7 * daemon.SLOW
        answer = connection.answer()
        problem = check_problem(answer, 'timeout', says='body')
        assert problem['request_id'] == 'slow-one' and answer.header('Connection') == 'close'
        assert connection.is_closed()
    assert daemon.eventually(lambda: impatient.wait_for_line(r'id=slow-one .*status=408 reason=timeout'))


def test_body_that_stops(impatient):
    with impatient.connect() as connection:
        connection.send(HEAD + bytes(100))
        check_problem(connection.answer(), 'timeout', says='body')


def test_large_bodies_have_more_time(start):
    """A second for each 256 KiB that are announced, beside body_timeout."""
    own = start('--body-timeout', '100ms')
    message = wire.message('POST', '/blur?sigma=1', pictures.png(pictures.noise(700, 500)))
    assert len(message) > 1 << 20
    with own.connect() as connection:
        for part in range(0, len(message), 1 << 18):
            connection.send(message[part:part + (1 << 18)])
            time.sleep(0.1)
        assert connection.answer().status == 200


def test_body_that_stops_when_chunked(impatient):
    with impatient.connect() as connection:
        connection.send(wire.message('POST', '/blur', length=False, headers=['Transfer-Encoding: chunked']) + b'5\r\nhello\r\n')
        check_problem(connection.answer(), 'timeout', says='body')


def test_silence(impatient):
    with impatient.connect() as connection:
        answer = connection.answer()
        assert answer is None or answer.status == 408


def test_idle_connections_are_closed_in_silence(impatient):
    with impatient.connect() as connection:
        connection.send(wire.message('GET', '/livez'))
        assert connection.answer().status == 200
        begin = time.monotonic()
        assert connection.is_closed()
        assert 0.4 <= time.monotonic() - begin < 2 * daemon.SLOW


def test_work_is_not_the_clients_slowness(impatient):
    answer = impatient.post(pictures.SLOW_QUERY, pictures.slow_png(1000))  # longer than every timeout of a client
    assert answer.status_code == 200


def test_slow_readers_are_cut_off(impatient):
    body = pictures.png(pictures.noise(1800, 1500))
    with wire.Wire(impatient.port, 10 * daemon.SLOW, receive_buffer=4096) as connection:
        before = impatient.metrics()['blurd_connections_open']
        connection.send(wire.message('POST', '/blur?sigma=0.1&effort=0', body))
        assert select.select([connection.socket], [], [], 10 * daemon.SLOW)[0]
        assert daemon.eventually(lambda: impatient.metrics()['blurd_connections_open'] < before)
        with pytest.raises(AssertionError, match='cut short'):
            connection.answer()


def test_many_slow_clients_do_not_hold_others_up(impatient):
    slow = [impatient.connect() for _ in range(60)]
    for i, connection in enumerate(slow):
        connection.send(HEAD[:20] if i % 2 else HEAD)
    for _ in range(5):
        answer = impatient.post('/blur?sigma=1', pictures.small_png())
        assert answer.status_code == 200 and answer.elapsed.total_seconds() < 0.5 * daemon.SLOW
    for connection in slow:
        answer = connection.answer()
        assert answer is None or answer.status == 408
        connection.close()


def test_everything_is_released(impatient):
    """After all of the above: no request, no connection but ours."""
    assert daemon.eventually(lambda: impatient.metrics()['blurd_requests_in_flight'] == 1)
    assert daemon.eventually(lambda: impatient.metrics()['blurd_connections_open'] == 1)
    assert impatient.metrics()['blurd_queue_depth'] == 0
