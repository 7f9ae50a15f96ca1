# SPDX-License-Identifier: MIT
"""What Cloud Run and Knative ask of a container, clause by clause, in the order of the table in docs/serverless.md, which names these tests."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import pytest

import daemon
import pictures
import wire
from test_serverless import PAGE, free_port

SECONDS = 10  # between SIGTERM and SIGKILL
STARTS = 9
CLOUD_RUN = dict(re.findall(r'BLURD_(\w+)=([^,\s]+)', re.search(r'--set-env-vars (BLURD_GPUS=none\S+)', PAGE)[1]))
CONCURRENCY = int(re.search(r'--cpu 4 .*--concurrency (\d+)', PAGE)[1])
JPEG = pictures.small_jpeg()


def environment(**more):
    """What the line of gcloud sets, and `more`."""
    return daemon.clean_environment(**{f'BLURD_{name}': value for name, value in CLOUD_RUN.items()}, **more)


@contextlib.contextmanager
def container(*arguments, **variables):
    """(process, port) of a program that is told its port by the environment alone, as a platform runs it. Its log is a file."""
    port = free_port()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen([daemon.BINARY, *arguments], stdin=subprocess.DEVNULL, stderr=log, env=environment(PORT=str(port), **variables))
        process.said = lambda: os.pread(log.fileno(), 1 << 20, 0).decode()
        try:
            yield process, port
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(30 * daemon.SLOW) == 0, process.said()


def connect(port, address='127.0.0.1'):
    """As soon as it listens."""
    until = time.monotonic() + 20 * daemon.SLOW
    while True:
        try:
            return socket.create_connection((address, port), 20 * daemon.SLOW)
        except ConnectionRefusedError:
            assert time.monotonic() < until, f'nothing listens on {address} port {port}'
            time.sleep(0.001)


def ready(port, address='127.0.0.1'):
    with connect(port, address) as connection:
        connection.sendall(wire.message('GET', '/readyz', headers=['Connection: close']))
        return connection.recv(1 << 16).startswith(b'HTTP/1.1 200 ')


@pytest.fixture(scope='module')
def running():
    """A daemon with the variables of the page."""
    with daemon.Daemon('--workers', 4, environment=environment()) as own:
        yield own


# --- the table --------------------------------------------------------------------------------------
def test_the_page_names_each_test():
    rows = re.findall(r'^\| .*`(test_\w+)` \|$', PAGE, re.M)
    here = [name for name in globals() if name.startswith('test_') and name != 'test_the_page_names_each_test']
    assert rows == here


def test_port():
    with container() as (_, port):
        assert ready(port)
    other = free_port()
    with container(BLURD_PORT=str(other)) as (_, port):
        assert ready(other)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(('127.0.0.1', port), 5)
    third = free_port()
    with container('--port', str(third), BLURD_PORT=str(other)):
        assert ready(third)


def test_all_addresses():
    """127.0.0.2 is another address of this host than 127.0.0.1: what listens on the latter alone does not answer there."""
    with container() as (_, port):
        assert ready(port, '127.0.0.1') and ready(port, '127.0.0.2')
        with contextlib.suppress(OSError):  # a host without IPv6
            probe = socket.socket(socket.AF_INET6)
            probe.bind(('::1', 0))
            assert ready(port, '::1')


def files_of(process):
    """What of the disk it has mapped."""
    return {pathlib.Path(path) for path in re.findall(r'(/\S+)$', pathlib.Path(f'/proc/{process.pid}/maps').read_text(), re.M) if os.path.isfile(path)}


def forget(paths):
    """Drops the files from the page cache, where no process maps these pages."""
    for path in paths:
        with open(path, 'rb') as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def start_times(before):
    """Milliseconds from the start to the first 200 of /readyz, sorted."""
    times = []
    for _ in range(STARTS):
        before()
        begin = time.monotonic()
        with container() as (_, port):
            assert ready(port)
            times.append((time.monotonic() - begin) * 1000)
    return sorted(times)


def test_startup(say):
    with tempfile.TemporaryDirectory(prefix='blurd-start-') as folder:
        binary = pathlib.Path(folder) / 'blurd'  # a copy, which no other daemon maps
        shutil.copy(daemon.BINARY, binary)
        os.sync()
        kept, daemon.BINARY = daemon.BINARY, str(binary)
        try:
            with container() as (process, port):
                assert ready(port)
                used = files_of(process)
            for name, before in (('warm', lambda: None), ('cold', lambda: forget(used))):
                times = start_times(before)
                say(f'{name} page cache: /readyz after {statistics.median(times):.1f} ms, from {times[0]:.1f} to {times[-1]:.1f} ms')
                assert statistics.median(times) < 500 * daemon.SLOW
        finally:
            daemon.BINARY = kept


def test_keep_alive(running):
    with running.connect() as connection:
        for _ in range(3):
            connection.send(wire.message('POST', '/blur?sigma=2', JPEG))
            answer = connection.answer()
            assert answer.status == 200 and answer.header('Connection') != 'close'


@pytest.mark.parametrize('headers', (['User-Agent: kube-probe/1.33'], ['User-Agent: Knative-Ingress-Probe', 'K-Network-Probe: probe'],
                                     ['User-Agent: kube-probe/1.33', 'K-Kubelet-Probe: queue'], ['User-Agent: GoogleHC/1.0']),
                         ids=('kubelet', 'network', 'queue-proxy', 'health check'))
def test_probes(running, headers):
    for path in ('/readyz', '/livez', '/'):
        with running.connect() as connection:
            connection.send(wire.message('GET', path, headers=headers))
            assert connection.answer().status == 200


def ask_at_once(own, count, side=200):
    """The statuses of so many requests, which are all received before the first is answered: the last byte of each is held back."""
    connections = [own.connect(60) for _ in range(count)]
    message = wire.message('POST', '/blur?sigma=3', pictures.slow_png(side))
    with contextlib.ExitStack() as stack:
        for connection in connections:
            stack.enter_context(connection).send(message[:-1])
        assert daemon.eventually(lambda: own.metrics()['blurd_requests_in_flight'] == count + 1)
        for connection in connections:
            connection.send(message[-1:])
        return [connection.answer().status for connection in connections]


def test_concurrency(start):
    """As many as the platform sends are answered, and those beyond, which it would hold back, wait in the daemon. With --queue they are refused."""
    own = start('--workers', 4, '--queue-target', '1m', environment=environment())  # other tests have the cores
    assert ask_at_once(own, CONCURRENCY) == [200] * CONCURRENCY
    assert ask_at_once(own, 4 * CONCURRENCY) == [200] * 4 * CONCURRENCY
    few = start('--workers', 1, '--queue', 1, environment=environment())
    statuses = ask_at_once(few, CONCURRENCY, 600)
    assert set(statuses) == {200, 503}, statuses


def test_sigterm(start):
    own = start('--workers', 1, environment=environment())
    message = wire.message('POST', pictures.SLOW_QUERY, pictures.slow_png(600))
    with own.connect() as first, own.connect() as second:
        first.send(message)
        second.send(message)
        assert daemon.eventually(lambda: own.metrics()['blurd_requests_in_flight'] == 3)
        begin = time.monotonic()
        own.signal()
        assert [first.answer().status, second.answer().status] == [200, 200]
    assert own.wait() == 0 and time.monotonic() - begin < SECONDS * daemon.SLOW
    limit = re.fullmatch(r'(\d+)s', CLOUD_RUN['DRAIN_TIMEOUT'])
    assert int(limit[1]) < SECONDS, 'the daemon gives up before the platform does'


def wrapped(*inner, user):
    """In front of a program: a root that is read-only but for /tmp, and a user that no file knows."""
    outer = ['setpriv', '--reuid', str(user), '--regid', '0', '--clear-groups'] if os.getuid() == 0 else []
    return [*outer, 'bwrap', '--ro-bind', '/', '/', '--tmpfs', '/tmp', '--proc', '/proc', '--dev', '/dev', '--unshare-user', '--uid', str(user),
            '--gid', '0', '--cap-drop', 'ALL', '--die-with-parent', *inner]


def test_user_and_file_system():
    user = 1000730000  # as OpenShift draws them
    if not shutil.which('bwrap') or subprocess.run(wrapped('true', user=user), capture_output=True, check=False).returncode:
        pytest.skip('no bubblewrap, or no name spaces for it')
    with tempfile.TemporaryDirectory(prefix='blurd-user-', dir='/var/tmp') as folder:
        os.chmod(folder, 0o755)
        shutil.copy(daemon.BINARY, folder)
        port = free_port()
        process = subprocess.Popen(wrapped(f'{folder}/blurd', user=user), stderr=subprocess.PIPE, env=environment(PORT=str(port)))
        try:
            assert ready(port)
            children = pathlib.Path(f'/proc/{process.pid}/task/{process.pid}/children').read_text().split()
            found = pathlib.Path(f'/proc/{children[0]}/status').read_text()
            assert re.search(rf'^Uid:\s+{user if os.getuid() == 0 else os.getuid()}\b', found, re.M)
            with connect(port) as connection:
                connection.sendall(wire.message('POST', '/blur?sigma=2', JPEG, headers=['Connection: close']))
                assert connection.recv(1 << 16).startswith(b'HTTP/1.1 200 ')
            os.kill(int(children[0]), signal.SIGTERM)
            assert process.wait(20 * daemon.SLOW) == 0
        finally:
            process.kill()
            process.communicate()


# --- gVisor -------------------------------------------------------------------------------------------
REFUSER = '''
import ctypes, os, struct, sys
calls = {444: 38, 317: 38}  # landlock_create_ruleset and seccomp: ENOSYS
program = [(0x20, 0, 0, 0)]
for call, error in calls.items():
    program += [(0x15, 0, 1, call), (0x06, 0, 0, 0x50000 | error)]
program += [(0x15, 0, 3, 157), (0x20, 0, 0, 16), (0x15, 0, 1, 22), (0x06, 0, 0, 0x50000 | 22)]  # prctl(PR_SET_SECCOMP): EINVAL
program += [(0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
class Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("lines", ctypes.c_void_p)]
libc = ctypes.CDLL(None, use_errno=True)
zero = ctypes.c_ulong(0)
if libc.prctl(38, ctypes.c_ulong(1), zero, zero, zero) or libc.prctl(22, ctypes.c_ulong(2), ctypes.byref(Program(len(program), ctypes.addressof(code)))):
    sys.exit("no filter: " + os.strerror(ctypes.get_errno()))
os.execv(sys.argv[1], sys.argv[1:])
'''


@pytest.mark.skipif(os.uname().machine != 'x86_64', reason='the filter has the numbers of x86-64')
def test_without_landlock_and_seccomp(start):
    """As on a kernel that has neither. `auto` goes on and says what is missing, `on` does not start."""
    through = (sys.executable, '-c', REFUSER)
    own = start(environment=environment(), through=through)
    said = [line['message'] for line in map(json.loads, own.lines) if line['event'] == 'sandbox']
    assert said[0].startswith('no Landlock: ') and not any('by a list of' in line for line in said), said
    for query in ('sigma=2', 'sigma=2&format=avif'):  # the latter's encoder has a process of its own
        answer = own.post(f'/blur?{query}', JPEG)
        assert answer.status_code == 200, answer.text
    strict = subprocess.run([*through, daemon.BINARY, '--port', '0', '--sandbox', 'on'], capture_output=True, text=True, timeout=20 * daemon.SLOW,
                            env=daemon.clean_environment(), check=False)
    assert strict.returncode != 0 and 'sandbox' in strict.stderr, strict.stderr


# --- requests ---------------------------------------------------------------------------------------
def line_of(own, name):
    """The line of the log of the request with that id."""
    assert own.wait_for_line(name)
    found, = [json.loads(line) for line in own.lines if name in line]
    return found


def test_headers_of_proxies(running):
    """They change neither the answer nor what the log says of the client."""
    forged = {'X-Forwarded-For': '203.0.113.7', 'X-Forwarded-Proto': 'https', 'Forwarded': 'for=203.0.113.7;proto=https', 'X-Forwarded-Host': 'a.example'}
    plain, other = (running.post('/blur?sigma=2', JPEG, headers={'X-Request-Id': name, **more}) for name, more in (('plain-1', {}), ('forwarded-1', forged)))
    assert plain.status_code == other.status_code == 200 and plain.content == other.content
    assert '203.0.113.7' not in json.dumps(line_of(running, 'forwarded-1'))


def test_traces(running):
    trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    running.post('/blur?sigma=2', JPEG, headers={'X-Request-Id': 'traced-1', 'traceparent': f'00-{trace}-00f067aa0ba902b7-01',
                                                 'X-Cloud-Trace-Context': f'{trace}/67667974448284343;o=1'})
    assert line_of(running, 'traced-1')['trace_id'] == trace
    assert running.post('/blur?sigma=2', JPEG, headers={'X-Cloud-Trace-Context': 'x' * 4000}).status_code == 200


def test_size_of_requests(running):
    """The daemon's limit is below the platform's, so that its own problem document says it; chunks end at the same limit."""
    code, output, _ = daemon.run('--check-config', environment=environment())
    limit = re.search(r'^max_body = (\d+)MiB$', output, re.M)
    assert code == 0 and int(limit[1]) <= 32
    with running.connect() as connection:
        connection.send(wire.message('POST', '/blur', length=False, headers=[f'Content-Length: {(int(limit[1]) << 20) + 1}', 'Expect: 100-continue']))
        assert connection.answer().status == 413
    with running.connect() as connection:
        connection.send(wire.message('POST', '/blur?sigma=2', wire.chunked(JPEG, 1000), headers=['Transfer-Encoding: chunked'], length=False))
        assert connection.answer().status == 200


def test_logs(start):
    own = start(environment=environment())
    own.post('/blur?sigma=2', b'no picture')
    own.signal()
    assert own.wait() == 0
    lines = [json.loads(line) for line in own.lines]
    assert len(lines) >= 4 and all(line['severity'] in ('DEBUG', 'INFO', 'WARNING', 'ERROR') and line['severity'] == line['level'].upper() for line in lines)
    assert all(re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z', line['time']) for line in lines)


def memory_group():
    """A folder for groups with limits of memory; None where there is none that can be written."""
    for root in ('/sys/fs/cgroup/memory', '/sys/fs/cgroup'):
        for limit in ('memory.limit_in_bytes', 'memory.max'):
            folder = pathlib.Path(root) / f'blurd-test-{os.getpid()}'
            with contextlib.suppress(OSError):
                folder.mkdir()
                if (folder / limit).exists():
                    return folder, limit
                folder.rmdir()
    return None


def test_memory():
    """`memory` follows the limit of the container, and is not that of the host."""
    found = memory_group()
    if not found:
        pytest.skip('no group with a limit of memory can be made here')
    folder, limit = found
    try:
        (folder / limit).write_text(str(512 << 20))
        enter = ['bash', '-c', f'echo $$ >{folder}/cgroup.procs && exec "$@"', '-', daemon.BINARY, '--check-config']
        done = subprocess.run(enter, capture_output=True, text=True, timeout=20 * daemon.SLOW, env=environment(), check=False)
        told = re.search(r'^memory = (\d+)([KMG]iB)\b', done.stdout, re.M)
        assert told and 0 < int(told[1]) * {'KiB': 1 / 1024, 'MiB': 1, 'GiB': 1024}[told[2]] <= 512, done.stdout + done.stderr
    finally:
        folder.rmdir()
