# SPDX-License-Identifier: MIT
"""docs/examples/spark_redact.py with two workers of Spark, each in a process of its own."""

import pytest

import cluster
import conftest

TIME_LIMIT = 180
MASTER = 'local-cluster[2,1,1024]'  # workers, cores and MiB of each


@pytest.fixture(scope='module')
def own(place):
    words = ['--master', MASTER, '--driver-memory', '512m', '--conf', 'spark.executor.memory=512m', '--conf', 'spark.ui.enabled=false',
             '--conf', 'spark.driver.host=127.0.0.1', '--conf', f'spark.local.dir={place}', '--conf', 'spark.task.maxFailures=2', 'pyspark-shell']
    return cluster.environment({'PYTHONPATH': str(conftest.PACKAGES), 'TMPDIR': str(place), 'HOME': str(place), 'SPARK_LOCAL_IP': '127.0.0.1',
                                'SPARK_WORKER_DIR': str(place / 'work'), 'PYSPARK_SUBMIT_ARGS': ' '.join(words)})


def test_a_daemon_that_is_killed_costs_no_row(own, place, made):
    cluster.write_parquet(place / 'parquet', made)
    with cluster.Watch(place, kill_one=True) as watch:
        result = cluster.run('spark_redact.py', place / 'parquet', place / 'of-parquet', own, place)
    cluster.check(result, place / 'of-parquet', made)
    assert watch.killed and watch.most == 1 and len(watch.seen) == 2, 'both workers are on one host, and share its daemon'


def test_tars_and_pictures(own, place, made):
    names = cluster.write_mixed(place / 'mixed', made)
    result = cluster.run('spark_redact.py', place / 'mixed', place / 'of-mixed', own, place)
    cluster.check(result, place / 'of-mixed', made, names)
    assert '1 files are neither tars nor pictures' in result[2]


def test_a_result_is_not_overwritten(own, place):
    status, _, log = cluster.run('spark_redact.py', place / 'parquet', place, own, place)
    assert status == 1 and f'{place} is there already' in log
