# SPDX-License-Identifier: MIT
"""O2: restarts with one listening socket that is handed on, as a service manager does it, without a proxy in front."""

import collections
import threading
import time

import daemon
import lab
import pictures
import test_activation
import wire

RESTARTS = 30
FRESH, KEPT = 4, 2  # clients that connect anew for each picture, clients that keep their connections
SERVING = 0.25  # seconds between a start and the next end
PAUSE = 0.01


class Connection(wire.Wire):
    """A connection that distinguishes a reset from an end."""

    def _more(self):
        piece = self.socket.recv(1 << 18)
        self.buffer += piece
        return bool(piece)


class Clients:
    """A kept connection may end between requests at any time (RFC 9112, 9.3.1): a request that crosses the end is sent
    once more over a new one and counted in `again`. All else is in `outcomes`."""

    def __init__(self, port):
        self.port, self.stopping = port, threading.Event()
        self.outcomes, self.again, self.slowest = collections.Counter(), 0, 0.0
        self.threads = [threading.Thread(target=self.run, args=(i >= FRESH,)) for i in range(FRESH + KEPT)]
        for thread in self.threads:
            thread.start()

    def run(self, keep):
        message = wire.message('POST', '/blur?sigma=2', pictures.small_png(), [] if keep else ['Connection: close'])
        connection = None
        while not self.stopping.is_set():
            begin = time.monotonic()
            outcome = None
            if connection:
                outcome, connection = self.ask(connection, message)
                self.again += outcome in ('nothing', 'ConnectionResetError')
            if outcome != 200:
                outcome, connection = self.ask(None, message)
            self.outcomes[outcome] += 1
            self.slowest = max(self.slowest, time.monotonic() - begin)
            time.sleep(PAUSE)
        if connection:
            connection.close()

    def ask(self, connection, message):
        """(status or name of the failure, the connection if it can be used again)"""
        try:
            connection = connection or Connection(self.port, 30 * daemon.SLOW)
            connection.send(message)
            answer = connection.answer()
            outcome = answer.status if answer else 'nothing'
            if answer and answer.header('Connection') != 'close':
                return outcome, connection
        except (AssertionError, OSError) as error:
            outcome = type(error).__name__
        if connection:
            connection.close()
        return outcome, None

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join()


def handovers():
    daemon.BINARY, daemon.SLOW = str(lab.BUILD['release']), 1
    with test_activation.listener() as one:
        clients = Clients(one.getsockname()[1])
        try:
            for _ in range(RESTARTS):
                own = test_activation.Launched([one], '--gpus', 'none', '--workers', 2).await_start()
                time.sleep(SERVING)
                own.stop()
            own = test_activation.Launched([one], '--gpus', 'none', '--workers', 2).await_start()
        finally:
            clients.stop()
        own.stop()
    total = sum(clients.outcomes.values())
    lost = total - clients.outcomes[200]
    measured = (f'{RESTARTS} restarts, {total} pictures: {lab.counted(clients.outcomes.elements())}; {clients.outcomes["ConnectionRefusedError"]} refused, '
                f'{clients.outcomes["ConnectionResetError"]} reset, {lost} lost; the slowest took {clients.slowest:.2f} s; {clients.again} sent again '
                'since a kept connection had ended between requests')
    return measured, lost == 0 and total > 20 * RESTARTS


def rows():
    return [lab.Row('O2', f'{RESTARTS} restarts that hand the listening socket on, no proxy', '0 refused, 0 reset, 0 lost', handovers)]
