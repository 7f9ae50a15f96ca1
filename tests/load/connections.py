# SPDX-License-Identifier: MIT
"""H11 thousands of silent connections, H12 no descriptors left.

    tests/python.sh tests/load/connections.py [ROW]..."""

import os
import pathlib
import resource
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'hostile'))

import lab  # noqa: E402
import generator  # noqa: E402
import overload  # noqa: E402
import pictures  # noqa: E402
import results  # noqa: E402
import wire  # noqa: E402

SILENT, RATE = 5000, 200


def connect_only(port):
    connection = socket.socket()
    connection.setblocking(False)
    connection.connect_ex(('127.0.0.1', port))
    return connection


@lab.row('H11', '5,000 silent connections and 200/s more', '/readyz on its own listener: p99 at most 100 ms; a picture is served 1 s later')
def flood():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < SILENT + 1000:
        return f'{hard} open files allowed', 'the limit of open files is too low here'
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, SILENT + 1000), hard))
    with lab.start('--admin-listen', '127.0.0.1', '--admin-port', 0) as own:
        admin = next(port for port in overload.ports_of(own) if port != own.port)
        probe = overload.Probe(admin, pause=0.01)
        probe.start()
        silent = [connect_only(own.port) for _ in range(SILENT)]
        begin = time.monotonic()
        while time.monotonic() < begin + 4:
            silent.append(connect_only(own.port))
            time.sleep(1 / RATE)
        probe.stop()
        for connection in silent:
            connection.close()
        begin = time.monotonic()
        status = own.post('/blur?sigma=1', pictures.small_png()).status_code
        recovery = time.monotonic() - begin
    p99 = generator.quantile(probe.times, 0.99)
    figure = f'{len(probe.times)} probes, p99 {p99 * 1e3:.1f} ms, {probe.wrong} wrong; picture {status} after {recovery:.2f} s'
    return figure, p99 <= 0.1 and probe.wrong == 0 and status == 200 and recovery <= 1


@lab.row('H12', 'no descriptors left for connections', 'CPU at most 5 % of a core, at most 100 log lines a minute, accepting again in 1 s')
def descriptors():
    with lab.start() as own:
        used = max(int(name) for name in os.listdir(f'/proc/{own.process.pid}/fd')) + 1
        limits = resource.prlimit(own.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(own.process.pid, resource.RLIMIT_NOFILE, (used, limits[1]))
        cpu, lines, begin = lab.cpu_seconds(own.process.pid), len(own.lines), time.monotonic()
        waiting = [own.connect() for _ in range(30)]
        for connection in waiting:
            connection.send(wire.message('GET', '/livez'))
        time.sleep(6)
        took = time.monotonic() - begin
        cpu, lines = (lab.cpu_seconds(own.process.pid) - cpu) / took, (len(own.lines) - lines) / took * 60
        resource.prlimit(own.process.pid, resource.RLIMIT_NOFILE, limits)
        begin = time.monotonic()
        answered = sum(connection.answer() is not None for connection in waiting)
        recovery = time.monotonic() - begin
        for connection in waiting:
            connection.close()
    figure = f'{cpu:.1%} of a core, {lines:.0f} log lines a minute, {answered} of 30 answered after {recovery:.2f} s'
    return figure, cpu <= 0.05 and lines <= 100 and answered == 30 and recovery <= 1


OWN = ('H11', 'H12')


def rows():
    return [row for row in lab.ROWS if row.id in OWN]


if __name__ == '__main__':
    results.report(results.results(sys.argv[1:] or OWN))
