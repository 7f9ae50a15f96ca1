# SPDX-License-Identifier: MIT
"""docs/examples/ray_redact.py on two nodes of Ray."""

import subprocess
import sys
import tarfile

import pytest

import cluster
import conftest

TIME_LIMIT = 180


@pytest.fixture(scope='module')
def own(place):
    """The environment of a cluster of two nodes."""
    # CLUSTER keeps all of it on 127.0.0.1, and a job begins when both nodes can work.
    own = cluster.environment({'PYTHONPATH': str(conftest.PACKAGES), 'RAY_USAGE_STATS_ENABLED': '0', 'RAY_TMPDIR': str(place), 'TMPDIR': str(place),
                               'RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER': '0', 'HOME': str(place), 'RAY_DATA_DEFAULT_WAIT_FOR_MIN_ACTORS_S': '60'})
    with subprocess.Popen([sys.executable, conftest.ROOT / 'tests/clusters/ray_nodes.py'], env=own, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=(place / 'nodes.log').open('wb')) as nodes:
        try:
            address = nodes.stdout.readline().decode().strip()
            assert address, (place / 'nodes.log').read_text()[-2000:]
            yield {**own, 'RAY_ADDRESS': address}
        finally:
            nodes.stdin.close()
            try:
                nodes.wait(30)
            except subprocess.TimeoutExpired:
                nodes.kill()


def test_a_daemon_that_is_killed_costs_no_row(own, place, made):
    cluster.write_parquet(place / 'parquet', made)
    with cluster.Watch(place, kill_one=True) as watch:
        result = cluster.run('ray_redact.py', place / 'parquet', place / 'of-parquet', own, place)
    cluster.check(result, place / 'of-parquet', made)
    nodes = len(list(place.glob('blurd-*')))
    assert watch.killed and watch.most <= nodes == 2 and len(watch.seen) == nodes + 1, 'one for each node, and one in the place of another'


def test_tars_and_pictures(own, place, made):
    names = cluster.write_mixed(place / 'mixed', made)
    with cluster.Watch(place, kill_one=False) as watch:
        result = cluster.run('ray_redact.py', place / 'mixed', place / 'of-mixed', own, place)
    cluster.check(result, place / 'of-mixed', made, names)
    assert '1 files are neither tars nor pictures' in result[2] and watch.most <= 2


def test_a_result_is_not_overwritten(own, place):
    status, _, log = cluster.run('ray_redact.py', place / 'parquet', place, own, place)
    assert status == 1 and f'{place} is there already' in log


def test_a_tar_that_was_cut_ends_the_job(own, place):
    """Between two members, which tarfile takes for its end."""
    (place / 'cut').mkdir()
    with tarfile.open(place / 'mixed/000000.tar') as tar:
        end = tar.getmembers()[4].offset
    (place / 'cut/a.tar').write_bytes((place / 'mixed/000000.tar').read_bytes()[:end])
    status, _, log = cluster.run('ray_redact.py', place / 'cut', place / 'of-cut', own, place)
    assert status == 1 and f'a.tar is cut off or damaged at byte {end}' in log
