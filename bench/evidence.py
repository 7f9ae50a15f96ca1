#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a report costs: CPU time of a redaction with and without one, for a small picture and a large one, in turns.

    tests/python.sh bench/evidence.py [ROUNDS]"""

import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'tests/http'))

import numpy  # noqa: E402
import requests  # noqa: E402

import daemon  # noqa: E402
import evidence  # noqa: E402
import pictures  # noqa: E402


def cost(running, session, body, query, count):
    """Milliseconds of CPU for one, and the bytes of the answer."""
    before = running.processor_time()
    for _ in range(count):
        answer = session.post(running.url(f'/redact?region=10,10,50,50{query}'), data=body, timeout=60)
        assert answer.status_code == 200
    return (running.processor_time() - before) / count * 1e3, len(answer.content)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    large = pictures.jpeg(pictures.noise(2000, 1500).astype(numpy.uint8), 95)
    with tempfile.TemporaryDirectory() as folder, daemon.Daemon('--gpus', 'none', '--report-key', evidence.make_key(pathlib.Path(folder))) as running:
        session = requests.Session()
        for name, body, count in (('small', pictures.small_png(), 2000), ('large', large, 20)):
            for _ in range(rounds):
                plain, size = cost(running, session, body, '', count)
                reported, _ = cost(running, session, body, '&report=true', count)
                more, megabytes = reported - plain, (len(body) + size) / 1e6
                print(f'{name}: {megabytes:.3f} MB in and out; {plain:.3f} ms, with a report {reported:.3f}: {more:.3f} more, {more / megabytes:.2f} a megabyte')


if __name__ == '__main__':
    main()
