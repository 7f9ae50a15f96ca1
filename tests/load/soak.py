# SPDX-License-Identifier: MIT
"""L7 and L8: an hour in a minute, and clocks that jump."""

import collections
import os
import pathlib
import signal
import statistics
import tempfile
import threading
import time

import fake_gpu
import lab
import wire
from failing import slots
from torture import ask, kinds, same

OWN = ('/', '/metrics', '/readyz')  # parts of answers that differ between daemons
BAD = ('bad parameter', 'cut JPEG', 'cut PNG', 'PDF', 'nowhere')


class Load:
    """Clients that ask for one thing after the other, a fifth of it bad, and check the answers; some
    disconnect."""

    def __init__(self, own, messages, wanted, clients=4, leave=20):
        self.own, self.messages, self.wanted, self.leave = own, messages, wanted, leave
        self.over, self.asked, self.left, self.wrong = threading.Event(), collections.Counter(), 0, []
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(clients)]

    def run(self, number):
        good = [name for name in self.messages if name not in BAD]
        for i in range(number, 10 ** 9):
            if self.over.is_set():
                return
            name = BAD[i // 5 % len(BAD)] if i % 5 == 0 else good[i % len(good)]
            if i % self.leave == 1:
                self.left += 1
                with self.own.connect() as connection:
                    connection.send(self.messages[name][:len(self.messages[name]) * (i % 7) // 6])
                continue
            got = ask(self.own, self.messages[name])
            self.asked[got[0]] += 1
            if not same(name, got, self.wanted[name]):
                self.wrong.append(f'{name}: {got[0]} instead of {self.wanted[name][0]}')

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()


def answers(messages):
    with lab.start() as own:
        return {name: ask(own, message) for name, message in messages.items()}


def soak():
    """Reloads each 5 s, the engine is killed twice, half a minute apart at least: a third end in 5 minutes makes a pause."""
    messages, seconds = kinds(), lab.Options.soak_seconds
    for name in OWN:
        del messages[name]
    wanted = answers(messages)
    library = lab.BUILD['release'].parent / lab.FAKE_CUDA
    gpu = ('--gpus', 'all', '--cuda-library', library) if library.exists() else ()
    with tempfile.NamedTemporaryFile('w', suffix='.conf') as file:
        file.write('max_body = 21MiB\n')
        file.flush()
        with lab.start('--config', file.name, '--workers', 2, *gpu, environment=fake_gpu.settings()) as own:
            if gpu:
                fake_gpu.await_state(own, 'serving')
            memory, kills, begin = [], 0, time.monotonic()
            with Load(own, messages, wanted) as load:
                while time.monotonic() < begin + seconds:
                    time.sleep(1)
                    passed = time.monotonic() - begin
                    memory.append(own.status('VmRSS'))
                    if len(memory) % 5 == 0:
                        own.signal(signal.SIGHUP)
                    if gpu and passed > seconds * (kills + 1) / 3 and kills < 2 + seconds // 300:
                        os.kill(fake_gpu.engine(own), signal.SIGKILL)
                        kills += 1
                    if len(memory) == max(5, seconds // 4):
                        before = slots(own)[0], own.status('Threads')
            lab.daemon.eventually(lambda: own.metrics()['blurd_connections_open'] == 1)
            after = slots(own, 20)[0], own.status('Threads')
            reloads, runs = own.metrics()['blurd_reloads_total'], sum(v for k, v in own.metrics().items() if 'backend="cuda' in k)
    quarter = max(1, len(memory) // 4)
    growth = statistics.median(memory[-quarter:]) - statistics.median(memory[quarter:2 * quarter])
    for line in load.wrong[:9]:
        print(f'     {line}')
    measured = (f'{seconds} s: {sum(load.asked.values())} answers ({runs:.0f} runs by the GPU), {load.left} left, {reloads:.0f} reloads, {kills} engines '
                f'killed; {len(load.wrong)} unexpected; memory {growth:+.0f} KiB from the second quarter to the last, descriptors {after[0]} at rest '
                f'({before[0]} under load), threads {before[1]} -> {after[1]}')
    return measured, not load.wrong and growth <= 1024 and after[0] <= before[0] and after[1] == before[1]


# --- clocks --------------------------------------------------------------------------------------
def clocks(seconds=12):
    """The clock on the wall jumps by a day and back while requests are served and deadlines run."""
    library = next(iter(pathlib.Path('/usr/lib').glob('*/faketime/libfaketimeMT.so.1')), None)
    if not library:
        return 'not run', 'faketime is not installed'
    messages = {name: message for name, message in kinds().items() if name not in OWN}
    wanted = answers(messages)
    with tempfile.NamedTemporaryFile('w') as file:
        environment = lab.daemon.clean_environment(LD_PRELOAD=str(library), FAKETIME_TIMESTAMP_FILE=file.name, FAKETIME_NO_CACHE='1',
                                                   FAKETIME_DONT_FAKE_MONOTONIC='1')

        def jump(days):
            file.seek(0)
            file.truncate()
            file.write(f'{days:+d}d\n')
            file.flush()

        jump(0)
        waits, days = [], set()
        with lab.start('--header-timeout', '1s', '--workers', 2, '--sandbox', 'off', environment=environment) as own:  # the clock is a file
            begin = time.monotonic()
            with Load(own, messages, wanted, clients=2) as load:
                for i in range(10 ** 6):
                    if time.monotonic() > begin + seconds:
                        break
                    jump((1, -1, 0)[i % 3])
                    with own.connect() as connection:
                        start = time.monotonic()
                        connection.send(b'GET /livez HTTP/1.1\r\n')
                        time.sleep(0.3)
                        jump((-1, 1, 0)[i % 3])
                        connection.answer()
                        waits.append(time.monotonic() - start)
            days = {line[:10] for line in own.lines if ' request ' in line}
    early, late = sum(w < 0.9 for w in waits), sum(w > 2 for w in waits)
    for line in load.wrong[:9]:
        print(f'     {line}')
    measured = (f'{2 * len(waits)} jumps, log of {len(days)} days: {len(load.wrong)} of {sum(load.asked.values())} answers unexpected; deadlines of 1 s: '
                f'{early} early, {late} late of {len(waits)}')
    return measured, not load.wrong and not early and not late and len(days) >= 3


def rows():
    return [
        lab.Row('L7', 'a soak: a fifth of bad input, disconnects, reloads, engines killed',
                '0 unexpected answers; memory +1 MiB at most, descriptors and threads as before', soak),
        lab.Row('L8', 'a clock that jumps by a day', '0 answers unexpected, deadlines neither early nor late, the log goes on', clocks),
    ]
