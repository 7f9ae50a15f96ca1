# SPDX-License-Identifier: MIT
"""--admin-listen: health and metrics apart from the work."""

import threading
import time

import pytest
import requests

import daemon
import pictures
import wire


@pytest.fixture(scope='module')
def both():
    with daemon.Daemon('--admin-listen', '127.0.0.1', '--admin-port', 0, '--workers', 2, '--queue', 8) as running:
        running.admin = int(running.wait_for_line(r'health and metrics on port (\d+)').group(1))
        yield running


def ask(port, target, method='GET'):
    return requests.request(method, f'http://127.0.0.1:{port}{target}', timeout=10 * daemon.SLOW)


def test_who_answers_what(both):
    for target in ('/livez', '/readyz'):
        assert ask(both.port, target).status_code == ask(both.admin, target).status_code == 200
    for target in ('/metrics', '/metric'):
        refused = ask(both.port, target)
        assert refused.status_code == 404 and 'metrics' not in refused.text, 'numbers are for those who operate it'
    assert 'blurd_requests_total' in ask(both.admin, '/metrics').text
    for target in ('/', '/version'):
        assert ask(both.port, target).status_code == 200 and ask(both.admin, target).status_code == 404
    refused = ask(both.admin, '/blur', 'POST')
    assert refused.status_code == 404 and 'blur?' not in refused.text, 'no work through this door'
    assert ask(both.admin, '/metrics', 'POST').status_code == 405


def test_without_it_all_is_on_one_port(server):
    assert ask(server.port, '/metrics').status_code == 200


def test_answers_while_all_is_busy(both, say):
    """Workers and queue full, the first listener at its limit."""
    stop, took = threading.Event(), []
    body = pictures.slow_png(300)

    def load():
        while not stop.is_set():
            requests.post(f'http://127.0.0.1:{both.port}{pictures.SLOW_QUERY}', data=body, timeout=60 * daemon.SLOW)

    threads = [threading.Thread(target=load) for _ in range(16)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 4
    while time.monotonic() < until:
        for target in ('/livez', '/readyz', '/metrics'):
            begin = time.monotonic()
            with wire.Wire(both.admin, 10 * daemon.SLOW) as connection:
                connection.send(wire.message('GET', target))
                assert connection.answer().status == 200
            took.append(time.monotonic() - begin)
        time.sleep(0.01)
    stop.set()
    for thread in threads:
        thread.join()
    took.sort()
    p99 = took[int(len(took) * 0.99)]
    say(f'health and metrics under overload: p50 {took[len(took) // 2] * 1e3:.1f} p99 {p99 * 1e3:.1f} ms of {len(took)}')
    assert p99 < 0.1 * daemon.SLOW


def test_it_answers_until_the_end(start):
    own = start('--admin-listen', '127.0.0.1', '--admin-port', 0, '--workers', 1)
    admin = int(own.wait_for_line(r'health and metrics on port (\d+)').group(1))
    with own.connect() as connection:
        connection.send(wire.message('POST', pictures.SLOW_QUERY, pictures.slow_png(700)))
        assert daemon.eventually(lambda: own.metrics_of(admin)['blurd_requests_in_flight'] == 2)
        own.signal()
        assert own.wait_for_line('drain')
        assert ask(admin, '/livez').status_code == 200
        assert ask(admin, '/readyz').json()['status'] == 'draining'
        assert own.metrics_of(admin)['blurd_draining'] == 1
        assert connection.answer().status == 200
    assert own.wait() == 0


def test_a_port_that_is_taken_stops_the_start(server):
    code, _, log = daemon.run('--listen', '127.0.0.1', '--port', 0, '--admin-listen', '127.0.0.1', '--admin-port', server.port)
    assert code == 78 and str(server.port) in log
