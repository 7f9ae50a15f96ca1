# SPDX-License-Identifier: MIT
"""tests/python.sh: Python finds the packages that the project asks for, and no others of the host. And the time limit of tests."""

import json
import os
import pathlib
import re
import subprocess
import sys
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


HANGING = """
import concurrent.futures, threading, time
import pytest

never = threading.Event()

@pytest.fixture
def slow_start():
    never.wait()

@pytest.fixture
def slow_end():
    yield
    never.wait()

def test_set_up(slow_start): pass
def test_call():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:  # whose end waits, too
        pool.submit(never.wait).result()
def test_tear_down(slow_end): pass
def test_caught():
    try:
        never.wait()
    except Exception:
        pass
def test_in_time(): time.sleep(0.02)
"""


@pytest.mark.parametrize('beside', ((), ('-n', '1')), ids=('alone', 'xdist'))
def test_what_hangs_fails_by_its_name(tmp_path, beside):
    (tmp_path / 'test_hanging.py').write_text(HANGING)
    (tmp_path / 'pytest.ini').write_text('[pytest]\n')
    done = subprocess.run([sys.executable, '-m', 'pytest', '-q', '-rfEp', '-p', 'time_limit', '-p', 'no:cacheprovider', *beside, tmp_path],
                          cwd=daemon.ROOT / 'tests/http', env={**os.environ, 'BLURD_SLOW': '1', 'BLURD_TEST_SECONDS': '0.1', 'COLUMNS': '300'},
                          capture_output=True, text=True, check=False, timeout=60 * daemon.SLOW)
    said = re.findall(r'^(?:FAILED|ERROR|PASSED) \S+::(test_\w+)( - Failed: it has not ended within its 0.1 s)?', done.stdout, re.M)
    assert done.returncode == 1, done.stdout + done.stderr
    assert {name for name, why in said if why} == {'test_set_up', 'test_call', 'test_tear_down', 'test_caught'}, done.stdout
    assert ('test_in_time', '') in said, done.stdout
