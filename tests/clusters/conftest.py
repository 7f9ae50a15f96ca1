# SPDX-License-Identifier: MIT
"""docs/examples/ray_redact.py and spark_redact.py on clusters of several processes on this host: make check-clusters, or
tests/python.sh -m pytest tests/clusters

    BLURD=path        the daemon under test       BLURD_SLOW=2      factor for every timeout

What they need comes from PyPI (config/pypi.sh clusters) and, for Spark, from Debian (Java). Without it the tests are skipped, but for
CI, where they fail."""

import os
import pathlib
import shutil
import sys
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ROOT / 'build/clusters/python'
sys.path[:0] = [str(PACKAGES), str(ROOT / 'tests/http')]

import cluster  # noqa: E402
import daemon  # noqa: E402
from time_limit import pytest_runtest_call, pytest_runtest_setup, pytest_runtest_teardown, pytest_unconfigure  # noqa: E402,F401

MISSING = [why for there, why in ((PACKAGES.is_dir(), 'no packages in build/clusters: config/pypi.sh clusters'),
                                  (shutil.which('java'), 'no Java: config/packages.sh clusters')) if not there]


def pytest_collection_modifyitems(items):
    if MISSING and os.environ.get('CI') == 'true':
        pytest.exit('; '.join(MISSING), returncode=2)
    for item in items:
        if MISSING:
            item.add_marker(pytest.mark.skip(reason=MISSING[0]))
    if not os.access(daemon.BINARY, os.X_OK):
        pytest.exit(f'{daemon.BINARY} is not there: run make', returncode=2)


@pytest.fixture(scope='session')
def made():
    """The pictures, as {path: (bytes, status and body of the daemon's answer)}."""
    with daemon.Daemon(environment=cluster.environment({})) as plain:
        return {path: (data, answer.status_code, answer.content) for path, data in cluster.pictures_made().items()
                for answer in [plain.post('/' + cluster.JOB, data)]}


@pytest.fixture(scope='module')
def place():
    """A folder with a short path, as sockets are in it, whose name all processes of a cluster have in their environment."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix='b', dir='/tmp'))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope='module', autouse=True)
def nothing_is_left(place):
    """Ends what belongs to the cluster, also after a failure, and then fails."""
    yield
    left = daemon.eventually(lambda: not cluster.processes(place), 20) or cluster.processes(place)
    if left is not True:
        for pid in left:
            cluster.kill(pid)
        pytest.fail(f'left: {list(left.values())}')
