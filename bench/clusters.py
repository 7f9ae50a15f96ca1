#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pictures a second of docs/examples/ray_redact.py and spark_redact.py on one node, and of a plain client with 4 threads that sends the same
pictures to the same daemon, as a Markdown table:

    tests/python.sh bench/clusters.py [PICTURES]     of 800x600, in parquet (200)

The rate without the start of session, actors and daemon is that between the first and the last answer in the daemon's log. Needs what `make check-clusters` installs; $BLURD is the daemon, and $BLURD_FACE_MODEL its model."""

import datetime
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

THREADS = 4
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
    """Seconds of a run, and those from the first answer to the last."""
    rows = {f'{i}.jpg': (data,) for i, data in enumerate(made)}
    folder = pathlib.Path(tempfile.mkdtemp(dir=place))
    cluster.write_parquet(folder / 'in', rows)
    begin = time.monotonic()
    status, _, log = cluster.run(name, folder / 'in', folder / 'out', {**own, 'TMPDIR': str(folder)}, folder)
    seconds = time.monotonic() - begin
    assert status == 0, log[-3000:]
    lines = next(folder.glob('blurd-*/log')).read_text().splitlines()
    times = [datetime.datetime.fromisoformat(line.split()[0]) for line in lines if ' path=/redact ' in line]
    assert len(times) == len(made)
    return seconds, (times[-1] - times[0]).total_seconds()


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    made = [pictures.jpeg(pictures.photograph(800, 600, seed=i)) for i in range(count)]
    with tempfile.TemporaryDirectory(prefix='b', dir='/tmp') as place:
        own = environment(place)
        print(f'{cluster.JOB}, {count} pictures of 800x600, {sum(map(len, made)) // count // 1000} kB each, {os.cpu_count()} cores\n')
        print('| | pictures a second | with the start | start, s |\n|---|---|---|---|')
        alone = [plain(made, own)]
        for name in ('ray_redact.py', 'spark_redact.py'):
            seconds, work = script(name, made, own, place)
            alone.append(plain(made, own))
            print(f'| {name} | {(count - 1) / work:.1f} | {count / seconds:.1f} | {seconds - work:.1f} |', flush=True)
        print(f'| requests, {THREADS} threads: before, between, after | ' + ', '.join(f'{count / each:.1f}' for each in alone) + ' | | |')


if __name__ == '__main__':
    main()
