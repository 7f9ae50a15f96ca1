# SPDX-License-Identifier: MIT
"""A client of /series that sends and reads at the same time, chunk by chunk, or only one of both."""

import threading

import wire


class Stream(wire.Wire):
    def __init__(self, port, target, timeout=20, headers=(), reads=True, receive_buffer=None):
        super().__init__(port, timeout, receive_buffer)
        self.status, self.headers, self.frames, self.body, self.whole = None, {}, [], b'', False
        self.news = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.begin(target, headers)
        if reads:
            self.reader.start()

    def begin(self, target, headers):
        self.send(wire.message('POST', target, length=False, headers=['Transfer-Encoding: chunked', *headers]))

    def put(self, *pieces):
        for piece in pieces:
            self.send(b'%x\r\n%s\r\n' % (len(piece), piece))

    def finish(self):
        """Says that all frames are sent, and waits for the end of the answer."""
        self.send(b'0\r\n\r\n')
        return self.wait()

    def wait(self):
        if self.reader.ident is None:
            self.reader.start()
        self.reader.join(60)
        assert not self.reader.is_alive(), 'the answer does not end'
        return self

    def wait_for_frames(self, count):
        with self.news:
            return self.news.wait_for(lambda: len(self.frames) >= count or not self.reader.is_alive(), 30) and len(self.frames) >= count

    def _line(self):
        while b'\r\n' not in self.buffer:
            if not self._more():
                return None
        line, _, self.buffer = self.buffer.partition(b'\r\n')
        return line

    def _bytes(self, count):
        while len(self.buffer) < count:
            if not self._more():
                return None
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def _head(self):
        while True:
            first = self._line()
            if first is None:
                return False
            status, headers = int(first.split()[1]), {}
            while line := self._line():
                name, _, value = line.decode('latin-1').partition(':')
                headers[name.lower()] = value.strip()
            if status != 100:
                self.status, self.headers = status, headers
                return True

    def _read(self):
        if not self._head():
            return
        if 'content-length' in self.headers:
            self.body = self._bytes(int(self.headers['content-length']))
            self.whole = self.body is not None
            return
        while line := self._line():
            size = int(line, 16)
            frame = self._bytes(size + 2)
            if size == 0 or frame is None:
                self.whole = frame is not None and not self._more()
                return
            with self.news:
                self.frames.append(frame[:-2])
                self.news.notify_all()


def ask(port, target, *pieces, **more):
    """The answer to a whole series."""
    with Stream(port, target, **more) as stream:
        sender = threading.Thread(target=stream.put, args=pieces, daemon=True)
        sender.start()
        sender.join(60)
        return stream.finish()
