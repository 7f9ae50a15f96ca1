# SPDX-License-Identifier: MIT
"""listen=unix:PATH: a socket in the file system."""

import http.client
import os
import socket
import stat
import subprocess

import pytest

import daemon
import pictures


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__('localhost', timeout=60 * daemon.SLOW)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask(path, method, target, body=None):
    connection = Connection(path)
    connection.request(method, target, body)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, text


def serving(path, *options, **more):
    return daemon.Daemon(*options, listen=f'unix:{path}', **more)


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'blurd.sock'


def test_the_bytes_are_those_of_a_port(server, path):
    body = pictures.jpeg(pictures.photograph(200, 150))
    with serving(path) as own:
        assert ask(path, 'POST', '/blur?sigma=3', body) == (200, server.post('/blur?sigma=3', body).content)
        assert f'--unix-socket {path} '.encode() in ask(path, 'GET', '/')[1]
        assert subprocess.run([daemon.BINARY, '--check-health', '--listen', f'unix:{path}'], check=False).returncode == 0
        assert not any('other machines' in line for line in own.lines)


def test_the_umask_says_who_may_connect(path):
    with serving(path, through=('sh', '-c', 'umask 007 && exec "$@"', '-')):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o770


def test_what_a_daemon_left_is_replaced(path):
    with serving(path):
        pass
    assert path.is_socket()
    with serving(path):
        assert ask(path, 'GET', '/livez')[0] == 200


def refused(path):
    done = subprocess.run([daemon.BINARY, '--listen', f'unix:{path}', '--gpus', 'none'], capture_output=True, text=True, timeout=20 * daemon.SLOW,
                          env=daemon.clean_environment(), check=False)
    assert done.returncode == 78
    return done.stderr


def test_a_daemon_that_serves_is_not_replaced(path):
    with serving(path):
        assert f'cannot listen on unix:{path}: Address already in use' in refused(path)
        assert ask(path, 'GET', '/livez')[0] == 200


def test_other_files_are_not_replaced(path):
    path.write_text('precious')
    assert 'Address already in use' in refused(path)
    assert path.read_text() == 'precious'


def test_a_path_that_the_kernel_cannot_take_is_named(path):
    assert 'unix: and a path of up to 107 bytes' in refused('/' + 'x' * 107)
    assert 'No such file or directory' in refused(path.parent / 'missing' / 'blurd.sock')


def test_health_is_on_a_socket_of_its_own(path, tmp_path):
    admin = tmp_path / 'admin.sock'
    with serving(path, '--admin-listen', f'unix:{admin}') as own:
        assert ask(admin, 'GET', '/metrics')[0] == 200 and ask(path, 'GET', '/metrics')[0] == 404
        assert own.wait_for_line(rf'health and metrics on unix:{admin}')
