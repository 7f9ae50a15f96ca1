# SPDX-License-Identifier: MIT
"""blurd doctor: what this machine has, and what to do about what it lacks."""

import functools
import http.server
import re
import socket
import subprocess
import threading

import pytest

import daemon
import fake_gpu

FREE = ('--listen', '127.0.0.1', '--port', '0')


def look(*options, environment=None, through=()):
    """The exit status; what is said of each thing, with its sign; the whole output."""
    done = subprocess.run([*through, daemon.BINARY, 'doctor', *FREE[:0 if '--port' in options else 4], *map(str, options)], capture_output=True, text=True,
                          timeout=120 * daemon.SLOW, env=environment or daemon.clean_environment(), check=False)
    lines = re.findall(r'^(ok|note|WRONG) +(GPU|admin port|\w+) +(.+)$', done.stdout, re.M)
    return done.returncode, {name: (sign, text) for sign, name, text in lines}, done.stdout + done.stderr


def test_all_is_well():
    code, said, output = look('--gpus', 'none')
    assert code == 0, output
    signs = {sign for sign, _ in said.values()}
    assert signs <= {'ok', 'note'} and said['processor'][0] in ('ok', 'note') and said['port'] == ('ok', said['port'][1])
    assert re.fullmatch(r'\d+ ms until the first answer', said['start'][1])
    for name in ('jpeg', 'png', 'gif'):
        assert re.fullmatch(r'written in [\d.]+ ms, read in [\d.]+', said[name][1])
    assert said['bmp'] == ('ok', 'is read')
    assert said['GPU'] == ('ok', 'none, as `gpus` says: the CPU does all the work')
    fine, notes, wrong = map(int, re.search(r'^(\d+) fine, (\d+) to note, (\d+) wrong$', output, re.M).groups())
    assert (fine, notes, wrong) == tuple(sum(sign == kind for sign, _ in said.values()) for kind in ('ok', 'note', 'WRONG'))


def test_a_model_that_is_missing():
    code, said, output = look('--gpus', 'none', '--face-model', 'none')
    assert code == 0 and said['faces'][0] == 'note' and '--face-model' in said['faces'][1] and 'get 400 until then' in output


def test_a_port_that_is_taken():
    with socket.create_server(('127.0.0.1', 0)) as taken:
        port = taken.getsockname()[1]
        code, said, output = look('--listen', '127.0.0.1', '--port', port, '--gpus', 'none')
    assert code == 1 and said['port'][0] == 'WRONG' and str(port) in said['port'][1] and '1 wrong' in output
    assert 'the daemon could not do all that it is configured for' in output


def test_a_port_where_blurd_serves():
    with daemon.Daemon() as other:
        code, said, output = look('--listen', '127.0.0.1', '--port', other.port, '--gpus', 'none')
    assert code == 0 and said['port'] == ('note', f'a blurd serves on 127.0.0.1 port {other.port}'), output


def test_a_port_where_something_else_serves(tmp_path):
    web = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path))
    threading.Thread(target=web.serve_forever, daemon=True).start()
    code, said, output = look('--listen', '127.0.0.1', '--port', web.server_port, '--gpus', 'none')
    web.shutdown()
    web.server_close()
    assert code == 1 and said['port'][0] == 'WRONG', output


def test_a_port_that_others_reach():
    code, said, output = look('--listen', '::', '--port', '0', '--gpus', 'none')
    assert code == 0 and said['access'][0] == 'note' and 'token_file' in output


def test_a_daemon_that_cannot_start():
    code, said, output = look('--gpus', 'none', '--connections', '60000', through=('prlimit', '--nofile=500:500'))
    assert code == 1 and said['start'] == ('WRONG', 'the daemon does not start') and 'raise it (ulimit -n)' in output


def test_a_configuration_that_is_wrong(tmp_path):
    wrong = tmp_path / 'no.model'
    wrong.write_bytes(b'none')
    code, said, output = look('--gpus', 'none', '--face-model', wrong)
    assert code == 1 and said['start'][0] == 'WRONG' and str(wrong) in output
    assert look('--gpus', 'none', '--workers', 'many')[0] == 78


@fake_gpu.needed
def test_a_gpu():
    code, said, output = look(*fake_gpu.options('--gpu-timeout', '60s', '--text-model', 'none', '--person-model', 'none'), environment=fake_gpu.settings())
    assert code == 0 and re.fullmatch(r'cuda.*, after [\d.]+ s', said['GPU'][1]), output


@fake_gpu.needed
@pytest.mark.parametrize('required', (False, True))
def test_a_gpu_that_fails(required):
    code, said, output = look(*fake_gpu.options('--require-gpu', 'on' if required else 'off'), environment=fake_gpu.settings(FAULT='cuInit:1:999'))
    assert (code, said['GPU'][0]) == ((1, 'WRONG') if required else (0, 'note')), output
    assert 'cuInit' in said['GPU'][1]
