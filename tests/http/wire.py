# SPDX-License-Identifier: MIT
"""HTTP by hand, for messages that no library would send."""

import select
import socket


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers  # lower-case name -> list of values
        self.body = body

    def header(self, name):
        """The value of a header that may be there once at most."""
        values = self.headers.get(name.lower(), [])
        assert len(values) <= 1, f'{name} comes {len(values)} times'
        return values[0] if values else None

    def __repr__(self):
        return f'<{self.status} {self.body[:300]!r}>'


def message(method, target, body=b'', headers=(), version='HTTP/1.1', length=True):
    """The bytes of a request; `headers` are lines, or (name, value)."""
    lines = [f'{method} {target} {version}', 'Host: localhost']
    if length and (body or method == 'POST'):
        lines.append(f'Content-Length: {len(body)}')
    lines += [h if isinstance(h, str) else f'{h[0]}: {h[1]}' for h in headers]
    return '\r\n'.join(lines).encode('latin-1') + b'\r\n\r\n' + body


def chunked(body, size=1 << 16):
    pieces = [body[i:i + size] for i in range(0, len(body), size)]
    return b''.join(b'%x\r\n%s\r\n' % (len(piece), piece) for piece in pieces) + b'0\r\n\r\n'


class Wire:
    """One connection."""

    def __init__(self, port, timeout, receive_buffer=None):
        self.socket = socket.socket()
        self.socket.settimeout(timeout)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(('127.0.0.1', port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b''

    def send(self, data):
        """Sends as much as the other side still takes."""
        try:
            self.socket.sendall(data)
        except ConnectionError:
            pass

    def _more(self):
        """Reads on; False at the end of the connection."""
        try:
            piece = self.socket.recv(1 << 18)
        except ConnectionError:
            piece = b''
        self.buffer += piece
        return bool(piece)

    def is_readable(self):
        """Whether an answer, or the end, has come."""
        return bool(self.buffer or select.select([self.socket], [], [], 0)[0])

    def answer(self, head=False):
        """The next answer, or None when the connection ends before it. TimeoutError: silence."""
        while b'\r\n\r\n' not in self.buffer:
            if not self._more():
                return None
        start, _, rest = self.buffer.partition(b'\r\n\r\n')
        first, *lines = start.decode('latin-1').split('\r\n')
        headers = {}
        for line in lines:
            name, _, value = line.partition(':')
            headers.setdefault(name.lower(), []).append(value.strip())
        status = int(first.split()[1])
        self.buffer = rest
        bodyless = head or status < 200 or status in (204, 304)
        length = 0 if bodyless else int(headers.get('content-length', ['0'])[0])
        while len(self.buffer) < length:
            if not self._more():
                raise AssertionError(f'answer {status} is cut short: {len(self.buffer)} of {length} bytes')
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return Answer(status, headers, body)

    def answers(self, silence=1.0):
        """Every answer until the connection closes; one that stays open is listened to for a while."""
        found = []
        try:
            answer = self.answer()
            while answer:
                found.append(answer)
                self.socket.settimeout(silence)
                answer = self.answer()
        except TimeoutError:
            pass
        return found

    def is_closed(self):
        """Waits for the other side to close; False when it says something or stays silent."""
        try:
            return not self.buffer and not self._more()
        except TimeoutError:
            return False

    def reset(self):
        """Closes with a reset instead of an orderly end."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\1\0\0\0\0\0\0\0')
        self.socket.close()

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
