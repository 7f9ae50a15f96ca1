# SPDX-License-Identifier: MIT
"""docs/examples: each client gets the bytes that the daemon gives, waits when it is told to, and prints
errors."""

import http.server
import importlib.util
import os
import shutil
import subprocess
import sys
import threading
import time

import pytest
import requests

import daemon
import pictures

EXAMPLES = daemon.ROOT / 'docs/examples'
TIME_LIMIT = 600  # Go compiles its library first
CLIENTS = {
    'curl': ['bash', EXAMPLES / 'blur.sh'],
    'requests': [sys.executable, EXAMPLES / 'blur_requests.py'],
    'httpx': [sys.executable, EXAMPLES / 'blur_httpx.py'],
    'node': ['node', EXAMPLES / 'blur.mjs'],
    'go': [daemon.ROOT / 'build/go/blur'],
}
CLUSTERS = {'ray_redact.py': 80, 'spark_redact.py': 80, 'shards.py': 80, 'node_daemon.py': 190}  # lines; tests/clusters runs them


@pytest.fixture(scope='module', params=CLIENTS)
def client(request):
    """The words of its command line."""
    if request.param in ('curl', 'node', 'go') and not shutil.which(request.param):
        pytest.skip(f'no {request.param}: its client was not run; make check-clients gets it')
    if request.param == 'node' and int(subprocess.check_output(['node', '-p', 'parseInt(process.versions.node)'])) < 18:
        pytest.skip('node is older than 18')
    if request.param == 'httpx' and not importlib.util.find_spec('httpx'):
        pytest.skip('no httpx: its client was not run; config/packages.sh test gets it')
    if request.param == 'go':
        subprocess.run(['go', 'build', '-o', CLIENTS['go'][0], EXAMPLES / 'blur.go'], check=True, timeout=TIME_LIMIT,
                       env={**os.environ, 'GOCACHE': str(daemon.ROOT / 'build/go/cache'), 'GOFLAGS': '-mod=mod', 'GO111MODULE': 'off'})
    return list(map(str, CLIENTS[request.param]))


def run(client, folder, url, body, sigma='3.5'):
    (folder / 'photo.jpg').write_bytes(body)
    done = subprocess.run([*client, 'photo.jpg', 'result.jpg', sigma], cwd=folder, capture_output=True, timeout=60 * daemon.SLOW, check=False,
                          env={**os.environ, 'BLURD_URL': url})
    result = folder / 'result.jpg'
    return done.returncode, result.read_bytes() if result.exists() else None, done.stderr.decode()


def test_the_bytes(server, client, tmp_path):
    body = pictures.jpeg(pictures.photograph(200, 150))
    code, result, said = run(client, tmp_path, server.url(''), body)
    assert code == 0, said
    assert result == server.post('/blur?sigma=3.5', body).content


def test_what_is_wrong_is_said(server, client, tmp_path):
    code, result, said = run(client, tmp_path, server.url(''), pictures.small_jpeg(), sigma='0')
    assert code != 0 and result is None and 'sigma is 0, it must be from 0.1 to 500 pixels' in said


@pytest.fixture
def busy(server):
    """Stands before the daemon and answers 503 at first, as one that is overloaded does."""
    class Door(http.server.BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'
        asked = []

        def do_POST(self):
            body = self.rfile.read(int(self.headers['Content-Length']))
            self.asked.append(time.monotonic())
            if len(self.asked) < 3:
                self.answer(503, b'{"title":"Overloaded"}', ('Retry-After', '1'))
            else:
                self.answer(200, requests.post(server.url(self.path), body, timeout=60).content)

        def answer(self, status, body, *headers):
            self.send_response(status)
            for name, value in (*headers, ('Content-Length', len(body))):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), Door) as door:
        threading.Thread(target=door.serve_forever, daemon=True).start()
        yield f'http://127.0.0.1:{door.server_address[1]}', Door.asked
        door.shutdown()


def test_they_wait_when_they_are_told_to(server, busy, client, tmp_path):
    url, asked = busy
    code, result, said = run(client, tmp_path, url, pictures.small_jpeg())
    assert code == 0, said
    assert result == server.post('/blur?sigma=3.5', pictures.small_jpeg()).content
    assert len(asked) == 3 and all(later - sooner >= 0.95 for sooner, later in zip(asked, asked[1:]))


def test_they_are_short():
    found = [path for path in EXAMPLES.iterdir() if path.suffix in ('.sh', '.py', '.mjs', '.go') and path.name not in CLUSTERS]
    assert len([path for path in found if path.name.startswith('blur')]) == len(CLIENTS)
    assert {path.name: n for path in found if (n := len(path.read_text().splitlines())) >= 40} == {}
    assert all(len((EXAMPLES / name).read_text().splitlines()) <= most for name, most in CLUSTERS.items())
