# SPDX-License-Identifier: MIT
"""L4: two hundred pictures of 64 megapixels at once, in a control group of 512 MiB.

    tests/python.sh tests/load/memory.py

Where no control group can be made, the daemon gets the budget that it would choose there, and its resident memory is
measured."""

import collections
import concurrent.futures
import os
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'hostile'))

import lab  # noqa: E402
import numpy  # noqa: E402
import pictures  # noqa: E402
import results  # noqa: E402

LIMIT = 512 << 20
AT_ONCE = 200
ROOT = pathlib.Path('/sys/fs/cgroup')


def own_group():
    """(folder of this process's memory group, names of the files for: limit, peak, kills, processes)"""
    for line in pathlib.Path('/proc/self/cgroup').read_text().splitlines():
        _, controllers, group = line.split(':', 2)
        if controllers == 'memory':
            return ROOT / 'memory' / group.lstrip('/'), ('memory.limit_in_bytes', 'memory.max_usage_in_bytes', 'memory.oom_control')
        if controllers == '' and (ROOT / group.lstrip('/') / 'memory.max').exists():
            return ROOT / group.lstrip('/'), ('memory.max', 'memory.peak', 'memory.events')
    return None, None


class Group:
    """A control group with a memory limit; `with` puts this process in while a daemon is started. Falls back to nothing."""

    def __init__(self, limit):
        self.parent, names = own_group()
        self.folder = self.parent / f'blurd-load-{os.getpid()}' if self.parent else None
        try:
            self.folder.mkdir()
            (self.folder / names[0]).write_text(str(limit))
            self.peak_file, self.kills_file = self.folder / names[1], self.folder / names[2]
            self.peak()
        except (OSError, AttributeError):
            self.folder = None

    def enter(self):
        if self.folder:
            (self.folder / 'cgroup.procs').write_text(str(os.getpid()))

    def leave(self):
        if self.folder:
            (self.parent / 'cgroup.procs').write_text(str(os.getpid()))

    def peak(self):
        return int(self.peak_file.read_text())

    def kills(self):
        return int(re.search(r'oom_kill (\d+)', self.kills_file.read_text()).group(1))

    def remove(self):
        if self.folder:
            time.sleep(0.2)
            self.folder.rmdir()


def hostile_mix():
    """Pictures of 64 MP that take memory in different ways."""
    photograph = pictures.photograph(512, 488).repeat(16, 0).repeat(16, 1)
    yield 'JPEG', pictures.jpeg(photograph, 60, '420')
    yield 'progressive JPEG', pictures.jpeg(photograph, 60, '420', progressive=True)
    yield 'gray PNG', pictures.png(numpy.ascontiguousarray(photograph[:, :, :1]))


def ask(own, kind, body, target):
    try:
        with lab.Client(own, 120) as client:
            return kind, lab.status_of(client.ask(body, target))
    except (OSError, AssertionError) as error:
        return kind, type(error).__name__


@lab.row('L4', '200 x 64 MP at once in 512 MiB', '0 processes killed for memory, peak at most 90 % of the limit, then a picture is served')
def budget():
    bodies = list(hostile_mix())
    targets = ['/blur?sigma=5', '/blur?sigma=5', '/blur?sigma=20&progressive=true', '/blur?sigma=2&region=10%25,10%25,30%25,30%25']
    group = Group(LIMIT)
    options = ('--queue-interval', '1m') + (() if group.folder else ('--memory', '307MiB'))
    group.enter()
    try:
        own = lab.start(*options)
    finally:
        group.leave()
    with own:
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            asked = [pool.submit(ask, own, *bodies[i % len(bodies)], targets[i % len(targets)]) for i in range(AT_ONCE)]
            outcomes = [each.result() for each in asked]
        after = own.post('/blur', pictures.small_jpeg()).status_code
        peak = group.peak() if group.folder else own.status('VmHWM') * 1024
        kills = group.kills() if group.folder else 0
        reasons = {name[14:-6]: int(count) for name, count in own.metrics().items() if name.startswith('blurd_refused_') and count}
    group.remove()
    statuses = collections.Counter(status for _, status in outcomes)
    done = collections.Counter(kind for kind, status in outcomes if status == 200)
    figure = (f'{"control group" if group.folder else "resident memory, no control group here"}: peak {peak / LIMIT:.1%}, {kills} killed; '
              f'answers {lab.counted(statuses.elements())}; done {dict(done)}; refused for {reasons}; then {after}')
    return figure, kills == 0 and peak <= 0.9 * LIMIT and after == 200 and set(statuses) <= {200, 422, 503} and statuses[200] > 0


OWN = ('L4',)


def rows():
    return [row for row in lab.ROWS if row.id in OWN]


if __name__ == '__main__':
    results.report(results.results(OWN))
