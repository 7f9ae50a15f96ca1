# SPDX-License-Identifier: MIT
"""L9: clients behind a bad network. A program in the middle loses, delays and reorders the packets between two tunnel
devices, as `tc netem` does where the kernel has it; the stacks at both ends are the kernel's own. For root alone."""

import collections
import fcntl
import heapq
import os
import random
import select
import socket
import struct
import threading
import time

import daemon
import lab
import networks
import pictures
import wire

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
NEAR, FAR = '10.78.0.1', '10.78.0.2'
PORT = 8080
LOSS, DELAY, JITTER = 0.05, 0.1, 0.025  # each way: 200 ms there and back, give or take 50
SLOW_LINE = 56000 / 8  # bytes a second
BUFFER = 32 << 10  # bytes that wait for a slow line; more are lost


class Link:
    """The packets between two tunnel devices. Their delays differ, so that they overtake each other."""

    def __init__(self, rate=None):
        self.rate, self.random, self.ending = rate, random.Random(lab.Options.seed), threading.Event()
        self.fd = [self._device(f'blurd{i}') for i in (0, 1)]
        self.free, self.seen, self.lost = [0.0, 0.0], 0, 0
        self.thread = threading.Thread(target=self._run)

    @staticmethod
    def _device(name):
        fd = os.open('/dev/net/tun', os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(fd, TUNSETIFF, struct.pack('16sH22x', name.encode(), IFF_TUN | IFF_NO_PI))
        return fd

    def connect(self, namespaces):
        for i, (namespace, address, other) in enumerate(zip(namespaces, (NEAR, FAR), (FAR, NEAR))):
            networks.command('ip', 'link', 'set', f'blurd{i}', 'netns', namespace)
            networks.command('ip', '-n', namespace, 'address', 'add', address, 'peer', other, 'dev', f'blurd{i}')
            networks.command('ip', '-n', namespace, 'link', 'set', f'blurd{i}', 'up')
        self.thread.start()

    def _when(self, way, size):
        """When a packet arrives; None: never."""
        now = time.monotonic()
        if self.rate:
            if (self.free[way] - now) * self.rate > BUFFER:
                return None
            now = self.free[way] = max(self.free[way], now) + size / self.rate
        return None if self.random.random() < LOSS else now + DELAY + self.random.uniform(-JITTER, JITTER)

    def _run(self):
        waiting = []
        while not self.ending.is_set():
            left = waiting[0][0] - time.monotonic() if waiting else 0.1
            for fd in select.select(self.fd, [], [], max(0, min(left, 0.1)))[0]:
                way = self.fd.index(fd)
                packet = os.read(fd, 4096)
                self.seen += 1
                when = self._when(way, len(packet))
                if when is None:
                    self.lost += 1
                else:
                    heapq.heappush(waiting, (when, self.seen, self.fd[1 - way], packet))
            while waiting and waiting[0][0] <= time.monotonic():
                os.write(*heapq.heappop(waiting)[2:])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ending.set()
        if self.thread.ident:
            self.thread.join()
        for fd in self.fd:
            os.close(fd)


class Connection(wire.Wire):
    def __init__(self, timeout):
        self.socket, self.buffer = socket.create_connection((FAR, PORT), timeout), b''


def client(messages, until, outcomes, times):
    connection, count = None, 0
    while time.monotonic() < until:
        begin = time.monotonic()
        try:
            connection = connection or Connection(30)
            connection.send(messages[count % len(messages)])
            answer = connection.answer()
            outcome = answer.status if answer else 'nothing'
        except (AssertionError, OSError) as error:
            answer, outcome = None, type(error).__name__
        outcomes[outcome] += 1
        times.append(time.monotonic() - begin)
        count += 1
        if not answer or answer.header('Connection') == 'close' or count % 10 == 0:
            if connection:
                connection.close()
            connection = None
    if connection:
        connection.close()


def crowd(messages, clients, seconds, rate=None):
    """(outcomes, seconds of the slowest, share of the packets that were lost)"""
    outcomes, times = collections.Counter(), []
    with networks.Networks(1) as both, Link(rate) as link:
        link.connect((both.bridge, both.host[0].name))
        with daemon.Daemon('--gpus', 'none', '--workers', 2, listen='0.0.0.0', port=PORT, through=both.host[0].through()):
            with both.front():
                until = time.monotonic() + seconds
                threads = [threading.Thread(target=client, args=(messages, until, outcomes, times)) for _ in range(clients)]
                for thread in threads:
                    thread.start()
            for thread in threads:
                thread.join()
    return outcomes, max(times), link.lost / link.seen


def chaos():
    missing = networks.missing() or ('' if os.access('/dev/net/tun', os.W_OK) else 'there are no tunnel devices here')
    if missing:
        return 'not run', missing
    daemon.BINARY, daemon.SLOW = str(lab.BUILD['release']), 1
    body = pictures.jpeg(pictures.photograph(320, 200), quality=80)
    messages = [wire.message('POST', '/blur?sigma=2', one) for one in (body, pictures.small_jpeg(), pictures.small_png())]
    bad, slowest, lost = crowd(messages, 150, 9)
    narrow, slowest_narrow, lost_narrow = crowd([wire.message('POST', '/blur?sigma=2', pictures.small_jpeg())], 2, 8, SLOW_LINE)
    total, good = sum((bad + narrow).values()), (bad + narrow)[200]
    errors = sum(count for outcome, count in (bad + narrow).items() if isinstance(outcome, int) and outcome >= 500)
    measured = (f'200 ms there and back, {lost:.1%} of the packets lost: {lab.counted(bad.elements())}, the slowest {slowest:.1f} s; at 56 kbit/s too, '
                f'{lost_narrow:.1%} lost: {lab.counted(narrow.elements())}, the slowest {slowest_narrow:.1f} s')
    return measured, good >= 0.999 * total and errors == 0 and bad[200] >= 1000 and narrow[200] > 0


def rows():
    threat = '5 % of the packets lost each way, 200 ms \u00b1 50 ms, reordered; then at 56 kbit/s'
    return [lab.Row('L9', threat, 'at least 99.9 % answered with 200, no 5xx', chaos)]
