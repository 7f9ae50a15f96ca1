# SPDX-License-Identifier: MIT
"""The lines of docs/gallery.md work, and its detectors find what docs/site draws for them. The pictures of the site are made in this way."""

import hashlib
import os
import re
import shutil
import subprocess
import sys

import pytest
from PIL import Image

import codes
import daemon
import faces
import persons
import writing

sys.path.append(str(daemon.ROOT / 'docs/site'))
import drawing  # noqa: E402 pylint: disable=wrong-import-position
import gallery  # noqa: E402 pylint: disable=wrong-import-position

SAMPLE = daemon.ROOT / 'build' / daemon.CONFIG / 'bench/sample'
MISSING = [path.name for path in (SAMPLE, faces.FILE, faces.MODEL, persons.MODEL, writing.MODEL, codes.LIBRARY) if not path.exists()]
pytestmark = [pytest.mark.skipif(daemon.SANITIZED, reason='the searches of half a hundred lines: the release build alone'), pytest.mark.skipif(
    not shutil.which('curl') or bool(MISSING) and os.environ.get('CI') != 'true', reason=f'no curl, or no {MISSING}')]
FOUND = {'faces.jpg': ('faces', 5), 'street.jpg': ('plates', 1), 'person.jpg': ('persons', 1), 'codes.png': ('codes', 2), 'letter.png': ('text', 4)}


@pytest.fixture(name='drawn', scope='module')
def _drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp('gallery')
    subprocess.run([SAMPLE, folder / 'photo.jpg', '2'], check=True)
    drawing.draw(folder)
    return folder


def test_the_lines(server, drawn, tmp_path):
    folder = shutil.copytree(drawn, tmp_path / 'gallery')
    text = (daemon.ROOT / 'docs/gallery.md').read_text()
    sent = {path.name: hashlib.sha256(path.read_bytes()).digest() for path in folder.iterdir()}
    page = gallery.page(text, folder, server.port)
    lines = gallery.LINE.findall(text)
    assert page.count('<div class="pair" markdown>') == len(lines) and all(line in page for line in lines)
    for line in lines:
        assert set(gallery.SENT.findall(line)) <= set(sent)
    made = [found[1] for found in map(gallery.ANSWERED.search, lines) if found]
    answers = {name: hashlib.sha256((folder / name).read_bytes()).digest() for name in made}
    assert not set(sent) & set(answers) and not set(sent.values()) & set(answers.values())
    assert len(set(answers.values())) == len(made), 'two lines make the same picture'
    for name in made:
        with Image.open(folder / name) as picture:
            picture.load()
    assert sorted(set(re.findall(r'gallery/([\w.-]+)', page))) == sorted({*answers, *sent})


@pytest.mark.parametrize('name', FOUND)
def test_what_is_found(server, drawn, name):
    kind, count = FOUND[name]
    answer = server.post(f'/detect?detect={kind}', (drawn / name).read_bytes()).json()
    assert len(answer[kind]) == count


def test_a_line_that_fails(server, drawn):
    with pytest.raises(SystemExit, match='nonsense'):
        gallery.page("# A\n\n    curl -f --data-binary @photo.jpg 'localhost:8080/blur?nonsense=1' -o a.jpg\n", drawn, server.port)
