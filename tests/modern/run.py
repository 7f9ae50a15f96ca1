# SPDX-License-Identifier: MIT
"""Every file of ../shared/modern through the daemon: the statuses of manifest.tsv, and the pixels of independent
decoders (truth.py).

    tests/run.sh modern                        builds what it needs and runs it
    tests/python.sh tests/modern/run.py        all files, with build/release/blurd
    tests/python.sh tests/modern/run.py kimono fox    files whose names contain one of the words

Pictures that are made here (made.py) say in all ways how to turn them. Each file is asked for as PNG with a filter whose region lies off the picture, which changes no pixel: the samples
are within 1 of 255 of the decoder's, and kept metadata do not turn the upright picture again. An animation of HEIC gives 415, and its first frame with page=0. Then the file is cut
in half, and sent with 16 bytes inverted: an answer of 200 or 4xx, no other. No answer takes more than five
seconds; the daemon lives on and its processes stay within a limit of memory.

MODERN=folder; without it, or without the decoders, the test is skipped (77). BLURD and CONFIG as in tests/http."""

import collections
import concurrent.futures
import functools
import os
import pathlib
import re
import sys
import threading
import time

import requests
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/http'))

import daemon  # noqa: E402
import made  # noqa: E402
import make  # noqa: E402
import pictures  # noqa: E402
import truth  # noqa: E402

UNFILTERED = '/blur?sigma=1&format=png&png_reduce=false&metadata=keep&region=999999,999999,1,1'
CLIENTS = 2
SECONDS = 5
MEMORY = 1 << 30  # the most that all processes of the daemon may hold together
SKIPPED = 77

# row: of the manifest. found: a function that gives the Truth.
Case = collections.namedtuple('Case', 'row path found')
Outcome = collections.namedtuple('Outcome', 'row status seconds complaints')


# --- the processes of the daemon ----------------------------------------------------------------
def family(pid):
    """The process and its descendants."""
    found = [pid]
    for one in found:
        for path in pathlib.Path(f'/proc/{one}/task').glob('*/children'):
            try:
                found += map(int, path.read_text().split())
            except OSError:
                pass  # ended meanwhile
    return found


def held(pid):
    """Bytes of memory that a process holds, shared ones in parts. Only root may ask this of a sandboxed process;
    others count shared memory several times."""
    for file, key in ((f'/proc/{pid}/smaps_rollup', 'Pss:'), (f'/proc/{pid}/status', 'VmRSS:')):
        try:
            lines = pathlib.Path(file).read_text().splitlines()
        except OSError:
            continue
        return next((int(line.split()[1]) << 10 for line in lines if line.startswith(key)), 0)
    return 0


def processor_time(pid):
    """Seconds of the process and its descendants, also of those that ended."""
    ticks = 0
    for one in family(pid):
        try:
            ticks += sum(map(int, pathlib.Path(f'/proc/{one}/stat').read_text().rpartition(')')[2].split()[11:15]))
        except OSError:
            pass  # ended meanwhile
    return ticks / os.sysconf('SC_CLK_TCK')


class Meter(threading.Thread):
    """Looks at the memory of the daemon's processes again and again."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.peak, self.most, self.ending = pid, 0, 0, threading.Event()
        self.start()

    def run(self):
        while not self.ending.wait(0.1):
            processes = family(self.pid)
            self.peak = max(self.peak, sum(map(held, processes)))
            self.most = max(self.most, len(processes))


# --- asking --------------------------------------------------------------------------------------
class Asker:
    """One client on a connection of its own."""

    def __init__(self, server, number):
        self.server, self.session, self.slow = server, requests.Session(), []
        self.answer_file = truth.FOLDER / f'answer-{os.getpid()}-{number}.png'

    def ask(self, name, body, more=''):
        """(answer or None, seconds, complaint or None): what is expected of any answer."""
        begin = time.monotonic()
        try:
            answer = self.session.post(self.server.url(UNFILTERED + more), body, timeout=60 * daemon.SLOW)
        except requests.RequestException as error:
            return None, time.monotonic() - begin, f'no answer: {error}'
        seconds = time.monotonic() - begin
        if seconds > SECONDS * daemon.SLOW:
            self.slow.append((name, body, more))
        if answer.status_code != 200 and not 400 <= answer.status_code < 500:
            return answer, seconds, f'status {answer.status_code}: {detail(answer)}'
        if answer.status_code != 200 and not detail(answer):
            return answer, seconds, f'no explanation: {answer.content[:200]}'
        return answer, seconds, None

    def complaints(self):
        """Asks alone for what took long beside others; on a busy machine the processor time counts."""
        for name, body, more in list(self.slow):
            before = processor_time(self.server.process.pid)
            wall = self.ask(name, body, more)[1]
            seconds = min(wall, processor_time(self.server.process.pid) - before)
            if seconds > SECONDS * daemon.SLOW:
                yield f'{name}: {seconds:.1f} s'

    def samples(self, answer):
        self.answer_file.write_bytes(answer.content)
        return truth.read_png(self.answer_file)

    def finish(self):
        self.session.close()
        self.answer_file.unlink(missing_ok=True)


def detail(answer):
    if answer.headers.get('Content-Type') != 'application/problem+json':
        return ''
    return answer.json().get('detail', '')


def stated_orientation(png):
    """The EXIF orientation of a PNG file; 1 without any."""
    at = 8
    while at < len(png):
        size, tag = int.from_bytes(png[at:at + 4], 'big'), png[at + 4:at + 8]
        if tag == b'eXIf':
            exif = Image.Exif()
            exif.load(b'Exif\0\0' + png[at + 8:at + 8 + size])
            return exif.get(0x0112, 1)
        at += size + 12
    return 1


def judged(row, found, asker, answer):
    """What is wrong with an answer with status 200."""
    if stated_orientation(answer.content) != 1:
        return f'the answer has the EXIF orientation {stated_orientation(answer.content)}'
    try:
        samples = asker.samples(answer)
    except ValueError as error:
        return f'the answer cannot be read: {error}'
    if found.samples is None:
        return None
    if not row['width']:
        return truth.difference(found.samples, samples)
    is_known = truth.digest(found.samples) == row['pixels']  # else another decoder, with other rules
    shape = (samples.shape[2], truth.depth(samples))
    if is_known and shape != (int(row['channels']), int(row['depth'])):
        return f'{shape[0]} channels of {shape[1]} bits, not {row["channels"]} of {row["depth"]}'
    return truth.difference(found.samples, samples)


def damaged(body):
    """(what was done, bytes)"""
    yield 'cut in half', body[:len(body) // 2]
    at = len(body) * 3 // 5
    yield 'with 16 bytes inverted', body[:at] + bytes(byte ^ 255 for byte in body[at:at + 16]) + body[at + 16:]


def cases(words):
    """The files of the manifest, which the decoders read first, and those made here."""
    rows = [row for row in make.rows() if any(word in row['name'] for word in words)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda row: truth.prepare(make.MODERN / row['name']), rows))
    for row in rows:
        path = make.MODERN / row['name']
        yield Case(row, path, functools.partial(truth.decode, path))
    for path, samples in made.files():
        if any(word in path.name for word in words):
            row = {**dict.fromkeys(make.COLUMNS, ''), 'name': path.name, 'status': '200', 'format': path.suffix[1:]}
            yield Case(row, path, functools.partial(truth.Truth, samples, None, 1, False))


def attempt(case, asker):
    """The outcome for one file."""
    row, found, body, complaints = case.row, case.found(), case.path.read_bytes(), []
    answer, slowest, complaint = asker.ask(row['name'], body)
    status = answer.status_code if answer is not None else None
    if complaint:
        complaints.append(complaint)
    elif str(status) not in row['status'].split(','):
        complaints.append(f'status {status}, not {row["status"]}: {detail(answer)}')
    elif status == 200:
        complaints.append(judged(row, found, asker, answer))
    elif row['word'] not in detail(answer):
        complaints.append(f'the detail lacks "{row["word"]}": {detail(answer)}')
    if found.frames > 1:
        answer, seconds, complaint = asker.ask(row['name'], body, '&page=0')
        slowest = max(slowest, seconds)
        if not complaint and answer.status_code != 200:
            complaint = f'status {answer.status_code}: {detail(answer)}'
        complaint = complaint or judged({'width': ''}, found, asker, answer)
        complaints.append(complaint and f'page=0: {complaint}')
    for what, bad in damaged(body):
        _, seconds, complaint = asker.ask(f'{row["name"]}, {what}', bad)
        slowest = max(slowest, seconds)
        complaints.append(complaint and f'{what}: {complaint}')
    return Outcome(row, status, slowest, [one for one in complaints if one])


def attempt_all(all_cases, server):
    """The outcomes, and complaints about time."""
    left, askers = collections.deque(all_cases), [Asker(server, number) for number in range(CLIENTS)]

    def work(number):
        asker, outcomes = askers[number], []
        while True:
            try:
                case = left.popleft()
            except IndexError:
                break
            outcomes.append(attempt(case, asker))
        return outcomes

    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        outcomes = [outcome for some in pool.map(work, range(CLIENTS)) for outcome in some]
    slow = [complaint for asker in askers for complaint in asker.complaints()]
    for asker in askers:
        asker.finish()
    return outcomes, slow


def report(outcomes, slow, meter):
    """Prints the outcomes; the number of failures."""
    counts = collections.Counter((one.row['format'], one.status) for one in outcomes)
    for (kind, status), count in sorted(counts.items(), key=str):
        print(f'{kind} {status}: {count}')
    for one in sorted(outcomes, key=lambda one: -one.seconds)[:5]:
        print(f'{one.seconds:.2f} s: {one.row["name"]}')
    print(f'{meter.peak >> 20} MiB at most in {meter.most} processes')
    failures = [f'{one.row["name"]}: {complaint}' for one in outcomes for complaint in one.complaints] + slow
    if meter.peak > MEMORY:
        failures.append(f'the processes held {meter.peak >> 20} MiB, the limit is {MEMORY >> 20}')
    print('\n'.join(f'FAIL {failure}' for failure in sorted(failures)))
    print(f'{len(outcomes)} files, {len(failures)} failures')
    return len(failures)


@functools.lru_cache(1)
def formats():
    """Those that this build reads, of webp, avif and heic."""
    reads = re.search(r'^reads ([^;]*)', daemon.run('--version')[1], re.M).group(1).lower()
    found = {name for name in truth.PROGRAMS if name in reads}
    for name in set(truth.PROGRAMS) - found:
        print(f'this build does not read {name}: its files are not tried')
    return found


def skip(why):
    print(f'{why}: the files of WebP, AVIF and HEIC were not tried')
    sys.exit(SKIPPED)


def main():
    if not make.MODERN.is_dir():
        skip(f'no folder {make.MODERN} (MODERN)')
    if truth.missing():
        skip(f'not installed: {", ".join(truth.missing())}')
    all_cases = [case for case in cases(sys.argv[1:] or ['']) if case.row['format'] in formats()]
    if not all_cases:
        skip('this build reads none of them')
    with daemon.Daemon('--gpus', 'none') as server:
        meter = Meter(server.process.pid)
        outcomes, slow = attempt_all(all_cases, server)
        alive = server.post('/blur', pictures.small_jpeg()).status_code == 200
        meter.ending.set()
        meter.join()
    failures = report(outcomes, slow, meter)
    if not alive:
        print('FAIL the daemon does not answer any more')
    sys.exit(failures > 0 or not alive)


if __name__ == '__main__':
    main()
