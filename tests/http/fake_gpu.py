# SPDX-License-Identifier: MIT
"""A daemon whose CUDA driver is tests/fake_cuda: it runs the kernels, and fails on demand."""

import os
import pathlib
import re
import signal
import threading

import pytest

import daemon
import pictures

LIBRARY = pathlib.Path(os.environ.get('FAKE_CUDA') or pathlib.Path(daemon.BINARY).parent / 'tests/fake_cuda/libfakecuda.so')
needed = pytest.mark.skipif(not LIBRARY.exists(), reason=f'no {LIBRARY}: built without CUDA headers, or make tests')
STATES = {'starting': 0, 'serving': 1, 'down': 2}


def options(*more):
    """Without the search for faces unless it is asked for: the kernels on the host make each self-test a second longer."""
    library = () if '--cuda-library' in more else ('--cuda-library', LIBRARY)
    model = () if '--face-model' in more else ('--face-model', 'none')
    return (*library, *model, *more)


def settings(**values):
    """settings(FAULT='cuInit:1:999', DEVICES=2): the fake's variables, see tests/fake_cuda/driver.c."""
    kept = {k: v for k, v in daemon.clean_environment().items() if not k.startswith('FAKE_CUDA')}
    return {**kept, **{f'FAKE_CUDA_{name}': str(value) for name, value in values.items()}}


def launch(start, *more, serving=True, **values):
    """A daemon with the fake driver; returns when its GPU serves. An engine in its sandbox sees no file of a fault."""
    if 'FAULT_FILE' in values and '--sandbox' not in more:
        more = (*more, '--sandbox', 'off')
    own = start(*options(*more), environment=settings(**values))
    if serving:
        await_state(own, 'serving')
    return own


# --- its state ----------------------------------------------------------------------------
def backend(own):
    """The GPU's entry in /readyz: name, state, reason."""
    return own.get('/readyz').json()['backends'][0]


def await_state(own, state, timeout=20):
    assert daemon.eventually(lambda: backend(own)['state'] == state, timeout), \
        f'{backend(own)}\n' + '\n'.join(own.lines[-30:])
    return backend(own)['reason']


def gpu_lines(own):
    """The lines of the log about the GPU."""
    return [line for line in own.lines if re.search(r'(warning|error) (gpu|engine) ', line)]


# --- pictures ------------------------------------------------------------------------------
SMALL = pictures.png(pictures.photograph(33, 21))
MEDIUM = pictures.png(pictures.photograph(300, 200, 1))
LARGE = pictures.png(pictures.photograph(1200, 1000, 1))  # more than the buffers that SMALL leaves
HUGE = pictures.png(pictures.photograph(2100, 1500, 1))  # two of these are 6 MiB


def post(own, target, body, **more):
    """(X-Backend, the bytes)"""
    answer = own.post(target, body, **more)
    assert answer.status_code == 200, f'{answer.status_code} {answer.text}\n' + '\n'.join(own.lines[-30:])
    return answer.headers['X-Backend'], answer.content


def ask(own, body=SMALL, query='sigma=2'):
    """(X-Backend, the bytes)"""
    return post(own, '/blur?' + query, body)


class Reference:
    """The bytes that the CPU makes, each asked for once."""

    def __init__(self):
        self.own = None
        self.known = {}

    def __call__(self, body=SMALL, query='sigma=2'):
        self.own = self.own or daemon.Daemon('--gpus', 'none')
        if (body, query) not in self.known:
            self.known[body, query] = ask(self.own, body, query)[1]
        return self.known[body, query]

    def stop(self):
        if self.own:
            self.own.stop()


class Load:
    """Threads that send requests without a pause and check the answers: ask() -> (X-Backend, the bytes), and
    the bytes must equal wanted(X-Backend)."""

    def __init__(self, count, ask, wanted):
        self.ask, self.wanted = ask, wanted
        self.over = threading.Event()
        self.names, self.failures = [], []
        self.threads = [threading.Thread(target=self._run) for _ in range(count)]

    def _run(self):
        while not self.over.is_set():
            try:
                name, result = self.ask()
                assert result == self.wanted(name), f'wrong pixels from {name}'
                self.names.append(name)
            except BaseException as failure:
                self.failures.append(failure)
                return

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()
        assert not self.failures, self.failures[0]


# --- processes -----------------------------------------------------------------------------
def process(pid):
    """(parent, state, command line) of a process, or None."""
    try:
        text = pathlib.Path(f'/proc/{pid}/stat').read_text()
        command = pathlib.Path(f'/proc/{pid}/cmdline').read_bytes().split(b'\0')
    except OSError:
        return None
    state, parent = text[text.rindex(')') + 2:].split()[:2]
    return int(parent), state, command


def children(own):
    """pid -> state of the engine processes, zombies included. A spawner starts them, which a keeper starts, the
    daemon's child."""
    found = {int(name): process(name) for name in os.listdir('/proc') if name.isdigit()}

    def below(parents):
        return {pid: entry[1] for pid, entry in found.items() if entry and entry[0] in parents}

    spawners = {pid for pid in below(below({own.process.pid})) if name_of(pid) == 'blurd-spawner'}
    return below(spawners)


def name_of(pid):
    try:
        return pathlib.Path(f'/proc/{pid}/comm').read_text().strip()
    except OSError:
        return None


def engine(own):
    """The engine's pid."""
    return daemon.eventually(lambda: next(iter(children(own)), None))


def is_gone(own, pid):
    return daemon.eventually(lambda: pid not in children(own))


def served_by_the_next(own, pid):
    """The GPU serves again, by an engine that is not `pid`."""
    assert is_gone(own, pid), 'the engine goes on'
    await_state(own, 'serving')
    return engine(own)


def kill_three(own):
    """Ends three engines, one after the other: then there is a pause."""
    for _ in range(3):
        await_state(own, 'serving')
        pid = engine(own)
        os.kill(pid, signal.SIGKILL)
        assert is_gone(own, pid)
    await_state(own, 'down')


def is_alive(pid):
    entry = process(pid)
    return bool(entry) and entry[1] != 'Z'


def threads(pid):
    return len(os.listdir(f'/proc/{pid}/task'))
