#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients that send a picture again and again, and count the answers that are not the expected bytes.

    tests/containers/clients.py PORT PICTURE [--until-closed]

They run until standard input ends; with --until-closed, until the port refuses connections. The last line of the
output is `LOST of TOTAL lost`, with the kinds of losses behind it; the exit status is 1 if a request was lost, or
if there were fewer than two for each client. With --until-closed, connections that the kernel had in the queue of the
port when it was closed are like refused ones: they are reset before any request of theirs was answered, and the next
one is refused."""

import collections
import http.client
import sys
import threading
import time

CLIENTS = 6
RATE = 60  # requests a second, of all of them
FEWEST = 2 * CLIENTS
PATH = '/blur?sigma=3'


def post(connection, body):
    """The status and the body of the answer."""
    connection.request('POST', PATH, body)
    answer = connection.getresponse()
    return answer.status, answer.read()


def connect(port):
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=60)
    connection.connect()
    return connection


class Clients:
    def __init__(self, port, body, until_closed):
        self.port, self.body, self.until_closed = port, body, until_closed
        self.wanted = post(connect(port), body)
        assert self.wanted[0] == 200, self.wanted
        self.outcomes, self.lock, self.stopping = collections.Counter(), threading.Lock(), threading.Event()

    def count(self, outcome):
        with self.lock:
            self.outcomes[outcome] += 1

    def open(self):
        """A connection, or None if none is to be made any more."""
        try:
            return connect(self.port)
        except ConnectionRefusedError:
            if not self.until_closed:
                self.count('refused')
                self.stopping.wait(0.1)
            return None

    def is_closed(self):
        try:
            connect(self.port).close()
        except ConnectionError:
            return True
        return False

    def ask(self, connection, is_new):
        try:
            outcome = 'good' if post(connection, self.body) == self.wanted else 'another answer'
        except (OSError, http.client.HTTPException) as error:
            outcome = type(error).__name__
            connection.close()
            if self.until_closed and is_new and isinstance(error, ConnectionError) and self.is_closed():
                return
        self.count(outcome)

    def run(self):
        connection, due = None, time.monotonic()
        while not self.stopping.is_set():
            # An answer with `Connection: close` has closed the socket.
            is_new = connection is None or connection.sock is None
            if is_new:
                connection = self.open()
            if connection:
                self.ask(connection, is_new)
            elif self.until_closed:
                return
            due = max(due + CLIENTS / RATE, time.monotonic() - 1)
            self.stopping.wait(max(0, due - time.monotonic()))


def main():
    port, picture, *more = sys.argv[1:]
    with open(picture, 'rb') as file:
        clients = Clients(int(port), file.read(), more == ['--until-closed'])
    threads = [threading.Thread(target=clients.run) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    print('started', flush=True)
    if not clients.until_closed:
        sys.stdin.read()
        clients.stopping.set()
    for thread in threads:
        thread.join()
    total, good = sum(clients.outcomes.values()), clients.outcomes.pop('good', 0)
    print(f'{total - good} of {total} lost', dict(clients.outcomes) or '')
    sys.exit(total != good or total < FEWEST)


main()
