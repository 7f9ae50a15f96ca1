# SPDX-License-Identifier: MIT
"""blurd --check-health: how containers without a client learn of it."""

import contextlib
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time

import pytest

import certificates
import daemon
from test_start import free_port

NAMESPACES = ('unshare', '--pid', '--mount-proc', '--fork', '--kill-child=TERM')


def check(*options, **environment):
    """The exit code and standard error; standard output is always empty."""
    code, output, errors = daemon.run('--check-health', *options, environment=daemon.clean_environment(**environment))
    assert not output and errors.count('\n') == (0 if code == 0 else 1)
    return code, errors


@pytest.mark.parametrize('listen', ('127.0.0.1', '0.0.0.0', '::'))
def test_ready(start, listen):
    running = start(listen=listen)
    assert check('--listen', listen, '--port', running.port) == (0, '')
    assert check('--listen', listen, PORT=str(running.port)) == (0, '')


def test_the_second_listener_is_asked(start):
    running = start('--admin-listen', '127.0.0.1', '--admin-port', 0)
    admin = running.wait_for_line(r'health and metrics on port (\d+)').group(1)
    assert check('--port', '1', '--admin-listen', '127.0.0.1', '--admin-port', admin) == (0, '')
    running.signal()
    running.wait()
    code, said = check('--admin-listen', '127.0.0.1', '--admin-port', admin)
    assert code == 1 and f'nothing answers on 127.0.0.1 port {admin}' in said


def test_draining_is_not_ready(start):
    running = start('--drain-delay', '1s')
    running.signal()
    assert daemon.eventually(lambda: check('--port', running.port) == (1, 'blurd: /readyz answers with status 503\n'))
    assert running.wait() == 0


@pytest.mark.parametrize('answer,said', ((b'', 'closed without an answer'), (b'HTTP/1.1 500 Oops\r\n\r\n', 'status 500'),
                                         (b'SSH-2.0-OpenSSH_9.2\r\n', 'no HTTP server')))
def test_something_else_is_there(answer, said):
    with socket.socket() as other:
        other.bind(('127.0.0.1', 0))
        other.listen()

        def serve():
            connection, _ = other.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        code, errors = check('--listen', '127.0.0.1', '--port', other.getsockname()[1])
        thread.join()
    assert code == 1 and said in errors


@pytest.mark.parametrize('tls', (False, True), ids=('plain', 'tls'))
@pytest.mark.parametrize('trickle', (False, True), ids=('silent', 'slow'))
def test_two_seconds_end_it(tls, trickle):
    """The limit covers all steps together, for a server that is silent or sends single bytes, also in place
    of a handshake."""
    over = threading.Event()
    with socket.socket() as other:
        other.bind(('127.0.0.1', 0))
        other.listen()

        def serve():
            connection, _ = other.accept()
            with connection:
                for byte in b'HTTP/1.1 200 OK' * 10:
                    if over.wait(0.7):
                        return
                    if trickle:
                        connection.send(bytes([byte]))

        thread = threading.Thread(target=serve)
        thread.start()
        begin = time.monotonic()
        try:
            found = check('--listen', '127.0.0.1', '--port', other.getsockname()[1], *(('--tls-cert', 'a', '--tls-key', 'b') if tls else ()))
            took = time.monotonic() - begin
        finally:
            over.set()
            thread.join()
    assert found == (1, 'blurd: /readyz is not answered within 2 s\n')
    assert 1.9 < took < 2 + daemon.SLOW


def test_nothing_is_there():
    with socket.socket() as other:
        other.bind(('127.0.0.1', 0))  # and does not listen
        port = other.getsockname()[1]
        assert check('--listen', '127.0.0.1', '--port', port) == (1, f'blurd: nothing answers on 127.0.0.1 port {port}: Connection refused\n')


@certificates.needed
def test_tls(start, tmp_path):
    pair = certificates.Pair(tmp_path)
    running = start(*pair.options(), '--drain-delay', '1s')
    assert check('--port', running.port, *pair.options()) == (0, '')
    assert check('--port', running.port, BLURD_TLS_CERT='unreadable', BLURD_TLS_KEY='unreadable') == (0, ''), 'it needs no file'
    assert check('--port', running.port)[0] == 1, 'plain HTTP to a port with TLS'
    running.signal()
    assert daemon.eventually(lambda: check('--port', running.port, *pair.options()) == (1, 'blurd: /readyz answers with status 503\n'))
    assert running.wait() == 0


def end_tls(secure):
    """Closes without an answer."""
    with contextlib.suppress(OSError):  # the other side need not say the same
        secure.unwrap()


def answer_without_tls(secure):
    with socket.socket(fileno=os.dup(secure.fileno())) as plain:
        plain.sendall(b'HTTP/1.1 200 OK\r\n\r\n')


@certificates.needed
@pytest.mark.parametrize('answer, error', ((end_tls, 'closed without an answer'), (answer_without_tls, 'no answer over TLS: ')))
def test_a_server_that_does_not_answer_over_tls(tmp_path, answer, error):
    """The check ends at once, and reports what the server did."""
    pair = certificates.Pair(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    with socket.create_server(('127.0.0.1', 0)) as other:

        def serve():
            connection, _ = other.accept()
            with context.wrap_socket(connection, server_side=True) as secure:
                secure.recv(1000)
                answer(secure)

        thread = threading.Thread(target=serve)
        thread.start()
        code, errors = check('--listen', '127.0.0.1', '--port', other.getsockname()[1], *pair.options())
        thread.join()
    assert code == 1 and error in errors


@certificates.needed
def test_tls_with_a_second_listener(start, tmp_path):
    """The server has no TLS."""
    pair = certificates.Pair(tmp_path)
    running = start(*pair.options(), '--admin-listen', '127.0.0.1', '--admin-port', 0)
    admin = running.wait_for_line(r'health and metrics on port (\d+)').group(1)
    assert check('--admin-listen', '127.0.0.1', '--admin-port', admin, *pair.options()) == (0, '')


def can_have_namespaces():
    words = (*NAMESPACES, 'true')
    return shutil.which('nsenter') and os.geteuid() == 0 and subprocess.run(words, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not can_have_namespaces(), reason='needs root, and a kernel that lets it have namespaces')
def test_the_arguments_of_process_1(start):
    """As the health check of an image runs: beside a daemon that is process 1, configured only by its
    environment."""
    running = start(port=free_port(), through=NAMESPACES)
    with open(f'/proc/{running.process.pid}/task/{running.process.pid}/children', encoding='ascii') as children:
        first, = children.read().split()

    def inside(*options):
        done = subprocess.run(['nsenter', '--target', first, '--pid', '--mount', daemon.BINARY, '--check-health', *map(str, options)],
                              capture_output=True, text=True, check=False, timeout=20, env=daemon.clean_environment(BLURD_PORT='1'))
        return done.returncode, done.stderr

    assert inside() == (0, '')
    assert inside('--listen', '127.0.0.1') == (1, 'blurd: nothing answers on 127.0.0.1 port 1: Connection refused\n'), 'options of its own'
    os.kill(int(first), 15)
    assert running.wait() == 0


def test_what_cannot_be_asked():
    assert check('--port', '0') == (1, 'blurd: --check-health needs a port other than 0\n')
    assert check('--port', 'x')[0] == 78
