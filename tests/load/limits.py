# SPDX-License-Identifier: MIT
"""H1, H2: refusals of bodies that are too large, directly and through proxies. O7: starts. L10: a machine that is busy
with other things."""

import collections
import os
import pathlib
import statistics
import subprocess
import sys
import time

import lab
import pictures
import proxies
import wire
from overload import Probe, ports_of

LIMIT = 256 << 10
TRIES = 1000
SPARE = 64 << 10  # bytes beyond the limit that may be kept
STARTS = 50
BURNERS, SECONDS = 4, 8.0
FRONTS = {'directly': None, 'HAProxy': ('haproxy', ''), 'nginx': ('nginx', ''), 'nginx that streams': ('nginx', 'proxy_request_buffering off;')}


def fronts(own):
    """name -> port of the ways to the daemon that this machine has, opened one after the other."""
    for name, proxy in FRONTS.items():
        if not proxy:
            yield name, own.port
        elif proxies.is_there(proxy[0]):
            with proxies.in_front_of(proxy[0], own, proxy[1]) as front:
                yield name, front.port


def ask(port, message):
    with wire.Wire(port, 20) as connection:
        connection.send(message)
        return lab.status_of(connection.answer())


def chunked(size):
    return wire.message('POST', '/blur', wire.chunked(bytes(size)), ['Transfer-Encoding: chunked'], length=False)


def declared(size):
    return wire.message('POST', '/blur', bytes(size))


def tried(messages):
    """(sentence, whether 99.9 % saw 413)"""
    parts, good = [], True
    with lab.start('--max-body', LIMIT) as own:
        for name, port in fronts(own):
            found = collections.Counter(ask(port, message) for message in messages for _ in range(TRIES // len(messages)))
            parts.append(f'{name} {found[413]} of {found.total()}')
            good = good and found[413] >= 0.999 * found.total()
        fine = ask(own.port, wire.message('POST', '/blur', pictures.small_png())) == 200
    return '413: ' + ', '.join(parts), good and fine


def refused_before_the_body():
    """With `Expect: 100-continue`: counts answers of 413 instead of 100, and bytes of bodies that were
    read."""
    head = wire.message('POST', '/blur', headers=[f'Content-Length: {LIMIT + 1}', 'Expect: 100-continue'], length=False)
    with lab.start('--max-body', LIMIT) as own:
        found = collections.Counter(ask(own.port, head) for _ in range(100))
        return found[413], own.metrics()['blurd_received_bytes_total']


@lab.row('H1', 'declared bodies beyond the limit', '413 seen by 99.9 %, directly and through proxies, and instead of 100; no byte of the body read then')
def too_long():
    figure, good = tried([declared(LIMIT + 1), declared(2 * LIMIT)])
    early, read = refused_before_the_body()
    return f'{figure}; instead of 100: {early} of 100, {read:.0f} bytes of bodies read', good and early == 100 and read == 0


@lab.row('H2', 'bodies beyond the limit in chunks', '413 seen by 99.9 %; beyond twice the limit an end, no hang; at most 64 KiB more than the limit kept')
def too_many_chunks():
    figure, good = tried([chunked(LIMIT + 1), chunked(2 * LIMIT - 1)])
    with lab.start('--max-body', 8 << 20) as own:
        ask(own.port, chunked(1 << 20))
        before = own.status('VmRSS')
        lab.reset_peak(own)
        begin = time.monotonic()
        ends = collections.Counter(ask(own.port, chunked(40 << 20)) for _ in range(5))
        seconds = (time.monotonic() - begin) / 5
        kept = lab.peak_growth(own, before) * (1 << 20) - (8 << 20)
    figure += f'; 40 MiB of chunks with a limit of 8: {lab.counted(ends.elements())}, {seconds:.2f} s each, {max(0, kept) / 1024:.0f} KiB more than the limit kept'
    return figure, good and set(ends) <= {413, 'none'} and seconds < 5 and kept <= SPARE


def first_answer():
    """Seconds from exec to a blurred picture."""
    begin = time.monotonic()
    with lab.start() as own:
        status = ask(own.port, wire.message('POST', '/blur', pictures.small_png()))
        seconds = time.monotonic() - begin
    return seconds if status == 200 else float('inf')


@lab.row('O7', 'starts on demand', 'a picture blurred at most 100 ms after exec, 50 starts')
def starts():
    times = sorted(first_answer() for _ in range(STARTS))
    return f'{STARTS} starts: median {statistics.median(times) * 1e3:.1f} ms, the slowest {times[-1] * 1e3:.1f}', times[-1] <= 0.1


BURN = """import time
end, memory = time.monotonic() + float(__import__('sys').argv[1]), bytearray(64 << 20)
while time.monotonic() < end:
    memory[::4096] = bytes(len(memory[::4096]))"""


@lab.row('L10', 'a machine that is busy with other things', '0 crashes, every picture 200 or 503, /readyz within 500 ms')
def pressure():
    processes = BURNERS * (os.cpu_count() or 1)
    with lab.start('--admin-listen', '127.0.0.1', '--admin-port', 0) as own:
        burning = [subprocess.Popen([sys.executable, '-c', BURN, str(SECONDS)]) for _ in range(processes)]
        probe = Probe(next(port for port in ports_of(own) if port != own.port))
        probe.start()
        body, found, until = pictures.jpeg(pictures.photograph(640, 480)), collections.Counter(), time.monotonic() + SECONDS - 1
        with lab.Client(own) as client:
            while time.monotonic() < until:
                found[lab.status_of(client.ask(body))] += 1
        probe.stop()
        for process in burning:
            process.wait()
        alive = pathlib.Path(f'/proc/{own.process.pid}').exists()
    slowest = max(probe.times)
    figure = (f'{processes} processes that burn time and memory: {lab.counted(found.elements())}; {len(probe.times)} probes, {probe.wrong} wrong, '
              f'the slowest {slowest * 1e3:.0f} ms')
    return figure, alive and set(found) <= {200, 503} and probe.wrong == 0 and slowest <= 0.5


OWN = ('H1', 'H2', 'O7', 'L10')


def rows():
    return [row for row in lab.ROWS if row.id in OWN]
