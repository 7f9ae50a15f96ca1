# SPDX-License-Identifier: MIT
"""A daemon under test: started on a free port, asked, listened to, stopped by its own pid."""

import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import pytest
import requests

import wire

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIG = os.environ.get('CONFIG', 'release')
BINARY = os.environ.get('BLURD_BINARY') or os.environ.get('BLURD') or str(ROOT / 'build' / CONFIG / 'blurd')
SANITIZED = any(f'/{config}/' in BINARY for config in ('asan', 'tsan'))
SLOW = float(os.environ.get('BLURD_SLOW') or (4 if SANITIZED else 1))  # small machines: > 1

LISTENING = re.compile(r'\blistening\b.*\bon (?:port (\d+)|unix:)')
SANITIZER = re.compile(r'AddressSanitizer|LeakSanitizer|ThreadSanitizer|runtime error:')


def clean_environment(**extra):
    """The caller's environment without variables that would configure the daemon."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith('BLURD_') and k != 'PORT'}
    return {**kept, **extra}


def eventually(condition, timeout=10):
    """Waits for a state that the daemon does not announce; returns the first true value."""
    until = time.monotonic() + timeout * SLOW
    while True:
        value = condition()
        if value or time.monotonic() > until:
            return value
        time.sleep(0.01)


class Daemon:
    """`with Daemon('--workers', '1') as daemon:` stops it and checks how it ended."""

    def __init__(self, *options, listen='127.0.0.1', port=0, environment=None, through=()):
        """`through`: a program that becomes the daemon, with its arguments."""
        self.lines = []
        self.ended = False
        self.may_end_with = (0,)
        self.news = threading.Condition()
        self.process = subprocess.Popen(
            [*through, BINARY, '--listen', listen, '--port', str(port), *map(str, options)],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment or clean_environment())
        self.reader = threading.Thread(target=self._read_log, daemon=True)
        self.reader.start()
        found = self.wait_for_line(LISTENING)
        if not found:
            self.process.kill()
            raise RuntimeError('the daemon does not listen:\n' + '\n'.join(self.lines))
        self.port = int(found.group(1) or 0)

    def _read_log(self):
        for line in self.process.stderr:
            with self.news:
                self.lines.append(line.decode('utf-8', 'backslashreplace').rstrip('\n'))
                self.news.notify_all()
        with self.news:
            self.ended = True
            self.news.notify_all()

    def wait_for_line(self, pattern, timeout=10):
        """The match of the first log line that has the pattern, or None in the end."""
        until = time.monotonic() + timeout * SLOW
        seen = 0
        with self.news:
            while True:
                for line in self.lines[seen:]:
                    found = re.search(pattern, line)
                    if found:
                        return found
                seen = len(self.lines)
                left = until - time.monotonic()
                if left <= 0 or (self.ended and seen == len(self.lines)):
                    return None
                self.news.wait(left)

    # --- asking ------------------------------------------------------------------------
    def url(self, target):
        return f'http://127.0.0.1:{self.port}{target}'

    def get(self, target, **more):
        return requests.get(self.url(target), timeout=60 * SLOW, **more)

    def post(self, target, body=b'', **more):
        return requests.post(self.url(target), data=body, timeout=60 * SLOW, **more)

    def connect(self, timeout=10):
        return wire.Wire(self.port, timeout * SLOW)

    def raw(self, message, timeout=10):
        """All answers to a message on a new connection, until it closes or stays silent."""
        with self.connect(timeout) as connection:
            connection.send(message)
            return connection.answers()

    def metrics(self):
        """name{labels} -> value"""
        return self.metrics_of(self.port)

    def pictures(self, *ways):
        """How many pictures took one of these ways."""
        metrics = self.metrics()
        return sum(metrics[f'blurd_pictures_total{{way="{way}"}}'] for way in ways)

    def metrics_of(self, port):
        """The same, of the listener at that port."""
        page = requests.get(f'http://127.0.0.1:{port}/metrics', timeout=60 * SLOW).text
        samples = (line.rsplit(' ', 1) for line in page.splitlines() if not line.startswith('#'))
        return {name: float(value) for name, value in samples}

    # --- looking inside ------------------------------------------------------------------
    def open_files(self):
        """descriptor -> target of its link. Only root can inspect a daemon in its sandbox."""
        folder, found = f'/proc/{self.process.pid}/fd', {}
        try:
            names = os.listdir(folder)
        except PermissionError:
            pytest.skip('only root sees the descriptors of a daemon in its sandbox')
        for name in names:
            try:
                found[int(name)] = os.readlink(f'{folder}/{name}')
            except FileNotFoundError:
                pass  # closed meanwhile
        return found

    def descriptors(self):
        return len(self.open_files())

    def status(self, key):
        text = pathlib.Path(f'/proc/{self.process.pid}/status').read_text()
        return int(re.search(rf'^{key}:\s+(\d+)', text, re.M).group(1))

    def usage(self):
        """The fields of /proc/PID/stat behind the name."""
        return pathlib.Path(f'/proc/{self.process.pid}/stat').read_text().rpartition(')')[2].split()

    def processor_time(self):
        """Seconds of all its threads."""
        return sum(map(int, self.usage()[11:13])) / os.sysconf('SC_CLK_TCK')

    def page_faults(self):
        """Pages that it was given, without those read from a disk."""
        return int(self.usage()[7])

    def busy_for(self, seconds):
        """Seconds of processor time that it takes in so many from now on."""
        before = self.processor_time()
        time.sleep(seconds)
        return self.processor_time() - before

    # --- the end -------------------------------------------------------------------------
    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def wait(self, timeout=30):
        """The exit code. A daemon that does not end is killed, and the test fails."""
        try:
            code = self.process.wait(timeout * SLOW)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        self.reader.join(10)
        return code

    def reports(self):
        return [line for line in self.lines if SANITIZER.search(line)]

    def stop(self):
        """Ends it if it still runs, and checks that it ended well."""
        if self.process.poll() is None:
            self.signal()
        code = self.wait()
        log = '\n'.join(self.lines[-60:])
        assert not self.reports(), log
        assert code in self.may_end_with, f'exit code {code}\n{log}'

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.stop()
        elif self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def run(*arguments, environment=None):
    """A start that ends by itself: (exit code, standard output, standard error)."""
    done = subprocess.run([BINARY, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=20 * SLOW, env=environment or clean_environment(), check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()
