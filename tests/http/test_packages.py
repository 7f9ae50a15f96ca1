# SPDX-License-Identifier: MIT
"""What is packed: the list of it (docker/sbom.py) and the same bytes from the same input. tests/packages has the long checks."""

import json
import os
import shutil
import subprocess
import sys

import pytest

import daemon

sys.path.insert(0, str(daemon.ROOT / 'docker'))
from debian_licences import Copyright  # noqa: E402

LIST = 'usr/share/doc/blurd/sbom.spdx.json'
COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
License: libpng OR Apache-2.0 or BSD-3-clause

Files: a.c
License: GPL-2+ or LGPL-3

Files: b.c
License: own
 Do as you like,
 but smile.

Files: debian/*
License: Artistic
"""

needs_debian = pytest.mark.skipif(not shutil.which('dpkg-query') or not shutil.which('gcc'), reason='files are taken from Debian packages')


def run(*command, **options):
    done = subprocess.run(command, cwd=daemon.ROOT, capture_output=True, text=True, check=False, timeout=120 * daemon.SLOW, **options)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def make_root(folder, **variables):
    run('docker/image_root.sh', str(daemon.BINARY), str(folder), env={**os.environ, **variables})
    return (folder / LIST).read_bytes()


@needs_debian
def test_the_list_names_all_that_is_packed(tmp_path):
    """And it is the same in another folder, another time zone and another language."""
    here = make_root(tmp_path / 'root', SOURCE_DATE_EPOCH='1700000000', LC_ALL='C')
    there = make_root(tmp_path / 'other/folder', SOURCE_DATE_EPOCH='1700000000', LC_ALL='C.UTF-8', TZ='Pacific/Auckland')
    assert here == there
    made = json.loads(here)
    assert made['creationInfo']['created'] == '2023-11-14T22:13:20Z'
    assert str(tmp_path) not in here.decode()
    run(sys.executable, 'tests/packages/sbom.py', str(tmp_path / 'root'), LIST)


def test_licences_of_debian_are_those_of_spdx():
    found = Copyright('some', COPYRIGHT)
    assert found.declared == '(Apache-2.0 OR BSD-3-Clause OR Libpng) AND (GPL-2.0-or-later OR LGPL-3.0-only) AND LicenseRef-some-own'
    assert found.texts == {'LicenseRef-some-own': 'own\nDo as you like,\nbut smile.'}
    assert Copyright('some', 'This package was debianized by hand.\n').declared == 'NOASSERTION'


def test_objects_do_not_depend_on_the_folder(tmp_path):
    """Debug information included: the ID of a build is computed from it."""
    objects = []
    for folder in (tmp_path / 'one', tmp_path / 'a/longer/two'):
        folder.mkdir(parents=True)
        for name in ('Makefile', 'core', 'codecs', 'bench', 'gpu'):
            source = daemon.ROOT / name
            shutil.copytree(source, folder / name) if source.is_dir() else shutil.copy(source, folder)
        run('make', '-C', str(folder), 'GPU=none', 'FORMATS=', 'CCACHE=', 'build/release/core/status.o',
            env={key: value for key, value in os.environ.items() if key not in ('CONFIG', 'MAKEFLAGS')})
        objects.append((folder / 'build/release/core/status.o').read_bytes())
    assert objects[0] == objects[1]
    assert str(tmp_path).encode() not in objects[0]
