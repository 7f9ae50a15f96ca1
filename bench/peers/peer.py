# SPDX-License-Identifier: MIT
"""A library in a process of its own. The first line on standard output says what it is; then each line of
JSON on standard input is a job, answered with one line: the CPU time of each run, in milliseconds, of all
threads together, and the bytes of the last result."""

import json
import pathlib
import sys
import time


def run(job, work):
    data = pathlib.Path(job['picture']).read_bytes()
    until = time.monotonic() + job['seconds']
    times = []
    while not times or time.monotonic() < until:
        begin = time.process_time_ns()
        result = work['resize'](data, job['width'], job['format']) if job.get('width') else work['blur'](data, job['sigma'], job['format'])
        times.append((time.process_time_ns() - begin) / 1e6)
    if job.get('keep'):
        pathlib.Path(job['keep']).write_bytes(result)
    return {'ms': times, 'bytes': len(result)}


def serve(about, **work):
    """blur(bytes, sigma, 'jpeg' or 'png') and resize(bytes, width, …) give bytes: decoded, filtered, encoded, JPEG with quality 85."""
    print(json.dumps({'about': about}), flush=True)
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line), work)), flush=True)
