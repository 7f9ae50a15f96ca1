# SPDX-License-Identifier: MIT
"""Open-loop load from one thread: requests are due at times that do not depend on the answers, as clients who do not
know of each other make them. Connections are opened before; latency counts from when a request was due."""

import collections
import heapq
import random
import re
import select
import socket
import time

LENGTH = re.compile(rb'content-length: *(\d+)', re.I)

Answer = collections.namedtuple('Answer', 'due latency status kind')


class Connection:
    def __init__(self, port):
        self.port = port
        self.open()

    def open(self):
        self.socket = socket.create_connection(('127.0.0.1', self.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(b'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')  # unused connections are closed soon
        self.socket.recv(4096)
        self.socket.setblocking(False)
        self.left, self.got, self.want = b'', bytearray(), None


class Generator:
    """generator.run(rate, seconds) with messages [(kind, bytes, weight)] gives a list of Answer; status 0: none came."""

    def __init__(self, port, messages, connections=192, seed=1):
        self.messages, self.random = messages, random.Random(seed)
        self.weights = [weight for _, _, weight in messages]
        self.all = [Connection(port) for _ in range(connections)]
        self.poll = select.epoll()
        self.by_fd = {}
        for connection in self.all:
            self._register(connection)
        self.free = list(self.all)
        self.closed = 0   # connections that ended while idle
        self.starved = 0  # requests that were due while no connection was free

    def _register(self, connection):
        self.by_fd[connection.socket.fileno()] = connection
        self.poll.register(connection.socket, select.EPOLLIN)

    def _reopen(self, connection):
        del self.by_fd[connection.socket.fileno()]
        self.poll.unregister(connection.socket)
        connection.socket.close()
        connection.open()
        self._register(connection)

    def close(self):
        for connection in self.all:
            connection.socket.close()
        self.poll.close()

    def _send(self, connection):
        try:
            sent = connection.socket.send(connection.left)
        except BlockingIOError:
            sent = 0
        whole = sent == len(connection.left)
        connection.left = b'' if whole else connection.left[sent:]
        self.poll.modify(connection.socket, select.EPOLLIN | (0 if whole else select.EPOLLOUT))

    def _start(self, due, kind, message, tries):
        connection = self.free.pop()
        connection.left, connection.due, connection.kind, connection.tries = memoryview(message), due, kind, tries
        connection.message, connection.want, connection.got = message, None, bytearray()
        self._send(connection)

    @staticmethod
    def _status(connection):
        """The status once the answer is complete; None before."""
        got = connection.got
        if connection.want is None:
            head = got.find(b'\r\n\r\n')
            if head < 0:
                return None
            found = LENGTH.search(got, 0, head)
            connection.want = head + 4 + (int(found.group(1)) if found else 0)
        return int(got[9:12]) if len(got) >= connection.want else None

    def _read(self, connection, answers, waiting):
        try:
            data = connection.socket.recv(1 << 20)
        except BlockingIOError:
            return
        except OSError:
            data = b''
        connection.got += data
        status = 0 if not data else self._status(connection)
        if status is None:
            return
        now = time.monotonic()
        if not data or b'\r\nConnection: close' in connection.got[:2000]:
            self._reopen(connection)
        self.free.append(connection)
        answers.append(Answer(connection.due, now - connection.due, status, connection.kind))
        if status != 200 and connection.tries > 0:
            heapq.heappush(waiting, (now, len(answers), connection.kind, connection.message, connection.tries - 1))

    def run(self, rate, seconds, retries=0, drain=15):
        """Poisson arrivals; a request that is refused is sent again at once, `retries` times."""
        begin = time.monotonic()
        answers, waiting = [], []
        due, end = begin, begin + seconds
        while True:
            now = time.monotonic()
            while self.free and waiting and waiting[0][0] <= now:
                again = heapq.heappop(waiting)
                self._start(again[0], again[2], again[3], again[4])
            while due <= now and due < end and self.free:
                kind, message, _ = self.random.choices(self.messages, self.weights)[0]
                self._start(due, kind, message, retries)
                due += self.random.expovariate(rate)
            self.starved += due <= now and due < end
            busy = len(self.all) - len(self.free)
            if (due >= end and busy == 0 and not waiting) or now > end + drain:
                return [answer._replace(due=answer.due - begin) for answer in answers]
            pause = 0.001 if due >= end else max(0, min(due - now, 0.001))
            for fd, events in self.poll.poll(pause, 256):
                connection = self.by_fd.get(fd)
                if connection is None:
                    continue
                if connection in self.free:  # closed by the server
                    self.closed += 1
                    self._reopen(connection)
                    continue
                if events & select.EPOLLOUT:
                    self._send(connection)
                if events & ~select.EPOLLOUT:
                    self._read(connection, answers, waiting)


def quantile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))] if ordered else float('nan')


def saturation(port, message, seconds=3, clients=4):
    """Answers a second with so many clients that ask again as soon as they are answered."""
    generator = Generator(port, [('any', message, 1)], connections=clients)
    answers, begin = [], time.monotonic()
    end = begin + seconds
    while time.monotonic() < end:
        while generator.free:
            generator._start(time.monotonic(), 'any', message, 0)
        for fd, _ in generator.poll.poll(0.01):
            connection = generator.by_fd[fd]
            if connection.left:
                generator._send(connection)
            generator._read(connection, answers, [])
    generator.close()
    return sum(answer.status == 200 for answer in answers) / (time.monotonic() - begin)
