# SPDX-License-Identifier: MIT
"""C1 to C4, P6: expensive requests of a few bytes, predictions learnt from small pictures, deadlines, many
clients, and the GPU's process."""

import concurrent.futures
import os
import re
import subprocess
import time

import numpy

import foreign
import lab
import pictures
import test_cost
import test_deadlines
from lab import row

MILLISECONDS = 1000
WRITTEN = {  # an encoder may choose less effort, and so be done in time
    'AVIF': ('jpeg', '/blur?sigma=0.5&format=avif&effort=9&quality=100'), 'WebP': ('jpeg', '/blur?sigma=0.5&format=webp&effort=9&lossless=true')}
ICONS, LARGE = 300, 4
CLIENTS, REQUESTS = 512, 2048
NICE_LARGE, COUNTS = 5, 0.4  # TUNED_NICE_LARGE of core/tuned.h, seconds


@row('C1', 'pictures of some hundred bytes that ask for seconds of work', 'at most so many times the blur of a JPEG of 1000x1000 pixels as tests/http/test_cost.py states')
def few_bytes():
    with lab.start('--workers', '1', '--work-timeout', '1m') as own:
        common = test_cost.processor_ms(own, '/blur?sigma=5', test_cost.COMMON)
        took = {kind: (test_cost.processor_ms(own, target, test_cost.flat_png(*shape)), times)
                for kind, (shape, target, times) in test_cost.NASTY.items()}
    figures = ', '.join(f'{kind} {ms:.0f} ms = {ms / common:.1f}x of {times}x' for kind, (ms, times) in took.items())
    return f'the common blur {common:.1f} ms; {figures}', all(ms < times * common for ms, times in took.values())


@row('C2', 'hundreds of icons before pictures of 20 megapixels', 'an idle daemon refuses none')
def icons():
    icon = pictures.png(numpy.zeros((16, 16, 3), numpy.uint8))
    large = pictures.png(numpy.zeros((4000, 5000, 3), numpy.uint8))
    with lab.start('--workers', '1') as own:
        small = lab.ask_all(own, [icon] * ICONS, '/blur', clients=1)
        big = lab.ask_all(own, [large] * LARGE, '/blur', clients=LARGE)
    return f'icons of {len(icon)} bytes: {lab.counted(small)}; then pictures: {lab.counted(big)}', set(small) == set(big) == {200}


@row('C3', 'work that outlasts its limit, of each kind', 'refused within half a second of the limit')
def deadlines():
    limit, waits, statuses = test_deadlines.LIMIT / 2, {}, []  # one processor needs 0.28 s for one of them
    bodies = test_deadlines.bodies.__wrapped__()
    options = ('--work-timeout', f'{limit * MILLISECONDS:.0f}ms', '--workers', '1', '--max-pixels', '20000000')
    with lab.start(*options) as own:
        for kind, (body, target) in test_deadlines.KINDS.items():
            cost = lab.Cost(own, bodies[body], target)
            waits[kind] = cost.wait - limit
            statuses += cost.statuses
        written = {kind: lab.Cost(own, bodies[body], target) for kind, (body, target) in WRITTEN.items()}
    waits.update({f'{kind}, {cost.statuses[0]}': cost.wait - limit for kind, cost in written.items()})
    name = max(waits, key=waits.get)
    return (f'{len(waits)} kinds: {lab.counted(statuses)}; the slowest {waits[name] * MILLISECONDS:.0f} ms after the limit of '
            f'{limit * MILLISECONDS:.0f} ms ({name})', set(statuses) <= {422, 503} and all(cost.statuses[0] in (200, 422, 503) for cost in written.values()) and waits[name] <= 0.5)


@row('C4', f'{CLIENTS} connections that ask at once, with default limits', 'none refused while the wait is below a second; a simulated GPU keeps its rate')
def crowd():
    body = pictures.jpeg(pictures.photograph(64, 48))
    with lab.start() as own, concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        def client(_):
            with lab.Client(own) as one:
                return [lab.status_of(one.ask(body)) for _ in range(REQUESTS // CLIENTS)]

        statuses = sum(pool.map(client, range(CLIENTS)), [])
    simulated = subprocess.run(['build/release/tests/unit/test_admission_load'], cwd=lab.ROOT, capture_output=True, text=True, check=False)
    passed = re.search(r'PASSED\s+\] (\d+) test', simulated.stdout + simulated.stderr)
    return (f'{lab.counted(statuses)}; simulations of hosts with GPUs: {passed.group(1) if passed else "none"} passed',
            set(statuses) == {200} and simulated.returncode == 0)


OPERATIONS = {'blur': '/blur?sigma=5', 'medians': '/pipeline?ops=' + '|'.join(['median:radius=25'] * 8), 'linear': '/sharpen?colorspace=linear'}


def largest(own, kind, operation):
    """The file, its side, and the target of the largest flat picture of that format that the daemon admits; a refusal says how much it needs."""
    target = OPERATIONS[operation] + ('&' if '?' in OPERATIONS[operation] else '?') + ('format=png' if kind == 'heic' else f'format={kind}')
    side = 7000
    while True:
        samples = numpy.full((side, side, 3), 77, numpy.uint8)
        body = pictures.jpeg(samples, 50, '444') if kind == 'jpeg' else foreign.write(kind, samples)
        with lab.Client(own) as client:
            answer = client.ask(body, target)
        needed = re.search(rb'needs (\d+) MiB of memory, more than the (\d+) MiB', answer.body)
        if not needed:
            return body, side, target
        side = int(side * (int(needed.group(2)) / int(needed.group(1))) ** 0.5 * 0.999) // 16 * 16


def only_counts(_):
    """What the host's scheduler costs the good client: another program that computes all the time at the priority of large pictures."""
    os.setpriority(os.PRIO_PROCESS, 0, NICE_LARGE)
    until = time.monotonic() + COUNTS
    while time.monotonic() < until:
        pass


def compared(name, found):
    figure = f'{name} {found.ratio:.2f}x ({found.alone * MILLISECONDS:.0f} and {found.beside * MILLISECONDS:.0f} ms), {found.errors} refused'
    print(f'     {figure}', flush=True)
    return figure


def beside(own, name, body, target):
    """The figure of a picture that is sent again and again beside the good client, and whether it is within C5's aim."""
    found = lab.Beside(own, lambda client: client.ask(body, target))
    return compared(name, found), found.errors == 0 and found.ratio <= 1.5


@row('C5', 'the largest picture that is admitted, of each format and operation, and photographs of 15 megapixels at half of the memory, again '
     'and again beside a client with 1080p JPEGs',
     'none of its requests refused, its p99 at most 1.5 times that of the turns in between without the picture, in the median of five')
def largest_of_each():
    with lab.start('--memory', '614MiB', '--work-timeout', '3s') as own:
        figures = [compared(f'for comparison, a program that only counts at nice {NICE_LARGE}', lab.Beside(own, only_counts))]
        kinds = own.get('/version').json()['formats']['reads']
        pairs = []
        for kind, operation in ((kind, operation) for kind in kinds for operation in OPERATIONS):
            body, side, target = largest(own, kind, operation)
            pairs.append(beside(own, f'{kind} {side}x{side} {operation}', body, target))
    photograph = pictures.jpeg(pictures.photograph(4800, 3120), 80, '444')
    with lab.start('--memory', '307MiB', '--work-timeout', '3s') as own:
        pairs.append(beside(own, 'photographs of 15 megapixels, blur, at 307 MiB', photograph, OPERATIONS['blur']))
    return '; '.join(figures + [figure for figure, _ in pairs]), all(good for _, good in pairs)


@row('P6', "the GPU's process taken over by a picture", 'headers are read from a copy that does not change; forbidden calls are refused in each thread')
def engine():
    folder, measured, good = lab.ROOT / 'build/release/tests/unit', [], True
    for name in ('test_shared_memory', 'test_engine_sandbox'):
        if not (folder / name).exists():
            return 'not run', 'built without CUDA headers'
        done = subprocess.run([folder / name], cwd=lab.ROOT, capture_output=True, text=True, check=False)
        text = done.stdout + done.stderr
        figures = re.findall(r'\d+ (?:and \d+ )?of \d+ blocked|\d[\d,]* headers[^\n]*', text)
        passed = re.search(r'PASSED\s+\] (\d+) test', text)
        measured.append(f'{name}: {passed.group(1) if passed else 0} passed{"".join(", " + f for f in figures)}')
        good = good and done.returncode == 0
    return '; '.join(measured), good
