# SPDX-License-Identifier: MIT
"""Refusals and keep-alive through the proxies that people have in front."""

import collections
import os
import shutil
import subprocess
import time

import pytest

import daemon
import pictures
import proxies
import wire

TRIES = int(os.environ.get('BLURD_TRIES', 300))
LIMIT = 256 << 10
STREAMED = 'proxy_request_buffering off;'
FRONTS = (('direct', ''), ('haproxy', ''), ('nginx', ''), ('nginx', STREAMED))


@pytest.fixture(scope='module')
def small():
    with daemon.Daemon('--max-body', f'{LIMIT}', '--log-level', 'info') as running:
        yield running


@pytest.fixture(params=FRONTS, ids=('direct', 'haproxy', 'nginx', 'nginx-streaming'), scope='module')
def port(request, small):
    name, location = request.param
    if name == 'direct':
        yield small.port
        return
    with proxies.in_front_of(name, small, location) as proxy:
        yield proxy.port


def send(port, message):
    with wire.Wire(port, 20 * daemon.SLOW) as connection:
        connection.send(message)
        answer = connection.answer()
        return answer.status if answer else None


def chunked(body):
    return wire.message('POST', '/blur', wire.chunked(body), ['Transfer-Encoding: chunked'], length=False)


CASES = {
    'declared': lambda: wire.message('POST', '/blur', bytes(LIMIT + 1)),
    'declared, twice the limit': lambda: wire.message('POST', '/blur', bytes(2 * LIMIT)),
    'declared, beyond what is read': lambda: wire.message('POST', '/blur', bytes(6 * LIMIT)),
    'chunked': lambda: chunked(bytes(LIMIT + 1)),
    'chunked, almost twice the limit': lambda: chunked(bytes(2 * LIMIT - 1)),
}


@pytest.mark.parametrize('case', CASES)
def test_413_arrives(port, case, say):
    message = CASES[case]()
    found = collections.Counter(send(port, message) for _ in range(TRIES))
    say(f'413 for {case}: {dict(found)}')
    assert found[413] >= TRIES * 0.999


def test_413_arrives_at_curl(port, tmp_path, say):
    if not shutil.which('curl'):
        pytest.skip('no curl')
    body = tmp_path / 'body'
    body.write_bytes(bytes(2 * LIMIT))
    found = collections.Counter()
    for i in range(TRIES // 5):
        expect = ['-H', 'Expect:'] if i % 2 else ['-H', 'Expect: 100-continue']
        done = subprocess.run(['curl', '-s', '-o', os.devnull, '-w', '%{http_code}', *expect, '--data-binary', f'@{body}',
                               f'http://127.0.0.1:{port}/blur'], capture_output=True, check=False, timeout=30 * daemon.SLOW)
        found[done.stdout.decode(), done.returncode] += 1
    say(f'413 for curl: {dict(found)}')
    assert found['413', 0] >= TRIES // 5 * 0.999


def test_other_early_refusals_arrive(port, say):
    """Errors that are known from the headers, with a body on its way."""
    found = collections.Counter()
    for _ in range(TRIES // 3):
        found['404', send(port, wire.message('POST', '/nothing', bytes(LIMIT // 2)))] += 1
        found['400', send(port, wire.message('POST', '/blur?sigma=x', bytes(LIMIT // 2)))] += 1
    say(f'other refusals: {dict(found)}')
    assert found['404', 404] == found['400', 400] == TRIES // 3


def test_beyond_the_cap_when_chunked(request, small, port):
    """More than is worth reading: an end, not a hang, and the daemon is fine. It ends without an answer, of which HAProxy, which ends, too,
    and nginx, which reads on, make 502; nginx with all of the body says how long it is, and passes the refusal on."""
    ends = {FRONTS[0]: (None,), FRONTS[1]: (502, None), FRONTS[2]: (413,), FRONTS[3]: (502,)}[request.node.callspec.params['port']]
    begin, read = time.monotonic(), small.metrics()['blurd_received_bytes_total']
    assert send(port, chunked(bytes(12 * LIMIT))) in ends
    assert time.monotonic() - begin < 5 * daemon.SLOW
    assert small.metrics()['blurd_received_bytes_total'] - read < 3 * LIMIT
    assert send(port, wire.message('POST', '/blur', pictures.small_png())) == 200


@pytest.mark.parametrize('name', ('haproxy', 'nginx'))
def test_keep_alive_when_we_close_first(name, start, say):
    """Requests just when the idle time ends, with the wrong order of timeouts: the answers through a
    proxy."""
    own = start('--idle-timeout', '100ms')
    body = wire.message('POST', '/blur', pictures.small_png())
    found = collections.Counter()
    with proxies.in_front_of(name, own) as proxy:
        connection = proxy_wire(proxy)
        for i in range(60):
            connection.send(body)
            answer = connection.answer()
            found[answer and answer.status] += 1
            if not answer or answer.header('Connection') == 'close':
                connection.close()
                connection = proxy_wire(proxy)
            time.sleep(0.09 + 0.0005 * i)
        connection.close()
    say(f'{name}, requests when the idle time ends: {dict(found)}')
    assert set(found) <= {200, 502, None} and found[200] >= 40


@pytest.mark.parametrize('name', ('haproxy', 'nginx'))
def test_keep_alive_with_the_right_times(name, start, say):
    own = start()
    body = wire.message('POST', '/blur', pictures.small_png())
    with proxies.in_front_of(name, own) as proxy, proxy_wire(proxy) as connection:
        for _ in range(500):
            connection.send(body)
            assert connection.answer().status == 200
    assert own.metrics()['blurd_connections_total'] < 20, 'the proxy keeps its connections'


def proxy_wire(proxy):
    return wire.Wire(proxy.port, 20 * daemon.SLOW)
