# SPDX-License-Identifier: MIT
"""--idle-exit: a daemon without requests exits, and one with a held socket restarts without a loss."""

import concurrent.futures
import select
import threading
import time

import pytest
import requests

import daemon
import pictures
import wire
from test_activation import Launched, listener

IDLE = 0.4 * daemon.SLOW
OPTION = ('--idle-exit', f'{int(IDLE * 1000)}ms')


def test_it_ends_when_nobody_asks(start):
    begin = time.monotonic()
    own = start(*OPTION)
    assert own.wait() == 0
    assert IDLE <= time.monotonic() - begin < IDLE + 2 * daemon.SLOW
    assert own.wait_for_line(f'no request for {int(IDLE * 1000)} ms')


def test_it_does_not_by_default(start):
    own = start()
    time.sleep(2 * IDLE)
    assert own.process.poll() is None


def test_requests_put_it_off(start):
    own = start(*OPTION)
    with own.connect() as connection:  # one connection, so that only requests can
        for _ in range(6):
            time.sleep(IDLE / 2)
            connection.send(wire.message('GET', '/livez'))
            assert connection.answer().status == 200
    assert own.wait() == 0


def test_connections_without_requests_do_not(start):
    own = start(*OPTION)
    with own.connect() as used, own.connect():
        used.send(wire.message('GET', '/livez'))
        assert used.answer().status == 200
        begin = time.monotonic()
        assert own.wait() == 0 and time.monotonic() - begin < IDLE + 3 * daemon.SLOW
        assert used.answer() is None


def test_a_long_request_is_finished(start):
    body = pictures.slow_png(1250)
    own = start(*OPTION, '--workers', 1)
    begin = time.monotonic()
    assert own.post(pictures.SLOW_QUERY, body).status_code == 200
    assert time.monotonic() - begin > IDLE
    assert own.wait() == 0


def test_a_slow_body_is_a_request(start):
    message = wire.message('POST', '/blur?sigma=2', pictures.small_png())
    own = start(*OPTION)
    with own.connect() as connection:
        connection.send(message[:-20])
        time.sleep(2 * IDLE)
        connection.send(message[-20:])
        assert connection.answer().status == 200
    assert own.wait() == 0


def test_scrapes_of_the_second_listener_do_not_put_it_off(start):
    own = start(*OPTION, '--admin-listen', '127.0.0.1', '--admin-port', 0)
    admin = int(own.wait_for_line(r'health and metrics on port (\d+)').group(1))
    until = time.monotonic() + 10 * daemon.SLOW
    with pytest.raises(requests.ConnectionError):
        while time.monotonic() < until:
            own.metrics_of(admin)
            time.sleep(IDLE / 10)
    assert own.wait() == 0


def test_the_drain_delay_holds(start):
    own = start(*OPTION, '--drain-delay', '3s')
    assert own.wait_for_line('finishing 0 requests')
    assert own.get('/readyz').status_code == 503
    assert own.post('/blur?sigma=2', pictures.small_png()).status_code == 200
    assert own.wait() == 0


def test_it_can_be_switched_on_by_a_reload(start, tmp_path):
    file = tmp_path / 'conf'
    file.write_text('')
    own = start('--config', file)
    file.write_text('idle_exit = 100ms\n')
    own.signal(1)
    assert own.wait() == 0


@pytest.mark.parametrize('value', ('-1s', '25h', '5'))
def test_values_that_are_not_allowed(value):
    code, _, log = daemon.run('--idle-exit', value)
    assert code == 78 and 'idle-exit' in log


class Manager:
    """As systemd does for a socket: a connection starts a daemon when none runs."""

    def __init__(self, one, *options):
        self.socket, self.options, self.codes = one, options, []
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.ending.is_set():
            if select.select([self.socket], [], [], 0.05)[0]:
                own = Launched([self.socket], *self.options)
                self.codes.append(own.wait(60))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()


def test_a_held_socket_loses_nothing(say):
    """Clients come at all moments of an end and a start."""
    body, idle, count = pictures.small_png(), 0.05 * daemon.SLOW, 40
    message = wire.message('POST', '/blur?sigma=2', body, ['Connection: close'])

    def ask(port):
        begin = time.monotonic()
        with wire.Wire(port, 30 * daemon.SLOW) as connection:
            connection.send(message)
            answer = connection.answer()
        return answer.status if answer else 'nothing', time.monotonic() - begin

    with listener() as one, Manager(one, '--idle-exit', f'{int(idle * 1000)}ms') as manager:
        port, outcomes = one.getsockname()[1], []
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for i in range(count):
                outcomes += pool.map(ask, (port, port))
                time.sleep(idle * (0.7 + 0.6 * i / count))
    times = sorted(seconds for _, seconds in outcomes)
    lost = sum(status != 200 for status, _ in outcomes)
    say(f'{len(manager.codes)} starts by a request: {lost} of {len(outcomes)} lost, the slowest took {times[-1] * 1000:.0f} ms')
    assert lost == 0 and len(manager.codes) > count / 10 and not any(manager.codes)
