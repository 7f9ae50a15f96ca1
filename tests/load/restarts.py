# SPDX-License-Identifier: MIT
"""Rolling restarts of two daemons behind HAProxy, under load: no request is lost.

    python3 tests/load/restarts.py [RESTARTS [REQUESTS A SECOND]]     default 100, 200

Prints one line: id, target, measured, verdict. 77: HAProxy is not installed."""

import collections
import os
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'http'))

import pytest

import daemon
import pictures
import proxies
import wire

INTERVAL_MS, FALLS = 100, 2
DRAIN_DELAY_MS = 600  # the interval times the failed checks, and a little more
CLIENTS = 8


class Instance:
    """A daemon that is replaced by another one on the same port."""

    def __init__(self):
        self.port = proxies.free_port()
        self.start()

    def start(self):
        self.daemon = daemon.Daemon('--workers', 2, '--drain-delay', f'{DRAIN_DELAY_MS}ms', port=self.port)

    def restart(self):
        begin = time.monotonic()
        self.daemon.stop()
        took = time.monotonic() - begin
        self.start()
        return took


class Load:
    """Clients with keep-alive, so many requests a second together; every tenth is slow."""

    def __init__(self, port, rate):
        self.port, self.pause = port, CLIENTS / rate
        self.outcomes, self.stopping = collections.Counter(), threading.Event()
        self.threads = [threading.Thread(target=self.run) for _ in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def run(self):
        fast = wire.message('POST', '/blur?sigma=2', pictures.small_jpeg())
        slow = wire.message('POST', pictures.SLOW_QUERY, pictures.slow_png(150))
        connection, count, due = None, 0, time.monotonic()
        while not self.stopping.is_set():
            connection = connection or wire.Wire(self.port, 60 * daemon.SLOW)
            count += 1
            connection.send(slow if count % 10 == 0 else fast)
            try:
                answer = connection.answer()
            except (AssertionError, OSError) as error:
                answer = None
                self.outcomes[type(error).__name__] += 1
            else:
                self.outcomes[answer.status if answer else 'nothing'] += 1
            if not answer or answer.header('Connection') == 'close':
                connection.close()
                connection = None
            due = max(due + self.pause, time.monotonic() - 1)
            time.sleep(max(0, due - time.monotonic()))
        if connection:
            connection.close()

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join()
        return self.outcomes


def settings(instances):
    check = f'check inter {INTERVAL_MS}ms fall {FALLS} rise 1'
    servers = '\n    '.join(f'server s{i} 127.0.0.1:{one.port} {check}' for i, one in enumerate(instances))
    return {'defaults': 'option httpchk GET /readyz', 'backend': f'balance roundrobin\n    {servers}'}


def run(restarts, rate):
    """(outcomes, seconds of the longest end)"""
    instances = [Instance(), Instance()]
    longest = 0.0
    try:
        with proxies.Proxy('haproxy', **settings(instances)) as proxy:
            time.sleep(3 * INTERVAL_MS / 1000)
            load = Load(proxy.port, rate)
            try:
                for i in range(restarts):
                    longest = max(longest, instances[i % 2].restart())
                    time.sleep(4 * INTERVAL_MS / 1000)  # until the balancer has seen the new one
            finally:
                outcomes = load.stop()
    finally:
        for one in instances:
            one.daemon.stop()
    return outcomes, longest


def main():
    restarts = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    rate = float(sys.argv[2]) if len(sys.argv) > 2 else 200
    try:
        outcomes, longest = run(restarts, rate)
    except pytest.skip.Exception as reason:
        print(f'O1  {restarts} restarts behind HAProxy  skipped: {reason}')
        return 77
    lost = sum(outcomes.values()) - outcomes[200]
    verdict = 'ok' if lost == 0 and longest < 25 else 'FAILED'
    print(f'O1  {restarts} restarts behind HAProxy: 0 requests lost, an end takes under 25 s  '
          f'{lost} of {sum(outcomes.values())} lost {dict(outcomes)}, longest end {longest:.2f} s  {verdict}')
    return 0 if verdict == 'ok' else 1


if __name__ == '__main__':
    os.chdir(pathlib.Path(__file__).resolve().parents[2])
    sys.exit(main())
