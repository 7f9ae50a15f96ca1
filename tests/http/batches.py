# SPDX-License-Identifier: MIT
"""What tests of blurd run share: the command, a folder of pictures, tars."""

import io
import json
import os
import subprocess
import tarfile

import pytest

import daemon
import pictures

JOB = 'blur?sigma=3'
CUT = pictures.small_jpeg()[:200]


def run(*words, stdin=b'', **more):
    done = subprocess.run([daemon.BINARY, *map(str, words)], input=stdin, capture_output=True, timeout=120 * daemon.SLOW,
                          env=daemon.clean_environment(), check=False, **more)
    assert not daemon.SANITIZER.search(done.stderr.decode('utf-8', 'replace')), done.stderr
    return done.returncode, done.stdout, done.stderr.decode('utf-8', 'backslashreplace')


def lines(path):
    first, *rest = map(json.loads, path.read_text().splitlines())
    assert first['version'] == 1
    return {line['file']: line for line in rest}


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob('*') if path.is_file()}


@pytest.fixture
def tree(tmp_path):
    """{name: bytes}, in the folder in/."""
    made = {'a.jpg': pictures.jpeg(pictures.photograph(120, 80)), 'b.png': pictures.small_png(),
            'sub/a b.JPEG': pictures.small_jpeg(), 'sub/deep/no ending': pictures.jpeg(pictures.photograph(64, 48))}
    for name, data in made.items():
        path = tmp_path / 'in' / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (1e9, 1e9 + len(data)))
    return made


@pytest.fixture
def answers(server, tree):
    """What the daemon answers, under the names that the output has."""
    named = {name if '.' in name else f'{name}.jpg': data for name, data in tree.items()}
    return {name: server.post(f'/{JOB}', data).content for name, data in named.items()}


def tar_of(members, **more):
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode='w', **more) as made:
        for name, data in members.items() if isinstance(members, dict) else members:
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.uname = len(data), 1e9, 'someone'
            made.addfile(info, io.BytesIO(data))
    return into.getvalue()


def members_of(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as read:
        return {info.name: read.extractfile(info).read() for info in read if info.isfile()}
