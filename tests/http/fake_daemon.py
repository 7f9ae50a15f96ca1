# SPDX-License-Identifier: MIT
"""A server in place of the daemon that a batch asks, with answers that a test makes up."""

import contextlib
import itertools
import json
import socket
import threading

import pictures

JPEG = pictures.jpeg(pictures.photograph(24, 16))


def answer(status, body=b'', kind='image/jpeg', more='', length=None):
    return (f'HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{more}Content-Length: {len(body) if length is None else length}\r\n\r\n').encode() + body


def problem(status, kind='busy', detail='later', more=''):
    return answer(status, json.dumps({'type': f'urn:blurd:problem:{kind}', 'detail': detail}).encode(), 'application/problem+json', more)


def parts(report, picture=JPEG, kind='image/jpeg'):
    body = b'--x\r\nContent-Type: application/json\r\n\r\n' + report + f'\r\n--x\r\nContent-Type: {kind}\r\n\r\n'.encode() + picture + b'\r\n--x--\r\n'
    return answer(200, body, 'multipart/mixed; boundary=x')


class Fake:
    """A server that answers the n-th picture with answers(n), and closes the connection after None or an answer that is cut. It takes each job."""

    def __init__(self, answers, check=b'HTTP/1.1 100 Continue\r\n\r\n'):
        self.answers, self.check, self.asked, self.checked, self.connections = answers, check, 0, 0, 0
        self.lock = threading.Lock()
        self.socket = socket.create_server(('127.0.0.1', 0))
        self.url = f'http://127.0.0.1:{self.socket.getsockname()[1]}'
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                peer, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        with peer, peer.makefile('rb') as lines:
            while self.answer_one(peer, lines):
                pass

    def answer_one(self, peer, lines):
        try:
            head = list(itertools.takewhile(str.strip, (line.decode() for line in lines)))
            if not head:
                return False
            fields = dict(line.rstrip().split(': ', 1) for line in head[1:])
            if head[0].startswith('GET'):
                peer.sendall(answer(200, b'{"in_flight":2}', 'application/json'))
                return False
            if 'Expect' in fields:
                self.checked += 1
                peer.sendall(self.check(self.checked) if callable(self.check) else self.check)
                return False
            lines.read(int(fields['Content-Length']))
            with self.lock:
                self.asked += 1
                said = self.answers(self.asked)
            if said is not None:
                peer.sendall(said[0] if isinstance(said, tuple) else said)
            return isinstance(said, bytes)
        except OSError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """No further connection is taken."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
