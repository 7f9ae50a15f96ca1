# SPDX-License-Identifier: MIT
"""O5: requests over connections that have been idle for almost as long as they may be, directly and through HAProxy.

A client knows that the daemon's idle time starts after the last request was sent. A request that is given to
the kernel within the timeout of that moment is in time, however the machine's threads are scheduled. A later
request may meet the end of the connection, and that is the client's risk (RFC 9112, 9.3.1)."""

import collections
import heapq
import select
import random
import time

import lab
import pictures
import proxies
import wire

TIMEOUT = 0.3
SECONDS = 8
CONNECTIONS = 120
EARLY, LATE = 0.03, 0.01  # directly: the next request comes at the timeout, less or more so much
BEFORE_PROXY = 0.06  # through a proxy, whose own work is on the way: at the timeout less this, or up to twice this


class Tries:
    """One thread, many connections; the time between two requests of one is drawn from `pause`."""

    def __init__(self, port, pause):
        self.port, self.pause, self.random = port, pause, random.Random(lab.Options.seed)
        self.message = wire.message('POST', '/blur?sigma=1', pictures.small_png())
        self.outcomes, self.waiting, self.busy = collections.Counter(), [], {}
        self.poll = select.epoll()

    def open(self):
        connection = wire.Wire(self.port, 10)
        connection.send(self.message)
        connection.sent, connection.in_time, connection.first = time.monotonic(), True, True
        self.wait_for(connection)

    def wait_for(self, connection):
        self.busy[connection.socket.fileno()] = connection
        self.poll.register(connection.socket, select.EPOLLIN)

    def next(self, connection):
        """Sends the due requests; sets `in_time` by the clock after the kernel has them."""
        last, connection.sent = connection.sent, time.monotonic()
        connection.send(self.message)
        connection.in_time, connection.first = time.monotonic() < last + TIMEOUT, False
        self.wait_for(connection)

    def take(self, fd):
        connection = self.busy.pop(fd)
        self.poll.unregister(fd)
        answer = connection.answer()
        when = 'first' if connection.first else 'in time' if connection.in_time else 'late'
        self.outcomes[when, answer.status if answer else 'none'] += 1
        if answer and answer.header('Connection') != 'close':
            heapq.heappush(self.waiting, (connection.sent + self.random.uniform(*self.pause), id(connection), connection))
            return
        connection.close()
        self.open()

    def run(self):
        for _ in range(CONNECTIONS):
            self.open()
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            while self.waiting and self.waiting[0][0] <= time.monotonic():
                self.next(heapq.heappop(self.waiting)[2])
            left = self.waiting[0][0] - time.monotonic() if self.waiting else 1
            for fd, _ in self.poll.poll(max(0, min(left, 0.1))):
                self.take(fd)
        for connection in [*self.busy.values(), *(entry[2] for entry in self.waiting)]:
            connection.close()
        self.poll.close()
        return self.outcomes

    def count(self, when):
        """(how many of them, how many without 200)"""
        total = sum(count for key, count in self.outcomes.items() if key[0] == when)
        return total, total - self.outcomes[when, 200]


def told(tries):
    (fresh, fresh_lost), (good, lost), (late, refused) = (tries.count(when) for when in ('first', 'in time', 'late'))
    text = f'{good} requests in time, {lost} without 200; {late} later, {refused} of them found the connection closed; {fresh_lost} of {fresh} first ones lost'
    return text, lost + fresh_lost == 0 and good >= 1000


def races():
    with lab.start('--idle-timeout', f'{TIMEOUT * 1000:.0f}ms', '--workers', 2) as own:
        tries = Tries(own.port, (TIMEOUT - EARLY, TIMEOUT + LATE))
        tries.run()
        direct, fine = told(tries)
        with proxies.in_front_of('haproxy', own) as proxy:
            tries = Tries(proxy.port, (TIMEOUT - 2 * BEFORE_PROXY, TIMEOUT - BEFORE_PROXY))
            tries.run()
        proxied, also_fine = told(tries)
        bad = sum(count for key, count in tries.outcomes.items() if key[1] in (502, 503, 504))
    return f'directly: {direct}. Through HAProxy: {proxied}, {bad} x 502 to 504', fine and also_fine and bad == 0


def rows():
    threat = f'requests on connections idle for {TIMEOUT * 1000:.0f} ms - \u03b5 of {TIMEOUT * 1000:.0f} ms, directly and behind HAProxy'
    return [lab.Row('O5', threat, 'every request sent within the timeout is answered; 0 x 502', races)]
