# SPDX-License-Identifier: MIT
"""A connection that is kept, with as little of Python between two requests as can be. Standard library only."""
import re
import socket

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.I)
BACKEND = re.compile(rb"\r\nx-backend: *([^\r]*)", re.I)
CLOSE = re.compile(rb"\r\nconnection: *close", re.I)


def message(target, body):
    """A whole request as bytes."""
    return b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (target.encode(), len(body)) + body


class Connection:
    """ask() gives (status, X-Backend, body); OSError when there is no answer."""

    def __init__(self, port, timeout=60):
        self.port, self.timeout = port, timeout
        self.socket = None

    def ask(self, whole):
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", self.port), self.timeout)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.socket.sendall(whole)
            return self._answer()
        except OSError:
            self.close()
            raise

    def _answer(self):
        got = b""
        while (end := got.find(b"\r\n\r\n")) < 0:
            got += self._some()
        head, rest = got[:end], got[end + 4:]
        length, backend = LENGTH.search(head), BACKEND.search(head)
        if not length:
            raise ConnectionError("an answer without Content-Length")
        body = bytearray(int(length.group(1)))
        body[:len(rest)] = rest
        view, at = memoryview(body), len(rest)
        while at < len(body):
            count = self.socket.recv_into(view[at:])
            if count == 0:
                raise ConnectionError("the answer was cut")
            at += count
        if CLOSE.search(head):
            self.close()
        return int(head[9:12]), backend.group(1).decode() if backend else "", body

    def _some(self):
        data = self.socket.recv(1 << 18)
        if not data:
            raise ConnectionError("closed instead of answered")
        return data

    def close(self):
        if self.socket is not None:
            self.socket.close()
            self.socket = None
