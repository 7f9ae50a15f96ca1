# SPDX-License-Identifier: MIT
"""docs/examples/nginx.conf: signed links, a limit for each client, and a cache of answers."""

import base64
import hashlib
import os
import pathlib
import subprocess
import time

import pytest
import requests

import daemon
import pictures
import proxies

CONFIGURATION = (daemon.ROOT / 'docs/examples/nginx.conf').read_text()
AROUND = '''
{modules}
{user}
worker_processes 1;
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 100; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {content}
}}
'''


MODULES = [pathlib.Path('/usr/lib/nginx/modules', f'{name}.so') for name in ('ndk_http_module', 'ngx_http_lua_module')]


class Front:
    def __init__(self, port):
        self.port = port

    def ask(self, call, body, signature=None, expires=None):
        expires = expires or int(time.time()) + 3600
        made = hashlib.md5(f'{expires}{call} SECRET'.encode()).digest()
        signature = signature or base64.urlsafe_b64encode(made).decode().rstrip('=')
        return requests.post(f'http://127.0.0.1:{self.port}/s/{signature}/{expires}{call}', data=body, timeout=30)


@pytest.fixture
def front(server, tmp_path):
    if not all(module.exists() for module in MODULES):
        pytest.skip('the Lua module of nginx is not installed')
    program, folder, port = proxies.find('nginx'), tmp_path, proxies.free_port()
    content = CONFIGURATION
    for old, new in (('/var/cache/nginx/blurd', f'{folder}/cache'), ('server 127.0.0.1:8080;', f'server 127.0.0.1:{server.port};'),
                     ('listen 8000;', f'listen 127.0.0.1:{port};')):
        assert content.count(old) == 1
        content = content.replace(old, new)
    file = folder / 'conf'
    file.write_text(AROUND.format(folder=folder, content=content, user='' if os.getuid() else 'user root;',
                                  modules='\n'.join(f'load_module {module};' for module in MODULES)))
    with subprocess.Popen([program, '-c', str(file), '-p', str(folder)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            assert daemon.eventually(lambda: process.poll() is None and (folder / 'pid').exists()), process.stderr.read().decode()
            yield Front(port)
        finally:
            process.terminate()


def test_a_signed_link_is_answered_and_cached(server, front):
    body, other = pictures.small_jpeg(), pictures.jpeg(pictures.photograph(900, 700))
    expected = server.post('/blur?sigma=3', body).content
    for cached in ('MISS', 'HIT', 'HIT'):
        answer = front.ask('/blur?sigma=3', body)
        assert (answer.status_code, answer.headers['X-Cache']) == (200, cached)
        assert answer.content == expected and answer.headers['Cache-Control'] == 'no-store', 'caches beyond nginx keep nothing'
    assert front.ask('/blur?sigma=4', body).headers['X-Cache'] == 'MISS'
    assert front.ask('/blur?sigma=3', other).headers['X-Cache'] == 'MISS'


def test_a_refusal_is_not_cached(front):
    for _ in range(2):
        answer = front.ask('/blur?sigma=0', pictures.small_jpeg())
        assert answer.status_code == 400 and 'sigma' in answer.json()['detail'] and answer.headers.get('X-Cache', 'MISS') == 'MISS'


def test_other_links_are_refused(front):
    body, valid = pictures.small_jpeg(), int(time.time()) + 3600
    assert front.ask('/blur?sigma=3', body, signature='A' * 22).status_code == 403
    assert front.ask('/blur?sigma=3', body, expires=int(time.time()) - 1).status_code == 410
    made = hashlib.md5(f'{valid}/blur?sigma=3 SECRET'.encode()).digest()
    signature = base64.urlsafe_b64encode(made).decode().rstrip('=')
    assert front.ask('/blur?sigma=3', body, signature, valid).status_code == 200
    assert front.ask('/blur?sigma=300', body, signature, valid).status_code == 403
    assert requests.post(f'http://127.0.0.1:{front.port}/blur?sigma=3', data=body, timeout=30).status_code == 404


def test_a_client_that_asks_too_often(front):
    body = pictures.small_jpeg()
    codes = {front.ask('/blur?sigma=3', body).status_code for _ in range(100)}
    assert codes == {200, 429}


def test_the_lines_that_sign(front, tmp_path):
    """They are a comment of the file."""
    (tmp_path / 'photo.jpg').write_bytes(pictures.small_jpeg())
    lines = [line[2:].strip() for line in CONFIGURATION.splitlines() if line.startswith('#     ')]
    assert len(lines) == 3
    script = '\n'.join(lines).replace('localhost:8000', f'127.0.0.1:{front.port}').replace('curl ', 'curl -fsS ')
    subprocess.run(['bash', '-euc', script], cwd=tmp_path, check=True, timeout=30)
    assert (tmp_path / 'blurred.jpg').read_bytes()[:2] == b'\xff\xd8'
