#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pictures a second of docs/examples/ray_redact.py and spark_redact.py on one node, and of a plain client with 4 threads that sends the same
pictures to the same daemon, as a Markdown table:

    tests/python.sh bench/clusters.py [PICTURES]     of 800x600, in parquet (200)

Each script runs twice, with few pictures and with all: the difference is the rate without the start of session, actors and daemon.
Needs what `make check-clusters` installs; $BLURD is the daemon, and $BLURD_FACE_MODEL its model."""

import os
import pathlib
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGES = ROOT / 'build/clusters/python'
sys.path[:0] = [str(PACKAGES), str(ROOT / 'tests/http'), str(ROOT / 'tests/clusters')]

import requests  # noqa: E402

import cluster  # noqa: E402
import daemon  # noqa: E402
import pictures  # noqa: E402

FEW, THREADS = 16, 4
SPARK = '--master local-cluster[1,2,1024] --conf spark.ui.enabled=false --conf spark.driver.host=127.0.0.1 pyspark-shell'


def environment(place):
    own = cluster.environment({'PYTHONPATH': str(PACKAGES), 'TMPDIR': place, 'HOME': place, 'RAY_TMPDIR': place, 'SPARK_LOCAL_IP': '127.0.0.1',
                               'RAY_USAGE_STATS_ENABLED': '0', 'RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER': '0', 'SPARK_WORKER_DIR': f'{place}/work',
                               'PYSPARK_SUBMIT_ARGS': SPARK})
    del own['BLURD_WORKERS']
    return own


def plain(made, own):
    """Seconds of a client that only asks; the daemon was started before."""
    local = threading.local()

    def ask(picture):
        if not hasattr(local, 'session'):
            local.session = requests.Session()
        answer = local.session.post(running.url('/' + cluster.JOB), data=picture, timeout=60)
        assert answer.status_code == 200, answer.text
        return answer.content

    with daemon.Daemon(environment=own) as running, ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(ask, made[:THREADS]))
        begin = time.monotonic()
        list(threads.map(ask, made))
        return time.monotonic() - begin


def script(name, made, own, place):
    """Seconds of a run."""
    rows = {f'{i}.jpg': (data,) for i, data in enumerate(made)}
    folder = pathlib.Path(tempfile.mkdtemp(dir=place))
    cluster.write_parquet(folder / 'in', rows)
    begin = time.monotonic()
    status, _, log = cluster.run(name, folder / 'in', folder / 'out', own, place)
    assert status == 0, log[-3000:]
    return time.monotonic() - begin


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    made = [pictures.jpeg(pictures.photograph(800, 600, seed=i)) for i in range(count)]
    with tempfile.TemporaryDirectory(prefix='b', dir='/tmp') as place:
        own = environment(place)
        before = plain(made, own)
        print(f'{cluster.JOB}, {count} pictures of 800x600, {sum(map(len, made)) // count // 1000} kB each, {os.cpu_count()} cores\n')
        print('| | pictures a second | with the start | start, s |\n|---|---|---|---|')
        for name in ('ray_redact.py', 'spark_redact.py'):
            few, all_of_them = script(name, made[:FEW], own, place), script(name, made, own, place)
            rate = (count - FEW) / (all_of_them - few)
            print(f'| {name} | {rate:.1f} | {count / all_of_them:.1f} | {few - FEW / rate:.1f} |', flush=True)
        after = plain(made, own)
        print(f'| requests, {THREADS} threads, before and after | {count / before:.1f}, {count / after:.1f} | | |')


if __name__ == '__main__':
    main()
