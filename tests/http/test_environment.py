# SPDX-License-Identifier: MIT
"""tests/python.sh: Python finds the packages that the project asks for, and no others of the host."""

import json
import os
import pathlib
import subprocess
import sysconfig

import pytest

import daemon

OWN = daemon.ROOT / 'build/python'
WHEELS = tuple(str(daemon.ROOT / 'build' / name / 'python') for name in ('kubernetes', 'helm'))
ASK = """
import importlib.metadata, json, sys, numpy, pytest, requests, scipy, yaml, PIL
print(json.dumps({'path': sys.path, 'yaml': yaml.__file__,
                  'packages': sorted(str(one.locate_file('')) for one in importlib.metadata.distributions())}))
"""

pytestmark = pytest.mark.skipif(not pathlib.Path('/usr/lib/python3/dist-packages').exists(), reason='the environment is for Debian')


@pytest.fixture(scope='module')
def found(tmp_path_factory):
    """The modules that Python sees on a host whose user, variables and current folder have a different
    `yaml`."""
    folder = tmp_path_factory.mktemp('host')
    user = folder / f'.local/lib/python{sysconfig.get_python_version()}/site-packages'
    user.mkdir(parents=True)
    for place in (folder, user):
        (place / 'yaml.py').write_text('raise ImportError("of the host")\n')
    done = subprocess.run([daemon.ROOT / 'tests/python.sh', '-P', '-c', ASK], cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, 'HOME': str(folder), 'PYTHONPATH': str(folder), 'PYTHONUSERBASE': str(folder / '.local')})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_nothing_of_the_host_is_seen(found):
    library = sysconfig.get_path('stdlib', vars={'installed_base': '/usr'})
    for place in map(pathlib.Path, found['path']):
        assert str(place).startswith((library, str(OWN))) or str(place) in WHEELS or place.suffix == '.zip', place
    for place in found['packages']:
        assert place.startswith((str(OWN), *WHEELS)), place


def test_each_module_is_of_a_package_that_was_asked_for():
    """Modules of Debian's that are installed and were not asked for are not linked; pip is, on each host that builds."""
    links = {path.name for path in (OWN / 'debian').iterdir()}
    assert {'numpy', 'scipy', 'PIL', 'pytest', 'requests'} <= links
    assert not {'pip', 'jsonschema', 'ansible', 'compose'} & links
    assert all(path.exists() for path in (OWN / 'debian').iterdir())
