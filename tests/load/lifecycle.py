# SPDX-License-Identifier: MIT
"""O3, O4, O9, O11: reloads under load, processes that are killed, disks that are full, logs that are flooded."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import daemon
import fake_gpu
import lab
import pictures
import proxies
import test_reload
import wire
from failing import slots
from soak import Load, answers
from torture import ask, kinds

RELOADS = 1000


def some():
    messages = kinds()
    return {name: messages[name] for name in ('JPEG region', 'PNG', 'multipart', 'stats', 'bad parameter', 'cut JPEG', 'cut PNG', 'PDF', 'nowhere')}


def reloads():
    messages = some()
    wanted = answers(messages)
    with tempfile.TemporaryDirectory(prefix='blurd-reload-') as folder:
        files = test_reload.Files(pathlib.Path(folder))
        files.write(tokens=())
        outcome = {True: 0, False: 0}
        with lab.start('--config', files.config, '--workers', 2) as own:
            with Load(own, messages, wanted, clients=2) as load:
                for i in range(RELOADS):
                    bad = i % 10 == 9
                    files.config.write_text('nonsense', encoding='ascii') if bad else files.write(tokens=(), max_body=f'{i % 7 + 1}MiB')
                    outcome[test_reload.reload(own) != bad] += 1
                    if i == RELOADS // 5:
                        before = own.status('VmRSS')
            lab.daemon.eventually(lambda: own.metrics()['blurd_connections_open'] == 1)
            grown, left = own.status('VmRSS') - before, slots(own)[0]
    for line in load.wrong[:9]:
        print(f'     {line}')
    measured = (f'{RELOADS} reloads, {RELOADS // 10} of them bad, {outcome[False]} not as they should; {len(load.wrong)} of {sum(load.asked.values())} '
                f'answers unexpected; memory {grown:+d} KiB over the last {RELOADS * 4 // 5}, {left} descriptors')
    return measured, not load.wrong and not outcome[False] and grown < 1024


# --- kills -----------------------------------------------------------------------------------------
def kills(rounds=20):
    library = lab.BUILD['release'].parent / lab.FAKE_CUDA
    if not library.exists():
        return 'not run', 'built without CUDA headers'
    message, shared = kinds()['PNG'], set(os.listdir('/dev/shm'))
    wanted = answers({'PNG': message})['PNG']
    orphans = failed = 0
    cpu, gpu = [], []
    for i in range(rounds):
        begin = time.monotonic()
        own = lab.start('--gpus', 'all', '--cuda-library', library, environment=fake_gpu.settings())
        try:
            failed += ask(own, message)[:2] != wanted[:2]
            cpu.append(time.monotonic() - begin)
            fake_gpu.await_state(own, 'serving')
            for _ in range(2):  # a third end would make a pause
                pid, begin = fake_gpu.engine(own), time.monotonic()
                os.kill(pid, signal.SIGKILL)
                failed += ask(own, message)[:2] != wanted[:2]
                assert lab.daemon.eventually(lambda: pid not in fake_gpu.children(own))
                fake_gpu.await_state(own, 'serving')
                gpu.append(time.monotonic() - begin)
            pid = fake_gpu.engine(own)
        finally:
            own.process.kill() if i % 2 else own.signal(signal.SIGSEGV)
            own.process.wait()
        orphans += not lab.daemon.eventually(lambda: not fake_gpu.is_alive(pid), 1)
    left = set(os.listdir('/dev/shm')) - shared
    measured = (f'{rounds} fronts and {2 * rounds} engines killed: {orphans} orphans, {len(left)} files in /dev/shm, {failed} failed requests; a new front '
                f'serves within {max(cpu) * 1000:.0f} ms, a new GPU within {max(gpu) * 1000:.0f} ms')
    return measured, not orphans and not left and not failed and max(cpu) <= 1 and max(gpu) <= 3


# --- disks and logs ----------------------------------------------------------------------------------
def disks():
    """A module cache that cannot be used, which matters when kernels have to be compiled, and a log on a full disk."""
    messages = some()
    wanted = answers(messages)
    library = lab.BUILD['release'].parent / lab.FAKE_CUDA
    wrong, asked, warnings = [], 0, []
    with tempfile.NamedTemporaryFile() as file:
        for folder in (file.name, '/nonexistent/cache', '/proc/cache', '/'):
            gpu = ('--gpus', 'all', '--cuda-library', library, '--module-cache', folder) if library.exists() else ('--module-cache', folder)
            with lab.start(*gpu, environment=fake_gpu.settings()) as own:
                got = {name: ask(own, message) for name, message in messages.items()}
                asked += len(got)
                wrong += [f'{folder}: {name}' for name in got if got[name][:2] != wanted[name][:2]]
            warnings.append(sum('cache' in line and 'warning' in line for line in own.lines))
    program = 'import os, sys; log = os.open("/dev/full", os.O_WRONLY); os.dup2(log, 2); os.execv(sys.argv[1], sys.argv[1:])'
    port = proxies.free_port()
    command = [daemon.BINARY, '--listen', '127.0.0.1', '--port', str(port), '--gpus', 'none']
    process = subprocess.Popen([sys.executable, '-c', program, *command])
    silent = type('Silent', (), {'connect': staticmethod(lambda patience: wire.Wire(port, patience))})
    lab.daemon.eventually(lambda: ask(silent, messages['PNG'])[0] == 200)
    for _ in range(20):
        for name, message in messages.items():
            asked += 1
            wrong += [f'full log: {name}'] * (ask(silent, message)[:2] != wanted[name][:2])
    process.terminate()
    code = process.wait(20)
    for line in wrong[:9]:
        print(f'     {line}')
    measured = f'{asked} requests: {len(wrong)} failed; {max(warnings)} warnings a start at most; with a log on a full disk exit status {code}'
    return measured, not wrong and max(warnings) <= 1 and code == 0


LINE = re.compile(r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (error|warning|info|debug) \w+( \w+=("([^"\\\x00-\x1f\x7f]|\\.)*"|[^\s"]*))*$')


def flood(count=2000):
    """Everything that a client can put into a line, and messages that make the library complain."""
    evil = ['a\tb', '\x1b[2J', 'x\x7fy', 'id="1" status=200', '\\', '"', '\x01\x02', 'é\xff', 'k=v', '%0a%0d', 'A' * 3000]
    with lab.start() as own:
        for i in range(count):
            text = evil[i % len(evil)]
            target = '/blur?sigma=' + text if i % 3 == 0 else '/' + text
            with own.connect(5) as connection:
                connection.send(wire.message('POST', target, pictures.small_png()[:50], [f'X-Request-Id: {text}', f'Accept: {text}', f'Content-Type: {text}']))
                try:
                    connection.answer()
                except (TimeoutError, AssertionError):
                    pass
        lab.daemon.eventually(lambda: own.metrics()['blurd_requests_in_flight'] == 1)
        lines = [line for line in own.lines if 'TZ' not in line]
    foreign = [line for line in lines if not LINE.match(line)]
    library = sum(' microhttpd ' in line for line in lines)
    longest = max(map(len, lines))
    for line in foreign[:5]:
        print(f'     {line[:200]!r}')
    measured = f'{count} requests: {len(lines)} lines, {len(foreign)} of another form, {library} of the library, the longest {longest} bytes'
    return measured, not foreign and len(lines) <= count + 100 and library <= 100 and longest <= 4096


def rows():
    return [
        lab.Row('O3', f'{RELOADS} reloads under load, a tenth of them bad', '0 failed requests, a bad one changes nothing, 0 leaks', reloads),
        lab.Row('O4', 'SIGKILL and SIGSEGV of the front, SIGKILL of the engine', '0 orphans, nothing left; serves within 1 s (CPU), 3 s (GPU)', kills),
        lab.Row('O9', 'a log on a full disk, a module cache that is no folder of ours', '0 failed requests, one warning at most', disks),
        lab.Row('O11', 'control characters and floods for the log', 'a line each of the log\'s own form, bounded; the library 1 line a second', flood),
    ]
