# SPDX-License-Identifier: MIT
"""A daemon for each node of a cluster, for ray_redact.py and spark_redact.py.

The first process of a job that makes a Client on a node starts a keeper, which runs this file. The keeper holds a Unix socket,
starts `blurd` with it ($BLURD names another program, BLURD_… its options) and starts it again if it dies. It ends both when no
process on the node has a Client any more, however these ended. Sockets and logs are in folders `blurd-…` of the temporary one."""

import ctypes
import fcntl
import functools
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

PAUSES = (0.1, 0.5, 1, 2, 4, 8)  # seconds before each repetition
LONGEST = 60  # that Retry-After is followed
CUT = (OSError, http.client.HTTPException)


class NoDaemon(Exception):
    """The node has no daemon, and gets none."""

    def __init__(self, why):
        super().__init__(f'no daemon on this node: {why}')


class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.host)


class Client:
    """Asks the daemon of this node, for several pictures at a time."""

    def __init__(self, name, job, threads=2 * (os.cpu_count() or 1)):
        """`name`: of the job on this node, without a slash; `job`: path and query of the requests."""
        self.job = '/' + job.lstrip('/')
        self.folder = pathlib.Path(tempfile.gettempdir(), f'blurd-{os.getuid()}-{name}')
        self.folder.mkdir(mode=0o700, exist_ok=True)
        if self.folder.lstat().st_uid != os.getuid():
            raise NoDaemon(f'{self.folder} belongs to another user')
        self.users = open(self.folder / 'users', 'w', encoding='ascii')  # until this process ends
        fcntl.flock(self.users, fcntl.LOCK_SH)
        self.start()
        self.threads = ThreadPoolExecutor(threads)
        self.local = threading.local()

    def start(self):
        """Starts the keeper if there is none; one process after the other tries."""
        with open(self.folder / 'start', 'w', encoding='ascii') as lock, open(self.folder / 'log', 'a', encoding='utf-8') as log:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self.alive():
                subprocess.run([sys.executable, __file__, self.folder], check=False, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
                if not self.alive():
                    raise NoDaemon((self.folder / 'log').read_text()[-1000:])

    def alive(self):
        connection = Connection(str(self.folder / 'socket'), timeout=60)
        try:
            connection.request('GET', '/livez')
            return connection.getresponse().status == 200
        except CUT:
            return False
        finally:
            connection.close()

    def redact(self, pictures):
        """A list of (picture, status, error) in the order of the pictures. What went wrong has an empty picture and an error;
        its status is 0 where there was no answer."""
        return list(self.threads.map(self.ask, pictures))

    def ask(self, picture):
        for pause in (*PAUSES, None):
            status, wait, answer = self.post(picture)
            if status not in (0, 429, 503) or pause is None:
                break
            time.sleep(max(pause * random.uniform(1, 2), min(wait, LONGEST)))
            if status == 0:
                self.start()
        return (answer, status, '') if status == 200 else (b'', status, sentence(answer))

    def post(self, picture):
        """Status, seconds to wait, and body of the answer."""
        if not hasattr(self.local, 'connection'):
            self.local.connection = Connection(str(self.folder / 'socket'), timeout=120)
        connection = self.local.connection
        try:
            try:
                connection.request('POST', self.job, picture)
            except BrokenPipeError:
                pass  # a refusal may be there before all is sent
            answer = connection.getresponse()
            wait = answer.getheader('Retry-After', '')
            return answer.status, int(wait) if wait.isdigit() else 0, answer.read()
        except CUT as error:
            connection.close()  # the next request opens it again
            return 0, 0, f'no answer: {error!r}'.encode()


@functools.lru_cache
def client(name, job):
    """One for each process."""
    return Client(name, job)


def sentence(answer):
    try:
        problem = json.loads(answer)
        return f'{problem["title"]}: {problem["detail"]}'
    except (ValueError, KeyError):
        return answer.decode('utf-8', 'replace')


# --- the keeper ------------------------------------------------------------------------------------
def launch(listener):
    """The pid of a daemon that serves the socket, and when it was started."""
    pid = os.fork()
    if pid == 0:
        try:
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: when the keeper is gone
            os.dup2(listener.fileno(), 3)
            os.set_inheritable(3, True)
            os.environ.update(LISTEN_FDS='1', LISTEN_PID=str(os.getpid()))
            os.environ.setdefault('BLURD_LOG_LEVEL', 'warning')  # no line for each picture
            os.execvp(os.environ.get('BLURD') or 'blurd', ['blurd'])
        except OSError as error:
            print('blurd:', error, file=sys.stderr, flush=True)
        finally:
            os._exit(127)
    return pid, time.monotonic()


def used(users):
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True


def keep(folder, listener):
    with open(folder / 'users', 'w', encoding='ascii') as users:
        daemon, since = launch(listener)
        while used(users):
            time.sleep(0.1)
            if os.waitpid(daemon, os.WNOHANG)[0]:
                if time.monotonic() - since < 1:
                    return  # it cannot work
                daemon, since = launch(listener)
        (folder / 'socket').unlink()  # who comes now waits for `users`, and starts a keeper
        os.kill(daemon, signal.SIGTERM)
        os.waitpid(daemon, 0)


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / 'socket').unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / 'socket'))
    listener.listen(128)
    if os.fork() == 0:  # its parent ends: the socket is there
        os.setsid()
        keep(folder, listener)


if __name__ == '__main__':
    main()
