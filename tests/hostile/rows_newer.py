# SPDX-License-Identifier: MIT
"""N1 to N3: the formats beside JPEG and PNG, animations and gain maps that claim or hold too much. Memory and time are of the daemon and of its codec
processes together."""

import pathlib
import time

import lab
import newer
import newest
import test_codec_process
from lab import row

MILLISECONDS = 1000


def processes(own):
    return [own.process.pid, *test_codec_process.codecs(own)]


def good():
    return newer.good() | newest.good()


def private(process):
    try:
        return test_codec_process.memory(process)
    except (FileNotFoundError, ProcessLookupError, StopIteration):
        return 0


def costs(own, files, target='/blur?sigma=2'):
    """(name -> cost, MiB of memory that all together left); the processes run before."""
    lab.ask_all(own, good().values(), target, clients=1)
    before = sum(map(private, processes(own)))
    found = {name: lab.Cost(own, body, target) for name, body in files.items()}
    return found, max(0, sum(map(private, processes(own))) - before) / 2 ** 20


def slowest(found):
    return max(found.items(), key=lambda item: item[1].wait)


@row('N1', 'All other formats, animations and gain maps that claim to be huge', '422 from the header, or 400 where it contradicts itself; a base comes without its map; answer <= 10 ms, memory <= 8 MiB')
def huge():
    files = newer.claims(16383, 16383) | newest.claims(16383, 16383) | newest.canvases(16383, 16383)
    files |= {f'{name}, long': data for name, data in newer.claims(40000, 100).items() if name[:3] != 'VP8'}
    with lab.start('--workers', '1') as own:
        found, left = costs(own, files)
    statuses = [status for cost in found.values() for status in cost.statuses]
    name, cost = slowest(found)
    memory = max(left, *(c.memory for c in found.values()))
    other = [name for name, c in found.items() if c.statuses != [422]]
    plain = [name for name, c in found.items() if c.answer.headers.get('x-hdr') == ['dropped']]  # the base, whose map is left out
    return (f'{len(files)} files: {lab.counted(statuses)}{f" ({other[0]})" if other else ""}; {cost.wait * MILLISECONDS:.1f} ms ({name}); {memory:.1f} MiB',
            statuses.count(200) == len(plain) <= 1 and set(statuses) <= {200, 400, 422} and statuses.count(422) * 2 > len(statuses) and cost.wait <= 0.010 and memory <= 8)


@row('N2', 'All other formats, animations and gain maps of 64 megapixels whose data cannot fill it', '400 or 422, within half a second; libavif enlarges what an AVIF has; a base comes without its map')
def hollow():
    with lab.start('--workers', '1') as own:
        found, left = costs(own, newer.claims(8000, 8000) | newest.claims(8000, 8000))
    enlarged = [c.wait for name, c in found.items() if c.statuses == [200] and (name.startswith('avif') or c.answer.headers.get('x-hdr') == ['dropped'])]
    statuses = [status for cost in found.values() for status in cost.statuses]
    name, cost = slowest({name: c for name, c in found.items() if c.statuses != [200]})
    return (f'{len(found)} files: {lab.counted(statuses)}; {cost.wait * MILLISECONDS:.0f} ms ({name}); {left:.1f} MiB are left',
            set(statuses) <= {200, 400, 422} and statuses.count(200) == len(enlarged) and cost.wait <= 0.5)


@row('N3', 'All other formats, animations and gain maps with very many parts, loops, codes or large profiles',
     'statuses 200, 400, 415, 422 only, within half a second of the limit of 2 s; the processes give the memory back; 0 processes and descriptors more')
def floods():
    limit = 2
    with lab.start('--workers', '1', '--work-timeout', f'{limit}s') as own:
        found, left = costs(own, newer.floods() | newest.floods() | newest.canvases(8000, 8000))
        lab.ask_all(own, good().values(), clients=1)
        zombies = [state for _, state in test_codec_process.codecs(own).values() if state == 'Z']
        descriptors = len(list(pathlib.Path(f'/proc/{own.process.pid}/fd').iterdir()))
        time.sleep(0.2)
        last = lab.ask_all(own, good().values(), clients=1)
    statuses = [status for cost in found.values() for status in cost.statuses]
    name, cost = slowest(found)
    return (f'{len(found)} files: {lab.counted(statuses)}; {cost.wait:.2f} s ({name}); {left:.0f} MiB are left; {descriptors} descriptors, '
            f'{len(zombies)} zombies', set(statuses) <= {200, 400, 415, 422} and cost.wait <= limit + 0.5 and not zombies and set(last) == {200})
