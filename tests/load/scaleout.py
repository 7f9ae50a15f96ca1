# SPDX-License-Identifier: MIT
"""S1 to S3: HAProxy in front of daemons that have a network namespace each, as on machines of their own. They are drained,
restarted, added and killed under load, and their throughput is the sum. See docs/scaling.md for what this does not show."""

import collections
import contextlib
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import time

import daemon
import lab
import networks
import pictures
import proxies
import wire

HOSTS = 3
ROUNDS = 4
PORT = 8080
INTERVAL_MS, FALLS = 100, 2
DRAIN_DELAY_MS = 600  # the interval times the failed checks, and a little more
CLIENTS = 6
RATE = 60  # requests a second
PART = 0.2  # of a core, for each daemon whose throughput is measured
TARGET = '/blur?sigma=3'

# Every request gives the same answer each time, so that HAProxy may send it again after any failure. HAProxy still has
# the request if it waited for all of it, and if head and body fit into one of its buffers.
RETRY = """option http-buffer-request
    option redispatch 1
    retry-on conn-failure empty-response response-timeout"""
BUFFER = 1 << 20


def photo():
    return pictures.jpeg(pictures.photograph(1280, 720), quality=85)


class Replica:
    """A daemon on a host, which may be replaced by another one."""

    def __init__(self, host, *options):
        self.host, self.options, self.daemon = host, options, None

    def start(self):
        self.daemon = daemon.Daemon('--gpus', 'none', '--workers', 1, '--drain-delay', f'{DRAIN_DELAY_MS}ms', *self.options,
                                    listen='0.0.0.0', port=PORT, through=self.host.through())
        return self

    def drain(self):
        self.daemon.stop()

    def kill(self):
        self.daemon.process.kill()
        self.daemon.process.wait()


class Clients:
    """So many clients with keep-alive and so many requests a second together. They know the correct answer."""

    def __init__(self, port, body, wanted):
        self.port, self.wanted = port, wanted
        self.message = wire.message('POST', TARGET, body)
        self.outcomes, self.stopping = collections.Counter(), threading.Event()
        self.threads = [threading.Thread(target=self.run) for _ in range(CLIENTS)]

    def ask(self, connection):
        """Whether the connection can be used again."""
        connection.send(self.message)
        try:
            answer = connection.answer()
        except (AssertionError, OSError) as error:
            self.outcomes[type(error).__name__] += 1
            return False
        good = answer and answer.status == 200 and answer.body == self.wanted
        self.outcomes['good' if good else answer.status if answer else 'nothing'] += 1
        return answer and answer.header('Connection') != 'close'

    def run(self):
        connection, due = None, time.monotonic()
        while not self.stopping.is_set():
            connection = connection or wire.Wire(self.port, 60)
            if not self.ask(connection):
                connection.close()
                connection = None
            due = max(due + CLIENTS / RATE, time.monotonic() - 1)
            time.sleep(max(0, due - time.monotonic()))
        if connection:
            connection.close()

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def lost(self):
        return sum(self.outcomes.values()) - self.outcomes['good']


def settings(hosts, defaults='', most=''):
    check = f'check inter {INTERVAL_MS}ms fall {FALLS} rise 1 {most}'
    servers = '\n    '.join(f'server s{i} {host.address}:{PORT} {check}' for i, host in enumerate(hosts))
    return {'defaults': f'option httpchk GET /readyz\n    {defaults}', 'backend': f'balance roundrobin\n    {servers}',
            'tuning': f'tune.bufsize {BUFFER}'}


@contextlib.contextmanager
def cluster(hosts, started, part=None, options=(), **more):
    """(replicas, proxy), of which `started` run; this thread is in front of them."""
    daemon.BINARY, daemon.SLOW = str(lab.BUILD['release']), 1
    replicas = []
    with networks.Networks(hosts, part) as net, net.front():
        try:
            replicas += [Replica(host, *options) for host in net.host]
            for one in replicas[:started]:
                one.start()
            with proxies.Proxy('haproxy', **settings(net.host, **more)) as proxy:
                settle()
                yield replicas, proxy
        finally:
            for one in replicas:
                if one.daemon and one.daemon.process.poll() is None:
                    one.kill()


def settle():
    """Waits until the balancer has seen the change."""
    time.sleep(4 * INTERVAL_MS / 1000)


def reference(proxy, body):
    """The answer that all of them have to give."""
    with wire.Wire(proxy.port, 60) as connection:
        connection.send(wire.message('POST', TARGET, body))
        answer = connection.answer()
    assert answer.status == 200, answer
    return answer.body


# --- rows -------------------------------------------------------------------------------------------
def changes():
    body = photo()
    with cluster(HOSTS + 1, HOSTS) as (replicas, proxy):
        with Clients(proxy.port, body, reference(proxy, body)) as clients:
            for _ in range(ROUNDS):
                for one in replicas[:HOSTS]:
                    one.drain()
                    one.start()
                    settle()
                replicas[HOSTS].start()
                settle()
                replicas[HOSTS].drain()
    total = sum(clients.outcomes.values())
    measured = (f'{ROUNDS * HOSTS} drained and restarted, {ROUNDS} added and taken away again: {clients.lost()} of {total} lost: '
                f'{lab.counted(clients.outcomes.elements())}')
    return measured, clients.lost() == 0 and total > RATE * ROUNDS


def killed(defaults, body):
    """(requests lost, requests)"""
    with cluster(HOSTS, HOSTS, defaults=defaults) as (replicas, proxy):
        with Clients(proxy.port, body, reference(proxy, body)) as clients:
            for _ in range(ROUNDS):
                for one in replicas:
                    one.kill()
                    time.sleep(2 * INTERVAL_MS / 1000)
                    one.start()
                    settle()
    return clients.lost(), sum(clients.outcomes.values())


def kills():
    body = photo()
    large = pictures.png(pictures.noise(700, 700, 3))
    assert len(body) < BUFFER < len(large)
    kept, all_kept = killed(RETRY, body)
    plain, all_plain = killed('', body)
    long, all_long = killed(RETRY, large)
    count, bound = ROUNDS * HOSTS, ROUNDS * HOSTS * CLIENTS
    measured = (f'{count} kills each: with retries {kept} of {all_kept} lost; without, {plain} of {all_plain}; with retries, but bodies of '
                f'{len(large) / 1e6:.1f} MB in buffers of {BUFFER / 1e6:.1f} MB, {long} of {all_long}')
    return measured, kept == 0 and plain <= bound and long <= bound


def through(proxy, picture, seconds=3):
    """(requests a second, answers with another status)"""
    script = lab.ROOT / 'bench/post.lua'
    done = subprocess.run(['wrk', '-t1', f'-c{4 * HOSTS}', f'-d{seconds}s', '-s', str(script), f'http://127.0.0.1:{proxy.port}{TARGET}',
                           '--', str(picture)], capture_output=True, text=True, timeout=60, check=True)
    rate = float(re.search(r'Requests/sec: +([\d.]+)', done.stdout).group(1))
    return rate, int(re.search(r'another status than 200: (\d+)', done.stdout).group(1))


def rates_of(replicas, proxy, picture):
    """Requests a second with one, two, ... of them, and how many were refused."""
    rates, refused = [], 0
    for one in replicas:
        one.start()
        settle()
        rate, others = through(proxy, picture)
        rates.append(rate)
        refused += others
    for one in replicas:
        one.kill()
    settle()
    return rates, refused


def throughput():
    with tempfile.NamedTemporaryFile(suffix='.jpg') as picture:
        pathlib.Path(picture.name).write_bytes(pictures.jpeg(pictures.photograph(320, 240), quality=85))
        # As many at once as a worker has use for: the others wait in the balancer, where any daemon may take them.
        with cluster(HOSTS, 0, part=PART, most='maxconn 4') as (replicas, proxy):
            if not replicas[0].host.share.path:
                return 'not run', 'no control groups for processors here'
            rounds = [rates_of(replicas, proxy, picture.name) for _ in range(ROUNDS)]
    rates = [max(each) for each in zip(*(one for one, _ in rounds))]  # other load only lowers the rate
    refused = sum(others for _, others in rounds)
    factors = [rate / rates[0] for rate in rates]
    measured = (f'{PART:g} of a core each: ' + ', '.join(f'{rate:.0f}' for rate in rates) + ' requests/s with 1, 2, 3 daemons, '
                f'{factors[1]:.2f} and {factors[2]:.2f} times that of one; {refused} answers not 200')
    return measured, refused == 0 and abs(factors[1] - 2) <= 0.2 and abs(factors[2] - 3) <= 0.3


def where_possible(function):
    def run():
        stopped = networks.missing() or ('' if shutil.which('wrk') else 'wrk is not installed')
        return ('not run', stopped) if stopped else function()
    return run


def rows():
    return [
        lab.Row('S1', 'daemons behind HAProxy drained, restarted, added, taken away', '0 requests lost, every answer the same bytes',
                where_possible(changes)),
        lab.Row('S2', 'SIGKILL of daemons behind HAProxy', '0 requests lost where HAProxy still has the body; else those in flight on it at most',
                where_possible(kills)),
        lab.Row('S3', 'throughput of several daemons behind HAProxy', 'the sum, within a tenth', where_possible(throughput)),
    ]
