# SPDX-License-Identifier: MIT
"""Tests of the clients that the repository has: tests/python.sh -m pytest tests/clients

    BLURD=path    the program that the client is made of, and that it asks
    WHEEL=path    the wheel to test, if it is not to be built; of any Python from 3.9 on

They need pytest, requests and httpx, and no other package."""

import http.server
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'tests/http'), str(pathlib.Path(__file__).parent)]
import daemon  # noqa: E402
import evidence  # noqa: E402
import inputs  # noqa: E402
from time_limit import pytest_runtest_call, pytest_runtest_setup, pytest_runtest_teardown, pytest_unconfigure  # noqa: E402, F401


def pytest_configure(config):
    """Imports the client from a wheel."""
    config.temporary = tempfile.TemporaryDirectory()
    config.folder = pathlib.Path(config.temporary.name)
    wheel = os.environ.get('WHEEL')
    if not wheel:
        done = subprocess.run([ROOT / 'clients/python/build.sh', config.folder / 'wheel'], env={**os.environ, 'BLURD': daemon.BINARY},
                              stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            pytest.exit('the wheel was not built', returncode=done.returncode)
        wheel, = (config.folder / 'wheel').glob('*.whl')
    zipfile.ZipFile(wheel).extractall(config.folder / 'package')
    sys.path.insert(0, str(config.folder / 'package'))


def pytest_report_header(config):
    import httpx

    return f'blurd: {daemon.BINARY}, httpx {httpx.__version__}'


@pytest.fixture(scope='session')
def package(request):
    """The folder with the package."""
    return request.config.folder / 'package'


@pytest.fixture(scope='session')
def key(tmp_path_factory):
    return evidence.make_key(tmp_path_factory.mktemp('key'))


@pytest.fixture(scope='session')
def server(key):
    with daemon.Daemon('--report-key', key) as running:
        yield running


@pytest.fixture(scope='session')
def url(server):
    return server.url('')


@pytest.fixture(scope='session')
def photo(server):
    """A JPEG with text."""
    answer = server.post('/resize?scale=2&enlarge=true&format=jpeg', inputs.letters('BLURD'))
    assert answer.status_code == 200, answer.text
    return answer.content


@pytest.fixture
def client(url):
    import blurd

    with blurd.Client(url) as made:
        yield made


class Door(http.server.ThreadingHTTPServer):
    """Stands before the daemon and does what it is told for each request, then passes requests on."""

    daemon_threads = True

    def __init__(self, server, *todo):
        self.server_behind, self.todo, self.asked, self.bodies = server, list(todo), [], []
        super().__init__(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.server_address[1]}'
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, request, client_address):
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        self.server.asked.append(time.monotonic())
        self.server.bodies.append(body)
        what = self.server.todo.pop(0) if self.server.todo else 'pass'
        if what == 'cut':
            self.close_connection = True
        elif what == 'half':
            self.answer(200, b'half', ('Content-Type', 'image/jpeg'), length=1000)
            self.close_connection = True
        elif what == 'pass':
            passed = {name: self.headers[name] for name in ('Content-Type', 'X-Request-Id') if self.headers[name]}
            answer = self.server.server_behind.post(self.path, body, headers=passed)
            self.answer(answer.status_code, answer.content, *((name, answer.headers[name]) for name in ('Content-Type', 'X-Request-Id')))
        else:
            status, content, *headers = what
            self.answer(status, content, *headers)

    def answer(self, status, body, *headers, length=None):
        self.send_response(status)
        for name, value in (*headers, ('Content-Length', length or len(body))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def door(server):
    """door('cut', (503, b'', ('Retry-After', 1)))"""
    made = []

    def open_one(*todo):
        made.append(Door(server, *todo))
        return made[-1]

    yield open_one
    for one in made:
        one.shutdown()
        one.server_close()
