# SPDX-License-Identifier: MIT
"""A service manager passes sockets and gets notifications (sd_listen_fds(3), sd_notify(3))."""

import os
import socket
import subprocess
import sys
import threading
import time

import pytest

import daemon
import pictures
import wire


def listener(port=0):
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(('127.0.0.1', port))
    made.listen(4096)
    return made


# Becomes the daemon, so that the process's number is known before.
LAUNCHER = '''
import fcntl, os, sys
copies = [fcntl.fcntl(int(fd), fcntl.F_DUPFD, 100) for fd in sys.argv[1].split(',')]
os.closerange(3, 100)
for i, fd in enumerate(copies):
    os.dup2(fd, 3 + i)
    os.close(fd)
os.environ['LISTEN_PID'] = sys.argv[2] or str(os.getpid())
os.execv(sys.argv[3], sys.argv[3:])
'''


class Launched(daemon.Daemon):
    """A daemon that gets descriptors 3 and up, as from systemd."""

    def __init__(self, sockets, *options, names=None, pid=None, count=None, notify=None):
        self.lines, self.ended, self.may_end_with = [], False, (0,)
        self.news = threading.Condition()
        environment = daemon.clean_environment(LISTEN_FDS=str(len(sockets) if count is None else count))
        if names:
            environment['LISTEN_FDNAMES'] = names
        if notify:
            environment['NOTIFY_SOCKET'] = notify
        numbers = [one.fileno() for one in sockets]
        launcher = [sys.executable, '-c', LAUNCHER, ','.join(map(str, numbers)), pid or '']
        self.process = subprocess.Popen([*launcher, daemon.BINARY, *map(str, options)], stdin=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, env=environment, pass_fds=numbers)
        self.reader = threading.Thread(target=self._read_log, daemon=True)
        self.reader.start()

    def await_start(self):
        found = self.wait_for_line(daemon.LISTENING)
        assert found, '\n'.join(self.lines)
        self.port = int(found.group(1) or 0)
        return self


def test_a_socket_is_handed_over():
    with listener() as one:
        with Launched([one]).await_start() as own:
            assert own.port == one.getsockname()[1]
            assert own.get('/livez').status_code == 200
            environment = open(f'/proc/{own.process.pid}/environ', 'rb').read()
            assert b'LISTEN_FDS' in environment  # the variables of its start; they are not passed on


@pytest.mark.parametrize('names', (None, 'http:admin', 'admin:http', ':'))
def test_two_sockets(names):
    with listener() as one, listener() as two:
        with Launched([one, two], names=names).await_start() as own:
            first, second = (two, one) if names == 'admin:http' else (one, two)
            assert own.port == first.getsockname()[1]
            admin = second.getsockname()[1]
            assert own.get('/metrics').status_code == 404
            assert own.metrics_of(admin)['blurd_draining'] == 0


def test_only_the_second_one():
    with listener() as one:
        with Launched([one], '--listen', '127.0.0.1', '--port', 0, names='admin').await_start() as own:
            assert own.metrics_of(one.getsockname()[1]) and own.get('/metrics').status_code == 404


def test_a_socket_in_the_file_system(tmp_path):
    """Options of TCP do not exist there, and the library's complaints about each are not logged."""
    path = str(tmp_path / 'socket')
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path)
        one.listen()
        with Launched([one], '--log-level', 'info').await_start() as own:
            for count in range(3):
                with socket.socket(socket.AF_UNIX) as client:
                    client.connect(path)
                    client.sendall(wire.message('POST', '/blur?sigma=1', pictures.small_png()) + wire.message('GET', '/metrics', headers=['Connection: close']))
                    answer = b''.join(iter(lambda: client.recv(1 << 16), b''))
                assert answer.count(b'HTTP/1.1 200 OK') == 2
            assert b'\nblurd_connections_total 3\n' in answer and b'\nblurd_log_suppressed_total 0\n' in answer
            assert not any('microhttpd' in line for line in own.lines)


def test_sockets_for_another_process_are_none_of_ours():
    with listener() as one:
        with Launched([one], '--listen', '127.0.0.1', '--port', 0, pid='1').await_start() as own:
            assert own.port != one.getsockname()[1]


@pytest.mark.parametrize('make,options,says', (
    (lambda: [socket.socket()], {}, 'listening'),
    (lambda: [socket.socket(type=socket.SOCK_DGRAM)], {}, 'listening'),
    (lambda: [open(os.devnull, 'rb')], {}, 'descriptor 3'),
    (lambda: [listener()], {'count': 2}, 'descriptor 4'),
    (lambda: [listener(), listener(), listener()], {}, '1 or 2'),
    (lambda: [listener()], {'count': 0}, '1 or 2'),
    (lambda: [listener()], {'count': 'x'}, '1 or 2'),
    (lambda: [listener()], {'count': '1x'}, '1 or 2'),
    (lambda: [listener(), listener()], {'names': 'admin:admin'}, 'two'),
), ids=range(9))
def test_what_is_no_listening_socket_stops_the_start(make, options, says):
    own = Launched(make(), **options)
    assert own.wait(10) == 78
    assert says in '\n'.join(own.lines)


@pytest.mark.parametrize('abstract', (False, True))
def test_states_are_told(tmp_path, abstract):
    path = f'\0blurd-test-{os.getpid()}' if abstract else str(tmp_path / 'notify')
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told, listener() as one:
        told.bind(path)
        told.settimeout(10 * daemon.SLOW)
        with Launched([one], '--drain-delay', '200ms', notify=path.replace('\0', '@')).await_start() as own:
            assert told.recv(100) == b'READY=1'
            own.signal()
            assert told.recv(100) == b'STOPPING=1'
            assert own.get('/readyz').status_code == 503
            assert own.wait() == 0


def test_a_manager_that_does_not_listen_is_no_reason_to_stop(tmp_path):
    with listener() as one:
        with Launched([one], notify=str(tmp_path / 'nobody')).await_start() as own:
            assert own.wait_for_line('cannot reach the service manager')
            assert own.get('/livez').status_code == 200


def test_restarts_lose_nothing(say):
    """One socket, one daemon after the other; clients that connect anew for each picture."""
    restarts = int(os.environ.get('BLURD_RESTARTS', 10))
    stop, outcomes, slowest = threading.Event(), [], [0.0]
    body = wire.message('POST', '/blur?sigma=2', pictures.small_png(), ['Connection: close'])

    def load(port):
        while not stop.is_set():
            begin = time.monotonic()
            try:
                with wire.Wire(port, 30 * daemon.SLOW) as connection:
                    connection.send(body)
                    answer = connection.answer()
                    outcomes.append(answer.status if answer else 'nothing')
            except OSError as error:
                outcomes.append(type(error).__name__)
            slowest[0] = max(slowest[0], time.monotonic() - begin)

    with listener() as one:
        port = one.getsockname()[1]
        threads = [threading.Thread(target=load, args=(port,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(restarts):
            own = Launched([one]).await_start()
            time.sleep(0.15)
            own.stop()
        own = Launched([one]).await_start()
        time.sleep(0.2)
        stop.set()
        for thread in threads:
            thread.join()
        own.stop()
    bad = [outcome for outcome in outcomes if outcome != 200]
    say(f'{restarts} restarts with one socket: {len(outcomes)} requests, {len(bad)} lost, the slowest took {slowest[0]:.2f} s')
    assert not bad and len(outcomes) > 10 * restarts
