# SPDX-License-Identifier: MIT
"""O1: rolling restarts of two daemons behind HAProxy, under load: no request is lost."""

import collections
import threading
import time

import daemon
import lab
import pictures
import proxies
import wire

INTERVAL_MS, FALLS = 100, 2
DRAIN_DELAY_MS = 600  # the interval times the failed checks, and a little more
CLIENTS = 8
RESTARTS = 100
RATE = 100  # requests a second: two cores do the work of both sides


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


def restarts():
    daemon.BINARY, daemon.SLOW = str(lab.BUILD['release']), 1
    outcomes, longest = run(RESTARTS, RATE)
    lost = sum(outcomes.values()) - outcomes[200]
    measured = f'{lost} of {sum(outcomes.values())} lost: {lab.counted(outcomes.elements())}; the longest end took {longest:.2f} s'
    return measured, lost == 0 and longest < 25


def rows():
    return [lab.Row('O1', f'{RESTARTS} rolling restarts of two daemons behind HAProxy', '0 requests lost, an end takes under 25 s', restarts)]
