# SPDX-License-Identifier: MIT
"""The subjects of the measurements: blurd, sharp and thumbor over HTTP with wrk, and programs and libraries that do
the same work in separate processes. Everything measure()s a cell and gives a dict: cpu_ms per picture (of all
threads and processes), bytes of an answer, and over HTTP also rps, p50_ms, p99_ms."""

import contextlib
import http.client
import json
import math
import os
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
RELEASE = ROOT / 'build' / 'release'
PYTHON = sys.executable
THUMBOR = ROOT / 'build' / 'bench' / 'thumbor'
NODE_MODULES = ROOT / 'build' / 'bench' / 'sharp' / 'node_modules'
CORES = sorted(os.sched_getaffinity(0))


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def cpu_seconds(pid):
    """CPU time of a whole process, by the nanosecond, threads that ended included: the clock that
    clock_getcpuclockid(3) gives for the pid."""
    return time.clock_gettime((~pid << 3) | 2)


def children(pid):
    """The process and all that came from it."""
    listing = ' '.join(path.read_text() for path in pathlib.Path(f'/proc/{pid}/task').glob('*/children'))
    return [pid, *(each for child in listing.split() for each in children(int(child)))]


def least_seconds(alone, pictures, connections):
    """How long a load has to run for three requests on each connection at least, if all pictures one after the other took `alone`."""
    return math.ceil(3 * connections * alone / len(pictures) / len(CORES)) + 1


class Server:
    """A daemon on a port of its own, and wrk against it. Ended by its own pid."""

    alive = '/livez'

    def __init__(self, name, command, environment=None, cores=None):
        self.name = name
        self.port = free_port()
        kept = {key: value for key, value in os.environ.items() if not key.startswith('BLURD_')}
        self.process = subprocess.Popen(
            [part.replace('PORT', str(self.port)) for part in command], cwd=ROOT, stdin=subprocess.DEVNULL,
            env={**kept, 'PORT': str(self.port), **(environment or {})},
            preexec_fn=(lambda: os.sched_setaffinity(0, cores)) if cores else None)
        try:
            self.about = self._wait()
        except RuntimeError:
            self.stop()
            raise

    def _wait(self):
        until = time.monotonic() + 20
        while time.monotonic() < until and self.process.poll() is None:
            try:
                return self.request('GET', self.alive).decode().strip()
            except OSError:
                time.sleep(0.02)
        raise RuntimeError(f'{self.name} does not start')

    def request(self, method, target, body=None):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=120)
        try:
            connection.request(method, target, body)
            answer = connection.getresponse()
            content = answer.read()
            if answer.status != 200:
                raise RuntimeError(f'{self.name} answers {method} {target} with {answer.status}: {content[:300]}')
            return content
        finally:
            connection.close()

    def blur(self, picture, query):
        return self.request('POST', '/blur?' + query, picture.read_bytes())

    def cpu(self):
        """The metrics once the daemon is idle, because wrk leaves requests in progress."""
        pids = children(self.process.pid)
        before, now = None, sum(map(cpu_seconds, pids))
        until = time.monotonic() + 20
        while (before is None or now - before > 0.0005) and time.monotonic() < until:
            time.sleep(0.05)
            before, now = now, sum(map(cpu_seconds, pids))
        return now

    def finished(self, answered, connections, before):
        """How many pictures were worked on: wrk leaves one on each connection, which is done to the end."""
        return answered + connections

    def counter(self):
        """The value that finished() takes as `before`."""
        return 0

    def load(self, target, pictures, seconds, connections, script='bench/rotate.lua'):
        before, begin = self.counter(), self.cpu()
        threads = min(connections, len(CORES))
        done = subprocess.run(
            ['wrk', f'-t{threads}', f'-c{connections}', f'-d{seconds}s', '--timeout', '60s', '-s', script,
             f'http://127.0.0.1:{self.port}{target}', '--', *map(str, pictures)],
            cwd=ROOT, capture_output=True, text=True, check=True)
        result = json.loads(done.stdout.splitlines()[-1])
        if result['failed'] or not result['requests']:
            raise RuntimeError(f'{self.name}, {target}: {result}')
        spent = self.cpu() - begin
        count = self.finished(result['requests'], connections, before) if pictures else result['requests']
        return {'cpu_ms': spent * 1e3 / count, 'rps': result['requests'] / result['seconds'],
                'p50_ms': result['p50_ms'], 'p99_ms': result['p99_ms']}

    def measure(self, pictures, sigma, seconds, connections=None, options=''):
        query = f'sigma={sigma}{options}'
        begin = time.monotonic()
        sizes = [len(self.blur(picture, query)) for picture in pictures]  # also warms up
        connections = connections or 2 * len(CORES)
        least = 2 * connections * (time.monotonic() - begin) / len(pictures)
        result = self.load('/blur?' + query, pictures, math.ceil(max(seconds, least)), connections)
        return {**result, 'bytes': statistics.mean(sizes)}

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Blurd(Server):
    def __init__(self, cores=None, options=(), program=RELEASE / 'blurd'):
        options = [*(['--workers', str(len(cores))] if cores else []), *options]
        super().__init__('blurd', [str(program), '--listen', '127.0.0.1', '--port', 'PORT', '--gpus', 'none',
                                   '--log-level', 'warning', *options], cores=cores)
        self.about = 'over HTTP, with its defaults but for the log'

    def counter(self):
        """Number of pictures encoded. Requests still in the queue when the client leaves are dropped."""
        page = self.request('GET', '/metrics').decode()
        found = re.search(r'^blurd_stage_seconds_count\{stage="encode"\} (\d+)', page, re.M)
        return int(found[1]) if found else 0

    def finished(self, answered, connections, before):
        return max(answered, self.counter() - before)


class Sharp(Server):
    def __init__(self, cores=None, cluster=False):
        environment = {'NODE_PATH': str(NODE_MODULES)}
        if cores:
            environment['UV_THREADPOOL_SIZE'] = str(max(4, len(cores)))
        if cores and cluster:
            environment.update(PROCS=str(len(cores)), CONC='1', UV_THREADPOOL_SIZE='1')
        super().__init__('sharp', ['node', 'bench/peers/sharp.js'], environment, cores)


class Thumbor(Server):
    """thumbor with its file loader: a process for each core, nothing stored. Pictures are files below /."""

    alive = '/healthcheck'

    def __init__(self):
        environment = {'PYTHONPATH': str(THUMBOR), 'PYTHONDONTWRITEBYTECODE': '1'}
        super().__init__('thumbor', [PYTHON, '-m', 'thumbor.server', '--ip', '127.0.0.1', '--port', 'PORT', '--processes', str(len(CORES)), '--conf', 'bench/peers/thumbor.conf',
                                     '--log-level', 'error'], environment)
        known = {path.name.split('-')[0]: path.name.split('-')[1].removesuffix('.dist') for path in THUMBOR.glob('*.dist-info')}
        self.about = f'thumbor {known["thumbor"]}, Pillow {known["pillow"]}, Tornado {known["tornado"]}'

    def stop(self):
        """Its first process does not end the others."""
        others = children(self.process.pid)[1:]
        super().stop()
        for pid in others:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)  # a process that still starts does not heed SIGTERM, and none has anything to lose

    def get(self, target, pictures, seconds, connections):
        targets = [target + str(picture).lstrip('/') for picture in pictures]
        begin = time.monotonic()
        sizes = [len(self.request('GET', each)) for each in targets]
        least = least_seconds(time.monotonic() - begin, pictures, connections)
        return {**self.load('', targets, max(seconds, least), connections, 'bench/peers/get.lua'), 'bytes': statistics.mean(sizes)}


class Library:
    """bench/peers/NAME.py, a process that takes jobs."""

    def __init__(self, name):
        self.name = name
        environment = {**os.environ, 'PYTHONPATH': str(ROOT / 'build' / 'bench' / 'python'),
                       'PYTHONDONTWRITEBYTECODE': '1', 'OMP_NUM_THREADS': '1', 'VIPS_CONCURRENCY': '1'}
        self.process = subprocess.Popen([PYTHON, str(ROOT / 'bench' / 'peers' / f'{name}.py')], text=True, cwd=ROOT,
                                        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        first = self.process.stdout.readline()
        if not first:
            raise RuntimeError(f'{name} does not start')
        self.about = json.loads(first)['about']

    def job(self, picture, sigma, seconds, form=None, keep=None, width=None, region=None):
        order = {'picture': str(picture), 'sigma': sigma, 'seconds': seconds, 'keep': keep and str(keep), 'width': width, 'region': region,
                 'format': form or ('png' if picture.suffix == '.png' else 'jpeg')}
        self.process.stdin.write(json.dumps(order) + '\n')
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f'{self.name} has ended')
        return json.loads(answer)

    def measure(self, pictures, sigma, seconds):
        done = [self.job(picture, sigma, seconds / len(pictures)) for picture in pictures]
        return {'cpu_ms': statistics.mean(statistics.median(each['ms']) for each in done),
                'bytes': statistics.mean(each['bytes'] for each in done)}

    def stop(self):
        self.process.stdin.close()
        self.process.wait(60)


class Pipeline:
    """blurd's own code without HTTP: build/release/bench/pipeline, one thread."""

    name = 'pipeline'
    about = 'decode, filter and encode of blurd without HTTP, one thread'

    def measure(self, pictures, sigma, seconds):
        done = subprocess.run(
            [RELEASE / 'bench' / 'pipeline', '--seconds', str(seconds / len(pictures)), str(sigma), *map(str, pictures)],
            capture_output=True, text=True, check=True)
        rows = [[float(cell) for cell in line.split('\t')[1:]] for line in done.stdout.splitlines()]
        columns = ['cpu_ms', 'decode_ms', 'filter_ms', 'encode_ms', 'bytes']
        return {name: statistics.mean(row[i] for row in rows) for i, name in enumerate(columns)}

    def stop(self):
        pass

