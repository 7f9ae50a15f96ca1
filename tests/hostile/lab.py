# SPDX-License-Identifier: MIT
"""Shared by the rows of check-hostile and check-load: the list of rows, daemons, and measurements of them.

A row is a function with the decorator `row`. It returns (figure, verdict). The verdict is True, False, or a
sentence about the obstacle."""

import collections
import concurrent.futures
import csv
import json
import multiprocessing
import os
import pathlib
import statistics
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/http'))

import daemon  # noqa: E402
import pictures  # noqa: E402
import wire  # noqa: E402

CORPUS = pathlib.Path(os.environ.get('CORPUS') or ROOT.parent / 'shared/corpus')
ATTACK = CORPUS.parent / 'attack'
BUILD = {config: ROOT / 'build' / config / 'blurd' for config in ('release', 'asan')}
FAKE_CUDA = 'tests/fake_cuda/libfakecuda.so'

Row = collections.namedtuple('Row', 'id threat target function')
ROWS = []


class Options:
    """Set by run.py from its arguments."""
    mutants = 5000
    fuzz_seconds = 60
    soak_seconds = 60
    seed = 1


def row(name, threat, target):
    def keep(function):
        ROWS.append(Row(name, threat, target, function))
        return function
    return keep


def start(*options, config='release', slow=None, **more):
    """A daemon of that build. Time limits of rows are those of the release build."""
    daemon.BINARY = str(BUILD[config])
    daemon.SLOW = slow or (4 if config == 'asan' else 1)
    backend = () if '--gpus' in options else ('--gpus', 'none')
    return daemon.Daemon(*backend, *options, **more)


# --- asking ------------------------------------------------------------------------------------
class Client:
    """One connection that asks again and again, and comes back after it was closed."""

    def __init__(self, own, timeout=60):
        self.own, self.timeout, self.connection = own, timeout, None

    def ask(self, body, target='/blur?sigma=2', headers=(), method='POST'):
        """The answer, or None when the connection ended without one."""
        message = wire.message(method, target, body, ['X-Request-Id: hostile', *headers])
        for attempt in (1, 2):
            fresh = self.connection is None
            self.connection = self.connection or self.own.connect(self.timeout)
            self.connection.send(message)
            answer = self.connection.answer()
            if answer is None or answer.header('Connection') == 'close':
                self.close()
            if answer is not None or fresh:
                return answer
        return None

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def status_of(answer):
    return answer.status if answer else 'none'


def ask_all(own, bodies, target='/blur?sigma=2', clients=3, look=lambda body, answer: status_of(answer)):
    """look(body, answer) of each body, in order."""
    bodies = list(bodies)
    found = [None] * len(bodies)

    def work(first):
        with Client(own) as client:
            for i in range(first, len(bodies), clients):
                body = bodies[i]() if callable(bodies[i]) else bodies[i]
                found[i] = look(body, client.ask(body, target))

    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        for done in [pool.submit(work, first) for first in range(clients)]:
            done.result()
    return found


def counted(statuses):
    """'200 x 3, 415 x 1'"""
    return ', '.join(f'{status} x {count}' for status, count in sorted(collections.Counter(statuses).items(), key=str))


# --- measuring ---------------------------------------------------------------------------------
def cpu_seconds(pid):
    """Of all threads that live; exact, where /proc/PID/stat counts hundredths."""
    total = 0
    for task in pathlib.Path(f'/proc/{pid}/task').iterdir():
        try:
            total += int((task / 'schedstat').read_text().split()[0])
        except OSError:
            pass
    return total / 1e9


def reset_peak(own):
    pathlib.Path(f'/proc/{own.process.pid}/clear_refs').write_text('5')


def peak_growth(own, before_kib):
    return max(0, own.status('VmHWM') - before_kib) / 1024


class Cost:
    """Answer, seconds from the last byte sent to the first of the answer, CPU seconds, MiB of new memory."""

    def __init__(self, own, body, target='/blur?sigma=2', times=1, headers=()):
        waits, works, self.statuses = [], [], []
        reset_peak(own)
        before = own.status('VmRSS')
        for _ in range(times):
            work = cpu_seconds(own.process.pid)
            with own.connect(60) as connection:
                connection.send(wire.message('POST', target, body, headers))
                begin = time.monotonic()
                answer = connection.answer()
                waits.append(time.monotonic() - begin)
            works.append(cpu_seconds(own.process.pid) - work)
            self.statuses.append(status_of(answer))
        self.wait, self.cpu = statistics.median(waits), min(works)  # other work only ever adds to a CPU time
        self.memory = peak_growth(own, before)
        self.answer = answer


def p99(times):
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]


class GoodClient:
    """Sends an HD picture at a steady rate and notes how long it takes."""

    BODY = pictures.jpeg(pictures.photograph(1920, 1080), quality=85)
    EVERY = 0.1

    def __init__(self, own):
        self.own, self.times, self.errors, self.ending = own, [], 0, threading.Event()
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        with Client(self.own) as client:
            while not self.ending.is_set():
                begin = time.monotonic()
                self.errors += status_of(client.ask(self.BODY, '/blur?sigma=2')) != 200
                self.times.append(time.monotonic() - begin)
                self.ending.wait(max(0, self.EVERY - self.times[-1]))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()

    def p99(self):
        return p99(self.times)


def isolation(own, attack, seconds=4.0):
    """(p99 under attack / quiet p99, errors, attacks made): the best of three tries, since other work of the
    machine shows in a p99. `attack(client)` sends one bomb, again and again."""
    best = None
    for _ in range(3):
        with GoodClient(own) as quiet:
            time.sleep(seconds)
        count, until = 0, time.monotonic() + seconds
        with GoodClient(own) as good, Client(own) as client:
            while time.monotonic() < until:
                attack(client)
                count += 1
        found = (good.p99() / quiet.p99(), good.errors + quiet.errors, count)
        best = min(best, found) if best else found
        if best[0] <= 2 and best[1] == 0:
            break
    return best


def _attack(own, attack, wanted, busy, ending):
    with Client(own) as client:
        while not ending.is_set():
            if wanted.wait(0.1):
                busy.set()
                attack(client)
            else:
                busy.clear()


class Beside:
    """A good client alone and beside an attacker, in turns of some seconds, so that other work of the machine meets both alike. It asks
    forty times a second. `attack(client)` is called again and again meanwhile, in a process of its own: threads of one Python would wait for each other.

    `ratio`: p99 beside the attacker / p99 in the turn before, the median of the rounds. `alone`, `beside`: seconds, over all rounds."""

    EVERY = 0.025

    def __init__(self, own, attack, rounds=5, seconds=2.0):
        context = multiprocessing.get_context('fork')
        self.wanted, self.busy, self.ending = context.Event(), context.Event(), context.Event()
        self.errors, ratios, alone, beside = 0, [], [], []
        attacker = context.Process(target=_attack, args=(own, attack, self.wanted, self.busy, self.ending))
        attacker.start()
        try:
            with Client(own) as client:
                self._turn(client, seconds)  # the daemon learns what is usual
                for _ in range(rounds):
                    quiet = self._turn(client, seconds)
                    self.wanted.set()
                    self.busy.wait(10)
                    loud = self._turn(client, seconds)
                    self.wanted.clear()
                    while self.busy.is_set():
                        time.sleep(0.01)
                    ratios.append(p99(loud) / p99(quiet))
                    alone += quiet
                    beside += loud
        finally:
            self.ending.set()
            self.wanted.clear()
            attacker.join()
        self.ratio, self.alone, self.beside = statistics.median(ratios), p99(alone), p99(beside)

    def _turn(self, client, seconds):
        times, until = [], time.monotonic() + seconds
        while time.monotonic() < until:
            begin = time.monotonic()
            self.errors += status_of(client.ask(GoodClient.BODY, '/blur?sigma=2')) != 200
            times.append(time.monotonic() - begin)
            time.sleep(max(0, self.EVERY - times[-1]))
        return times


# --- the corpus --------------------------------------------------------------------------------
def manifest(folder='', expected=None):
    """Rows of the corpus' list with the file's bytes under 'data'; none without a corpus."""
    place = CORPUS / 'MANIFEST.tsv'
    if not place.exists():
        return []
    with place.open(encoding='utf-8') as file:
        rows = [r for r in csv.DictReader(file, delimiter='\t', quoting=csv.QUOTE_NONE)
                if r['path'].startswith(folder) and (not expected or r['expected'] == expected)]
    return [dict(r, data=(CORPUS / r['path']).read_bytes()) for r in rows]


def small_corpus(maximum, count):
    """Files of both formats, good and bad, as far as they are small; own pictures without a corpus."""
    found = [r['data'] for r in manifest() if 0 < len(r['data']) <= maximum]
    found = found[::max(1, len(found) // count)] if found else []
    return found or [pictures.small_jpeg(), pictures.small_png(), pictures.jpeg(pictures.photograph(90, 70), progressive=True),
                     pictures.png(pictures.photograph(40, 30, 4), interlaced=True)]


def write_json(path, results):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + '\n')
