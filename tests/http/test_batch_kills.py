# SPDX-License-Identifier: MIT
"""blurd run: what is left when it, its daemon or the machine ends."""

import json
import os
import pathlib
import random
import signal
import subprocess
import time

import pytest

import daemon
import pictures
from batches import JOB, files, lines, run

KILLS = int(os.environ.get('BLURD_KILLS', 8))  # bench/batch.py asks for 50


@pytest.fixture
def many(tmp_path):
    folder = tmp_path / 'in'
    folder.mkdir()
    for number in range(300):
        (folder / f'{number:03}.jpg').write_bytes(pictures.with_segments(pictures.small_jpeg(), (0xFE, b'%03d' % number)))
    return folder


def test_killed_at_any_moment(many, server, tmp_path):
    """Every answer is whole or not there, and none is done twice but those in flight."""
    words = [daemon.BINARY, JOB, 'in', '-rq', '-o', 'out', '-R', 'report', '--resume', '-j4']
    drawn = random.Random(4)
    expected = {path.name: server.post(f'/{JOB}', path.read_bytes()).content for path in many.iterdir()}
    done, lost, names = 0, set(), []
    for _ in range(KILLS):
        process = subprocess.Popen(words, cwd=tmp_path, env=daemon.clean_environment(), stderr=subprocess.DEVNULL)
        time.sleep(drawn.uniform(0.02, 0.25) * daemon.SLOW)  # the moment is what is tried
        process.send_signal(signal.SIGKILL)
        process.wait()
        there = {name: data for name, data in files(tmp_path / 'out').items() if not name.startswith('.blurd-partial/')} if done or (tmp_path / 'out').exists() else {}
        assert all(expected[name] == data for name, data in there.items())
        if (tmp_path / 'report').exists():
            whole = [line for line in (tmp_path / 'report').read_bytes().split(b'\n')[1:-1]]
            names = [json.loads(line)['file'] for line in whole]
            assert set(there) <= set(names) and {name for name in names if names.count(name) > 1} <= lost
            lost |= set(names) - set(there)  # they were about to get their names
            done = len(there)
            if done == len(expected):
                (tmp_path / 'report').unlink()
                lost = set()
                for name in there:
                    (tmp_path / 'out' / name).unlink()
    assert run(*words[1:], cwd=tmp_path)[0] == 0
    assert files(tmp_path / 'out') == expected


def daemon_of(process):
    """The daemon that a batch has started."""
    children = pathlib.Path(f'/proc/{process.pid}/task/{process.pid}/children')
    return daemon.eventually(lambda: children.read_text().split())


def test_nothing_is_left_when_it_is_killed(many, tmp_path):
    process = subprocess.Popen([daemon.BINARY, 'blur?sigma=50', 'in', '-rq', '-o', 'out'], cwd=tmp_path, env=daemon.clean_environment())
    child = daemon_of(process)[0]
    process.kill()
    process.wait()
    assert daemon.eventually(lambda: not pathlib.Path(f'/proc/{child}').exists())


def test_a_daemon_that_ends_is_started_again(many, server, tmp_path):
    process = subprocess.Popen([daemon.BINARY, JOB, 'in', '-r', '-o', 'out', '-R', 'report'], cwd=tmp_path, env=daemon.clean_environment(),
                               stderr=subprocess.PIPE, text=True)
    daemon.eventually(lambda: (tmp_path / 'report').exists())
    os.kill(int(daemon_of(process)[0]), signal.SIGKILL)
    said = process.communicate(timeout=60 * daemon.SLOW)[1]
    assert process.returncode == 0 and '300 done, 0 failed' in said, said
    assert files(tmp_path / 'out') == {path.name: server.post(f'/{JOB}', path.read_bytes()).content for path in many.iterdir()}


def test_a_signal_ends_it_in_order(many, tmp_path):
    process = subprocess.Popen([daemon.BINARY, JOB, 'in', '-r', '-j1', '-o', 'out', '-R', 'report'], cwd=tmp_path, env=daemon.clean_environment(),
                               stderr=subprocess.PIPE, text=True)
    daemon.eventually(lambda: (tmp_path / 'out/000.jpg').exists())
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60 * daemon.SLOW)[1]
    assert process.returncode == 1 and ' not begun in ' in said and ' 0 failed' in said
    assert set(files(tmp_path / 'out')) == set(lines(tmp_path / 'report'))
