# SPDX-License-Identifier: MIT
"""Many connections, slow ones, and no descriptors left."""

import os
import re
import resource
import select
import signal
import threading
import time

import pytest

import daemon
import pictures
import wire
from problems import check_problem

LIVEZ = wire.message('GET', '/livez')


def open_files(count):
    """Room for that many connections of this process; skips the test where there is none."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count and hard < count:
        pytest.skip(f'only {hard} open files are allowed here')
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count), hard))


def ask(connection):
    connection.send(LIVEZ)
    answer = connection.answer()
    return answer and answer.status


def processor_seconds(own):
    fields = open(f'/proc/{own.process.pid}/stat', encoding='ascii').read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def test_the_table_of_descriptors_is_large_from_the_start(start):
    """While it grows, threads that open a descriptor wait for 20 to 40 ms."""
    own = start('--connections', 700)
    status = open(f'/proc/{own.process.pid}/status', encoding='ascii').read()
    size = int(re.search(r'^FDSize:\s*(\d+)$', status, re.MULTILINE).group(1))
    assert size > 2 * 700, 'each connection may have a body'


# --- event threads ---------------------------------------------------------------------

def sockets_of(own):
    """For each set of epoll, how many sockets it has."""
    folder, found = f'/proc/{own.process.pid}', []
    for name in os.listdir(f'{folder}/fdinfo'):
        try:
            lines = open(f'{folder}/fdinfo/{name}', encoding='ascii').read().splitlines()
            watched = [line.split()[1] for line in lines if line.startswith('tfd:')]
            found.append(sum('socket:' in os.readlink(f'{folder}/fd/{fd}') for fd in watched))
        except OSError:  # it was closed meanwhile
            continue
    return sorted(found)


def test_each_event_thread_gets_as_many_connections(start):
    own = start('--event-threads', 4)
    before = sockets_of(own)
    held = [own.connect() for _ in range(16)]
    assert [ask(connection) for connection in held] == [200] * 16
    assert sockets_of(own)[-5:] == [4, 4, 4, 4, 16], 'four threads and the watchdog'
    for connection in held[::4] + held[1::4]:
        connection.close()
    assert daemon.eventually(lambda: sockets_of(own)[-1] == 8)
    held = [connection for i, connection in enumerate(held) if i % 4 > 1] + [own.connect() for _ in range(4)]
    assert [ask(connection) for connection in held] == [200] * 12
    assert sockets_of(own)[-1] == 12 and max(sockets_of(own)[:-1]) <= 4
    for connection in held:
        connection.close()
    assert daemon.eventually(lambda: sockets_of(own) == before)


# --- too many --------------------------------------------------------------------------

def test_the_connections_idle_longest_are_closed_first(start):
    own = start('--connections', 8, '--connections-soft', 4)
    held = [own.connect() for _ in range(4)]
    for connection in held:
        assert ask(connection) == 200
    time.sleep(0.2)  # for 0.1 s after an answer the next request may be on its way
    late = [own.connect() for _ in range(2)]
    for connection in late:
        assert ask(connection) == 200
    assert held[0].is_closed() and held[1].is_closed(), 'the oldest'
    for connection in held[2:] + late:
        assert ask(connection) == 200
    assert own.metrics()['blurd_connections_shed_total'] >= 2
    for connection in held + late:
        connection.close()


def test_work_is_not_cut_off_for_the_number(start):
    own = start('--connections', 8, '--connections-soft', 1, '--workers', 1, '--work-timeout', '60s')
    slow = wire.message('POST', pictures.SLOW_QUERY, pictures.slow_png(400))
    busy = [own.connect() for _ in range(4)]
    for connection in busy:
        connection.send(slow)
    answers = [connection.answer() for connection in busy]
    assert [answer.status for answer in answers] == [200] * 4
    assert answers[0].header('Connection') == 'close', 'nothing was idle: answers are the last of their connections'
    for connection in busy:
        connection.close()


def test_by_default_three_quarters_of_the_limit(start):
    own = start('--connections', 8)
    held = [own.connect() for _ in range(8)]
    assert [ask(connection) for connection in held] == [200] * 8
    time.sleep(0.2 * daemon.SLOW)
    left = [ask(connection) for connection in held].count(200)
    assert 4 <= left <= 6, 'those that close, and are not closed yet, may be counted twice'
    for connection in held:
        connection.close()


def test_flood(start, say):
    """Thousands of silent connections: other clients are served, and the effect ends with the connections."""
    open_files(6000)
    own = start('--admin-listen', '127.0.0.1', '--admin-port', 0)
    admin = admin_port(own)
    silent, took, stop = [], [], threading.Event()

    def probe():
        while not stop.is_set():
            begin = time.monotonic()
            with wire.Wire(admin, 20) as connection:
                connection.send(wire.message('GET', '/readyz'))
                assert connection.answer().status == 200
            took.append(time.monotonic() - begin)
            time.sleep(0.005)

    prober = threading.Thread(target=probe)
    prober.start()
    for _ in range(5000):
        connection = wire.Wire.__new__(wire.Wire)
        connection.socket = wire.socket.socket()
        connection.socket.setblocking(False)
        connection.socket.connect_ex(('127.0.0.1', own.port))
        silent.append(connection)
    begin = time.monotonic()
    answer = own.post('/blur?sigma=1', pictures.small_png())
    through = time.monotonic() - begin
    until = time.monotonic() + 3
    while time.monotonic() < until:  # new ones all the time
        silent.append(own.connect())
        time.sleep(0.005)
    stop.set()
    prober.join()
    for connection in silent:
        connection.close()
    begin = time.monotonic()
    assert own.post('/blur?sigma=1', pictures.small_png()).status_code == 200
    recovery = time.monotonic() - begin
    took.sort()
    p99 = took[int(len(took) * 0.99)]
    say(f'5000 silent and 200/s more: /readyz p50 {took[len(took) // 2] * 1e3:.1f} p99 {p99 * 1e3:.1f} ms of {len(took)}, '
        f'a picture got through after {through:.2f} s; recovery {recovery * 1e3:.0f} ms; '
        f'{own.metrics_of(admin)["blurd_connections_shed_total"]:.0f} closed')
    assert answer.status_code == 200 and p99 < 0.1 * daemon.SLOW and recovery < 1 * daemon.SLOW


@pytest.mark.parametrize('count', (127, 128, 129, 256))
def test_any_number_of_requests_at_once(start, count):
    """The library fetches 128 events at a time, and its own threads get stuck on just as many."""
    own = start('--event-threads', 1)
    crowd = [own.connect() for _ in range(count)]
    assert [ask(connection) for connection in crowd] == [200] * count
    own.signal(signal.SIGSTOP)
    for connection in crowd:
        connection.send(LIVEZ)
    own.signal(signal.SIGCONT)
    assert [connection.answer().status for connection in crowd] == [200] * count
    for connection in crowd:
        connection.close()


# --- too slow --------------------------------------------------------------------------

@pytest.fixture(scope='module')
def lively():
    """Deadlines far away, a rate of 64 KiB/s over 0.3 s (answers: 0.6 s)."""
    with daemon.Daemon('--min-rate', '64KiB', '--min-rate-time', '300ms') as running:
        yield running


@pytest.mark.parametrize('headers', (['Content-Length: 1000000'], ['Transfer-Encoding: chunked']), ids=('length', 'chunked'))
def test_a_body_below_the_rate(lively, headers):
    with lively.connect() as connection:
        connection.send(wire.message('POST', '/blur', headers=headers + ['X-Request-Id: lame'], length=False))
        begin = time.monotonic()
        while not select.select([connection.socket], [], [], 0.05)[0] and time.monotonic() - begin < 5 * daemon.SLOW:
            connection.send(b'1\r\nx\r\n')
        assert 0.25 < time.monotonic() - begin < 2 * daemon.SLOW
        problem = check_problem(connection.answer(), 'timeout', says='minimum rate')
        assert problem['request_id'] == 'lame' and connection.is_closed()
    assert lively.wait_for_line(r'id=lame .*status=408 reason=timeout')
    assert daemon.eventually(lambda: lively.metrics()['blurd_connections_slow_total'] >= 1)


def test_a_body_above_the_rate(lively):
    body = pictures.png(pictures.noise(400, 250))
    with lively.connect() as connection:
        connection.send(wire.message('POST', '/blur', body)[:-len(body)])
        for i in range(0, len(body), 8000):  # 160 kB/s
            connection.send(body[i:i + 8000])
            time.sleep(0.05)
        assert connection.answer().status == 200


def test_a_reader_below_the_rate(lively):
    before = lively.metrics()
    with wire.Wire(lively.port, 10 * daemon.SLOW, receive_buffer=4096) as connection:
        connection.send(wire.message('POST', '/blur?sigma=0.1&effort=0', pictures.png(pictures.noise(1800, 1500))))
        begin = time.monotonic()
        while lively.metrics()['blurd_connections_slow_total'] == before['blurd_connections_slow_total']:
            connection.socket.recv(100)
            time.sleep(0.02)
            assert time.monotonic() - begin < 10 * daemon.SLOW
    assert daemon.eventually(lambda: lively.metrics()['blurd_requests_in_flight'] == 1)


def test_a_reader_above_the_rate(lively):
    with wire.Wire(lively.port, 20 * daemon.SLOW, receive_buffer=65536) as connection:
        connection.send(wire.message('POST', '/blur?sigma=0.1&effort=0', pictures.png(pictures.noise(900, 800))))
        received = b''
        while len(received) < 700000:
            received += connection.socket.recv(20000)
            time.sleep(0.02)  # up to 1 MB/s
        connection.buffer = received
        assert connection.answer().status == 200


def test_slow_headers_of_a_second_request(start):
    own = start('--header-timeout', '300ms')
    with own.connect() as connection:
        assert ask(connection) == 200
        begin = time.monotonic()
        while not select.select([connection.socket], [], [], 0.05)[0]:
            connection.send(b'G')
            assert time.monotonic() - begin < 3 * daemon.SLOW
        assert connection.is_closed()


# --- no descriptors --------------------------------------------------------------------

def admin_port(own):
    return int(own.wait_for_line(r'health and metrics on port (\d+)').group(1))


@pytest.mark.parametrize('held', (0, 3))
def test_no_descriptors_left(start, say, held):
    own = start('--log-level', 'info', '--event-threads', 2)
    idle = [own.connect() for _ in range(held)]
    assert [ask(connection) for connection in idle] == [200] * held
    used = max(own.open_files()) + 1
    before, lines = processor_seconds(own), len(own.lines)
    _, hard = resource.prlimit(own.process.pid, resource.RLIMIT_NOFILE)
    limits = resource.prlimit(own.process.pid, resource.RLIMIT_NOFILE, (used, hard))
    waiting = [own.connect() for _ in range(30)]
    for connection in waiting:
        connection.send(LIVEZ)
    time.sleep(6)
    spent, said = (processor_seconds(own) - before) / 6, len(own.lines) - lines
    resource.prlimit(own.process.pid, resource.RLIMIT_NOFILE, limits)
    begin = time.monotonic()
    for connection in waiting:
        assert connection.answer() is not None
    recovery = time.monotonic() - begin
    for connection in waiting + idle:
        connection.close()
    say(f'no descriptors, {held} connections open: {spent * 100:.1f} % of a core, {said * 10} log lines a minute, '
        f'back after {recovery * 1e3:.0f} ms')
    assert spent < 0.05 * daemon.SLOW and said <= 10 and recovery < 1 * daemon.SLOW
    assert own.metrics()['blurd_accept_failures_total'] > 0
    assert not re.search('panic', '\n'.join(own.lines))
