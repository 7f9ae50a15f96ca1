# SPDX-License-Identifier: MIT
"""A library in a process of its own. The first line on standard output says what it is; then each line of
JSON on standard input is a job, answered with one line: the CPU time of each run, in milliseconds, of all
threads together, and the bytes of the last result."""

import json
import pathlib
import sys
import time


def once(job, work, data):
    if job.get('region'):
        return work['redact'](data, job['region'], job['format'])
    return work['resize'](data, job['width'], job['format']) if job.get('width') else work['blur'](data, job['sigma'], job['format'])


def run(job, work):
    data = pathlib.Path(job['picture']).read_bytes()
    until = time.monotonic() + job['seconds']
    times = []
    while not times or time.monotonic() < until:
        begin = time.process_time_ns()
        result = once(job, work, data)
        times.append((time.process_time_ns() - begin) / 1e6)
    if job.get('keep'):
        pathlib.Path(job['keep']).write_bytes(result)
    return {'ms': times, 'bytes': len(result)}


def serve(about, **work):
    """blur(bytes, sigma, 'jpeg' or 'png'), resize(bytes, width, …) and redact(bytes, (x, y, width, height), …) give bytes: decoded, filtered,
    encoded, JPEG with quality 85."""
    print(json.dumps({'about': about}), flush=True)
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line), work)), flush=True)
