# SPDX-License-Identifier: MIT
"""blurd --check-health: how containers without a client learn of it."""

import socket
import threading

import pytest

import daemon


def check(*options, **environment):
    """The exit code and what was said; nothing is ever printed to standard output."""
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


@pytest.mark.parametrize('answer,said', ((b'', 'is not answered within 2 s'), (b'HTTP/1.1 500 Oops\r\n\r\n', 'status 500'),
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


def test_silence_ends_it():
    with socket.socket() as other:
        other.bind(('127.0.0.1', 0))
        other.listen()
        assert 'not answered' in check('--listen', '127.0.0.1', '--port', other.getsockname()[1])[1]


def test_what_cannot_be_asked():
    assert check('--port', '0') == (1, 'blurd: --check-health needs a port other than 0\n')
    assert check('--tls-cert', 'a', '--tls-key', 'b') == (1, 'blurd: --check-health speaks no TLS, it needs admin_listen\n')
    assert check('--port', 'x')[0] == 78
