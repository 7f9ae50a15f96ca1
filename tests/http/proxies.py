# SPDX-License-Identifier: MIT
"""HAProxy and nginx, each in front of daemons under test, on a free port of the loopback."""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile

import pytest

import daemon

HAPROXY = '''
global
    maxconn 2000
    {tuning}
defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
    timeout http-keep-alive 10s
    option redispatch
    retries 3
    {defaults}
frontend all
    bind 127.0.0.1:{port}
    default_backend blurd
backend blurd
    {backend}
'''

NGINX = '''
{user}
worker_processes 1;
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 1000; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_max_body_size 0;
    upstream blurd {{ {servers} keepalive 16; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://blurd;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            {location}
        }}
    }}
}}
'''


def is_there(name):
    """The program, or None."""
    extra = daemon.ROOT / 'build/tools' / name
    return shutil.which(name) or shutil.which(name, path='/usr/sbin:/usr/local/sbin') or (str(extra) if extra.exists() else None)


def find(name):
    """The program; skips the test where it is not installed."""
    found = is_there(name)
    if not found:
        pytest.skip(f'{name} is not installed')
    return found


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class Proxy:
    """`with Proxy('haproxy', backend='server a 127.0.0.1:8080') as proxy: proxy.port`"""

    def __init__(self, name, **settings):
        program = find(name)
        self.folder = tempfile.TemporaryDirectory(prefix=f'blurd-{name}-')
        self.port = free_port()
        file = pathlib.Path(self.folder.name, 'conf')
        template = HAPROXY if name == 'haproxy' else NGINX
        values = {'tuning': '', 'defaults': '', 'backend': '', 'servers': '', 'location': '', 'user': '' if os.getuid() else 'user root;', **settings}
        file.write_text(template.format(port=self.port, folder=self.folder.name, **values), encoding='ascii')
        command = [program, '-db', '-f', str(file)] if name == 'haproxy' else [program, '-c', str(file), '-p', self.folder.name]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert daemon.eventually(self.is_listening), self.process.stderr.read().decode()

    def is_listening(self):
        with socket.socket() as probe:
            return probe.connect_ex(('127.0.0.1', self.port)) == 0 or self.process.poll() is not None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)
        self.process.stderr.close()
        self.folder.cleanup()


def in_front_of(name, own, location=''):
    """One daemon behind a proxy that streams bodies."""
    address = f'127.0.0.1:{own.port}'
    return Proxy(name, backend=f'server one {address}', servers=f'server {address};', location=location)
