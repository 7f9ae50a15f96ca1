# SPDX-License-Identifier: MIT
"""`blurd run` where something goes wrong: names that collide, disks that are full, daemons that die or lie."""

import contextlib
import itertools
import json
import os
import re
import signal
import socket
import stat
import subprocess
import tarfile
import threading
import time

import pytest

import daemon
import pictures

JOB = 'blur?sigma=2'
OWN = ('--gpus', 'none', '--workers', '1')


def command(*words, own=True):
    return [daemon.BINARY, 'run', JOB, *map(str, words), *(OWN if own else ())]


def run(*words, own=True, wait=60, **more):
    """The finished command; its texts are bytes."""
    if 'input' not in more:
        more.setdefault('stdin', subprocess.DEVNULL)
    return subprocess.run(command(*words, own=own), stdout=more.pop('stdout', subprocess.PIPE), stderr=subprocess.PIPE,
                          timeout=wait * daemon.SLOW, env=daemon.clean_environment(), check=False, **more)


def photo(path, seed=1):
    """Writes a picture, and returns its bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = pictures.jpeg(pictures.photograph(24, 16, 3, seed))
    path.write_bytes(data)
    return data


def tar_of(path, *names):
    with tarfile.open(path, 'w') as tar:
        for number, name in enumerate(names):
            photo(path.with_suffix('.member'), number)
            tar.add(path.with_suffix('.member'), name)
    return path


# --- nothing that was given is replaced ----------------------------------------------------------
def test_an_answer_does_not_replace_another_file_that_was_given(tmp_path):
    """sub/a.jpg has the name a.jpg in the output, which is another original there."""
    before = photo(tmp_path / 'a.jpg', 1)
    photo(tmp_path / 'sub/a.jpg', 2)
    ended = run('sub/a.jpg', 'a.jpg', '-k', '-o', '.', cwd=tmp_path)
    assert ended.returncode == 1 and b'2 failed' in ended.stderr, ended.stderr
    assert (tmp_path / 'a.jpg').read_bytes() == before


@pytest.mark.parametrize('operands', [('in',), ('sub/in', 'in')])
def test_an_answer_does_not_replace_a_file_of_a_folder(tmp_path, operands):
    """The output is around the folder: in/in/a.jpg and sub/in/a.jpg would become in/a.jpg."""
    before = photo(tmp_path / 'in/a.jpg', 1)
    photo(tmp_path / 'in/in/a.jpg', 2)
    photo(tmp_path / 'sub/in/a.jpg', 3)
    ended = run('-r', *operands, '-k', '-o', '.', cwd=tmp_path)
    assert ended.returncode == 1 and b'(itself)' in ended.stderr, ended.stderr
    assert (tmp_path / 'in/a.jpg').read_bytes() == before


def test_what_an_earlier_job_left_is_no_answer(tmp_path):
    """It stays, and tells, since it may be what is to be hidden; --replace takes its place."""
    photo(tmp_path / 'in/sub/a.jpg')
    assert run('-r', 'in', '-o', 'in/out', cwd=tmp_path).returncode == 0
    (tmp_path / 'in/out/sub/a.jpg').write_bytes(b'precious')
    ended = run('-r', 'in', '-o', 'in/out', '-R', 'report', cwd=tmp_path)
    assert ended.returncode == 1 and b'(exists)' in ended.stderr, ended.stderr
    ended = run('-r', 'in', '-o', 'in/out', '-R', 'report', '--resume', cwd=tmp_path)
    assert ended.returncode == 1 and b'(exists)' in ended.stderr, ended.stderr
    assert (tmp_path / 'in/out/sub/a.jpg').read_bytes() == b'precious'
    assert run('-r', 'in', '-o', 'in/out', '--replace', cwd=tmp_path).returncode == 0
    assert (tmp_path / 'in/out/sub/a.jpg').read_bytes() != b'precious'
    assert [p.name for p in (tmp_path / 'in/out').rglob('*.jpg')] == ['a.jpg']


@pytest.mark.parametrize('words', [('--tar',), ()])
def test_a_stream_does_not_replace_its_input(tmp_path, words):
    path = tar_of(tmp_path / 'in', 'a.jpg') if words else tmp_path / 'in'
    before = path.read_bytes() if words else photo(path)
    with path.open('rb') as file:
        ended = run(*words, *(() if words else ('-',)), '-o', path, stdin=file)
    assert ended.returncode == 2 and b'it would be replaced' in ended.stderr, ended.stderr
    assert path.read_bytes() == before
    if words:
        assert run(*words, path, '-o', path).returncode == 2
        assert path.read_bytes() == before


@pytest.mark.parametrize('words', [('a.jpg',), ('a.jpg', '--tar'), ('-',)])
def test_devices_and_folders_are_no_output_files(tmp_path, words):
    """/dev/null would be a file from then on, for a user who may do that."""
    data = photo(tmp_path / 'a.jpg')
    os.mkfifo(tmp_path / 'pipe')
    (tmp_path / 'folder').mkdir()
    for output in ('pipe', *(('folder', 'new/') if words != ('a.jpg',) else ())):
        ended = run(*words, '-o', output, cwd=tmp_path, input=data)
        assert ended.returncode == 2, (output, ended.stderr)
        assert output == 'new/' or b'is no file' in ended.stderr
    assert stat.S_ISFIFO((tmp_path / 'pipe').stat().st_mode)
    assert sorted(p.name for p in tmp_path.iterdir()) == ['a.jpg', 'folder', 'pipe']


def test_what_a_killed_batch_has_left_is_no_input(tmp_path):
    """Its temporary files have numbers for names, as this batch gives them to its own."""
    for number in range(4):
        photo(tmp_path / f'in/.blurd-partial/{number}', number)
        photo(tmp_path / f'in/{number}.jpg', number)
    ended = run('-r', 'in', '-o', 'out', cwd=tmp_path)
    assert ended.returncode == 0 and b'4 done' in ended.stderr, ended.stderr
    assert sorted(p.name for p in (tmp_path / 'out').iterdir()) == ['0.jpg', '1.jpg', '2.jpg', '3.jpg']
    ended = run('-T', '-', '-o', 'out', cwd=tmp_path / 'in', input=b'.blurd-partial/0\n')
    assert ended.returncode == 1 and b'temporary files' in ended.stderr, ended.stderr


# --- what was not done is told -------------------------------------------------------------------
def interrupt(tmp_path, words, first, rest, cwd):
    """Sends SIGINT when the first part of standard input was read, and then the rest."""
    with subprocess.Popen(command(*words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
                          env=daemon.clean_environment()) as process:
        process.stdin.write(first)
        process.stdin.flush()
        time.sleep(1 * daemon.SLOW)
        process.send_signal(signal.SIGINT)
        process.stderr.readline(), process.stderr.readline()  # that it takes no further one
        out, told = process.communicate(rest, timeout=30 * daemon.SLOW)
        return process.returncode, out, told


def test_a_list_that_is_interrupted_is_no_success(tmp_path):
    photo(tmp_path / 'a.jpg')
    code, _, told = interrupt(tmp_path, ('-T', '-', '-o', 'out'), b'a.jpg\n', b'a.jpg\n' * 9, tmp_path)
    assert code == 1, told


@pytest.mark.parametrize('output', ['-', 'out.tar'])
def test_a_tar_that_is_interrupted_has_no_end(tmp_path, output):
    data = tar_of(tmp_path / 'in.tar', *(f'{n}.jpg' for n in range(9))).read_bytes()
    code, out, told = interrupt(tmp_path, ('--tar', '-o', output), data[:4000], data[4000:], tmp_path)
    assert code == 1 and b'members are missing' in told, told
    assert not out.endswith(bytes(1024)) and not (tmp_path / 'out.tar').exists()


def test_a_list_with_zero_bytes(tmp_path):
    """As `find -print0` writes it. Without --null its first name would be the only one."""
    photo(tmp_path / 'a.jpg')
    photo(tmp_path / 'b.jpg')
    ended = run('-T', '-', '-o', 'out', cwd=tmp_path, input=b'a.jpg\0b.jpg\0')
    assert ended.returncode == 1 and b'is --null meant?' in ended.stderr and not list((tmp_path / 'out').iterdir())
    assert run('-T', '-', '--null', '-o', 'out', cwd=tmp_path, input=b'a.jpg\0b.jpg\0').returncode == 0


def test_files_that_a_tar_opens(tmp_path):
    """Members that wait for a slow one before them hold a file each, and the limit is raised."""
    names = [f'{n}.jpg' for n in range(300)]
    tar_of(tmp_path / 'in.tar', *names)
    ended = subprocess.run(['sh', '-c', 'ulimit -S -n 64; exec "$@"', 'sh', *command('--tar', '-j', '32', 'in.tar', '-o', 'out.tar')], cwd=tmp_path,
                           stderr=subprocess.PIPE, env=daemon.clean_environment(), timeout=60 * daemon.SLOW, check=False)
    assert ended.returncode == 0, ended.stderr
    with tarfile.open(tmp_path / 'out.tar') as tar:
        assert tar.getnames() == names


def test_a_dry_run_of_a_tar(tmp_path):
    """Builds with sanitizers see that it keeps no members."""
    tar_of(tmp_path / 'in.tar', *(f'{n}.jpg' for n in range(40)))
    ended = run('--tar', '-n', 'in.tar', cwd=tmp_path)
    assert ended.returncode == 0 and ended.stdout.count(b'\n') == 40, ended.stderr


# --- daemons that are busy, die or lie -----------------------------------------------------------
JPEG = pictures.jpeg(pictures.photograph(24, 16))
NUMBERED = lambda _: 'bytes'  # pytest would make names of all bytes


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


def ask(tmp_path, answers, *words, count=1, **more):
    """Runs a batch with the pictures 0.jpg and so on; returns its end and the server."""
    for number in range(count):
        photo(tmp_path / f'in/{number}.jpg', number)
    with Fake(answers, **more) as fake:
        return run('-r', 'in', '-o', 'out', '-s', fake.url, *words, own=False, cwd=tmp_path), fake


@pytest.mark.parametrize('first', [
    problem(503, more='Retry-After: 0\r\n'), problem(429), problem(502), problem(504), None, (answer(200, JPEG[:100], length=len(JPEG)),),
    (b'HTTP/1.1 503 X\r\nConnection: close\r\n\r\nno length',), (b'HTTP/1.1 502 X\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',),
    (b'HTTP/1.1 200 X\r\nContent-Le',), answer(503, b'x' * 40000)])
def test_it_is_tried_again(tmp_path, first):
    ended, fake = ask(tmp_path, lambda n: first if n < 3 else answer(200, JPEG), '-R', 'report')
    assert ended.returncode == 0 and fake.asked == 3, ended.stderr
    assert (tmp_path / 'out/0.jpg').read_bytes() == JPEG
    assert json.loads((tmp_path / 'report').read_text().splitlines()[1])['tries'] == 3


@pytest.mark.parametrize('status', [400, 401, 404, 413, 422, 204, 301, 500, 501])
def test_it_is_not_tried_again(tmp_path, status):
    ended, fake = ask(tmp_path, lambda n: problem(status, 'why'), '-R', 'report', '-k')
    assert ended.returncode == 1 and fake.asked == 1 and b'(why)' in ended.stderr, ended.stderr
    line = json.loads((tmp_path / 'report').read_text().splitlines()[1])
    assert (line['status'], line['reason'], line['http']) == ('failed', 'why', status)


@pytest.mark.parametrize('said', [
    b'\0' * 1000, b'x' * 200000, b'HTTP/1.1 200 X\r\n' + b'a: b\r\n' * 20000, b'HTTP/2 200\r\n\r\n', b'HTTP/1.1 200 X\r\n\r\n' + JPEG,
    answer(200, JPEG, length='-1'), answer(200, JPEG, length='99999999999999999999'), answer(200, JPEG, 'multipart/mixed; boundary=x'),
    parts(b'no json'), parts(b'{}, "file": "a"'), parts(b'[]'), parts(b'{"a":"\0"}'), parts(b'[' * 99), parts(b''),
    answer(200, b'--x\r\n\r\n{}\r\n--x\r\n\r\n', 'multipart/mixed; boundary=x')], ids=NUMBERED)
def test_what_is_no_answer_ends_the_batch(tmp_path, said):
    ended, _ = ask(tmp_path, lambda n: (said,), '--tries', 2)
    assert ended.returncode == 1 and b'AddressSanitizer' not in ended.stderr, ended.stderr
    assert not list((tmp_path / 'out').iterdir())


@pytest.mark.parametrize('picture', [b'Content-Type: ', b'Content-Type: ' + b'x' * 9000, b'\r\n--x--\r\n', b''], ids=NUMBERED)
def test_pictures_that_look_like_the_form_around_them(tmp_path, picture):
    ended, _ = ask(tmp_path, lambda n: parts(b'{"a":\n1}', picture), '-R', 'report')
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / 'out/0.jpg').read_bytes() == picture
    assert json.loads((tmp_path / 'report').read_text().splitlines()[1])['report'] == {'a': 1}


def test_the_report_of_an_earlier_try_is_dropped(tmp_path):
    ended, _ = ask(tmp_path, lambda n: (parts(b'{"a":1}')[:-40],) if n == 1 else answer(200, JPEG), '-R', 'report')
    assert ended.returncode == 0 and 'report' not in json.loads((tmp_path / 'report').read_text().splitlines()[1])


def test_what_stands_before_the_answer_is_none(tmp_path):
    """Balancers send 408 on a connection that waits. It must not become the answer to the next picture."""
    ended, fake = ask(tmp_path, lambda n: answer(200, JPEG) + problem(408), '-j', 1, count=4)
    assert ended.returncode == 0 and fake.asked == 4, ended.stderr


def test_terminals_do_not_obey_a_daemon(tmp_path):
    ended, _ = ask(tmp_path, lambda n: problem(400, 'a\x1b[2Jb', 'c\x1b]0;d\x07\x9b2J\nblurd: 9 done'))
    assert b'c?]0;d?' in ended.stderr and not any(sign in ended.stderr for sign in (b'\x1b', b'\x07', b'\xc2\x9b', b'\nblurd: 9 done')), ended.stderr


def test_no_digest_of_what_was_not_sent(tmp_path):
    """The daemon is there when the job is checked, and is gone then."""
    photo(tmp_path / '0.jpg')
    with Fake(None) as fake:
        fake.check = lambda n: fake.end() or b'HTTP/1.1 100 Continue\r\n\r\n'
        ended = run('0.jpg', '-o', 'out/', '-s', fake.url, '-R', 'report', '--hash', '--tries', 2, own=False, cwd=tmp_path)
    line = json.loads((tmp_path / 'report').read_text().splitlines()[1])
    assert ended.returncode == 1 and line['reason'] == 'unreachable' and 'sha256' not in line, line


def test_a_daemon_that_is_busy_at_first(tmp_path):
    ended, fake = ask(tmp_path, lambda n: answer(200, JPEG), check=lambda n: problem(503) if n < 3 else b'HTTP/1.1 100 Continue\r\n\r\n')
    assert ended.returncode == 0 and fake.checked == 3, ended.stderr


# --- the own daemon ------------------------------------------------------------------------------
def own_daemon_of(process):
    """Its process, once it is there."""
    children = f'/proc/{process.pid}/task/{process.pid}/children'
    return int(daemon.eventually(lambda: open(children).read().split() or None)[0])


@pytest.mark.parametrize('tries', [1, 5])
def test_a_daemon_that_is_killed_is_replaced(tmp_path, tries):
    """Twice. With a single try the pictures in progress have failed, and no others."""
    data = photo(tmp_path / 'in/0.jpg')
    for number in range(1, 3000):
        (tmp_path / f'in/{number}.jpg').write_bytes(data)
    with subprocess.Popen(command('-r', 'in', '-o', 'out', '-k', '-j', 4, '--tries', tries), cwd=tmp_path, stderr=subprocess.PIPE,
                          env=daemon.clean_environment()) as process:
        for count in (1, 500):
            killed = own_daemon_of(process)
            assert daemon.eventually(lambda count=count: len(list((tmp_path / 'out').glob('*.jpg'))) > count, 20)
            os.kill(killed, signal.SIGKILL)
            assert daemon.eventually(lambda killed=killed: own_daemon_of(process) != killed)
        told = process.communicate(timeout=60 * daemon.SLOW)[1]
    failed = 3000 - len(list((tmp_path / 'out').glob('*.jpg')))
    assert told.count(b'is started again') == 2 and (failed == 0 if tries > 1 else failed <= 16), told


def test_the_daemon_ends_with_its_command(tmp_path):
    with subprocess.Popen(command('-T', '-', '-o', 'out'), cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env=daemon.clean_environment()) as process:
        own = own_daemon_of(process)
        daemon.eventually((tmp_path / 'out').exists)
        process.kill()
    assert daemon.eventually(lambda: not os.path.exists(f'/proc/{own}'))


# --- full disks and reports ----------------------------------------------------------------------
@pytest.fixture
def small(tmp_path):
    """A file system of 32 KiB, where this user may mount one."""
    folder = tmp_path / 'small'
    folder.mkdir()
    if os.geteuid() != 0 or subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=32k', 'none', folder], stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip('no file system can be mounted')
    yield folder
    subprocess.run(['umount', '-l', folder], check=True)


def many(tmp_path, count):
    data = photo(tmp_path / 'in/000.jpg')
    for number in range(1, count):
        (tmp_path / f'in/{number:03}.jpg').write_bytes(data)


def test_a_disk_that_is_full(tmp_path, small):
    many(tmp_path, 100)
    ended = run('-r', 'in', '-o', small / 'out', '-R', 'report', cwd=tmp_path)
    assert ended.returncode == 1 and b'No space left' in ended.stderr and b'not begun' in ended.stderr, ended.stderr
    done = [line for line in map(json.loads, (tmp_path / 'report').read_text().splitlines()[1:]) if line['status'] == 'done']
    assert sorted(p.name for p in (small / 'out').iterdir()) == sorted(line['output'] for line in done) and 0 < len(done) < 100
    assert all((small / 'out' / line['output']).stat().st_size == line['bytes'] for line in done)


def test_a_report_on_a_disk_that_is_full(tmp_path, small):
    """It ends with a whole line, so that a later batch continues there."""
    many(tmp_path, 300)
    ended = run('-r', 'in', '-o', 'out', '-R', small / 'report', cwd=tmp_path)
    assert ended.returncode == 1 and b'cannot write the report: No space left' in ended.stderr, ended.stderr
    lines = (small / 'report').read_bytes().splitlines(keepends=True)
    assert len(lines) > 30 and all(line.endswith(b'}\n') and json.loads(line) for line in lines)
    subprocess.run(['mount', '-o', 'remount,size=1m', small], check=True)
    ended = run('-r', 'in', '-o', 'out', '-R', small / 'report', '--resume', cwd=tmp_path)
    before = int(re.search(rb'(\d+) done before', ended.stderr)[1])
    assert ended.returncode == 0 and 0 < before < len(lines) and f'{300 - before} done,'.encode() in ended.stderr, ended.stderr


def test_a_picture_in_a_pipe_has_no_report(tmp_path):
    data = photo(tmp_path / 'a.jpg')
    for words in (('-', '-o', 'b.jpg'), ('a.jpg', '-o', '-')):
        ended = run(*words, '-R', 'report', cwd=tmp_path, input=data)
        assert ended.returncode == 2 and not (tmp_path / 'report').exists(), ended.stderr


def test_names_in_a_tar_that_are_too_long(tmp_path):
    """They fail, and the others are done."""
    tar_of(tmp_path / 'in.tar', 'a/' * 2046 + 'a', 'b' * 4095, 'c.jpg')
    ended = run('--tar', '-k', 'in.tar', '-o', 'out.tar', cwd=tmp_path)
    assert ended.returncode == 1 and b'3 done' not in ended.stderr, ended.stderr
    with tarfile.open(tmp_path / 'out.tar') as tar:
        assert [name[-14:] for name in tar.getnames()][1:] == ['bbb.error.json', 'c.jpg']


# --- other daemons -------------------------------------------------------------------------------
def test_a_certificate_that_nobody_has_signed(tmp_path, pair):
    photo(tmp_path / 'a.jpg')
    with daemon.Daemon(*OWN, '--tls-cert', pair.certificate, '--tls-key', pair.key) as running:
        ended = run('a.jpg', '-o', 'out/', '-s', f'https://localhost:{running.port}', own=False, cwd=tmp_path)
    assert ended.returncode == 2 and b'the certificate of localhost is not trusted' in ended.stderr, ended.stderr
    assert not (tmp_path / 'out').exists()


def test_tokens(tmp_path):
    photo(tmp_path / 'a.jpg')
    for name in ('right', 'wrong'):
        (tmp_path / name).write_text(name[0] * 20 + '\n')
    with daemon.Daemon(*OWN, '--token-file', tmp_path / 'right') as running:
        for words, code in (((), 2), (('--token-file', 'wrong'), 2), (('--token-file', 'right'), 0)):
            ended = run('a.jpg', '-o', 'out/', '-s', running.url(''), *words, own=False, cwd=tmp_path)
            assert ended.returncode == code, ended.stderr


def test_one_of_two_daemons_goes(tmp_path):
    """All pictures are done by the other one."""
    with Fake(lambda n: answer(200, JPEG)) as stays:
        dies = Fake(lambda n: dies.end() if n == 3 else answer(200, JPEG))
        many(tmp_path, 30)
        ended = run('-r', 'in', '-o', 'out', '-s', f'{stays.url},{dies.url}', '-j', 2, own=False, cwd=tmp_path)
    assert ended.returncode == 0 and len(list((tmp_path / 'out').iterdir())) == 30, ended.stderr
    assert stays.asked > dies.asked


def test_what_is_no_file(tmp_path):
    """Pipes and devices are passed over in folders, and have failed where they are named. A link to nowhere may have been a picture."""
    photo(tmp_path / 'in/a.jpg')
    os.mkfifo(tmp_path / 'in/pipe.jpg')
    os.symlink('/dev/zero', tmp_path / 'in/zero.jpg')
    os.symlink('.', tmp_path / 'in/folder.jpg')
    ended = run('-r', 'in', '-o', 'out', cwd=tmp_path)
    assert ended.returncode == 0 and b'1 done, 0 failed, 3 skipped' in ended.stderr and b'3 no-file' in ended.stderr, ended.stderr
    os.symlink('nowhere', tmp_path / 'in/nowhere.jpg')
    ended = run('-r', 'in', '-k', '-o', 'other', cwd=tmp_path)
    assert ended.returncode == 1 and b'1 done, 1 failed, 3 skipped' in ended.stderr, ended.stderr
    ended = run('in/pipe.jpg', 'in/zero.jpg', '-k', '-o', 'out', cwd=tmp_path)
    assert ended.returncode == 1 and b'2 failed' in ended.stderr, ended.stderr


def test_files_that_vanish(tmp_path):
    """While a batch runs: each that was there is done, and the others are told."""
    many(tmp_path, 20)
    with Fake(lambda n: (tmp_path / 'in/015.jpg').unlink(missing_ok=True) or answer(200, JPEG)) as fake:
        ended = run('-r', 'in', '-o', 'out', '-k', '-j', 1, '-s', fake.url, own=False, cwd=tmp_path)
    assert ended.returncode == 1 and b'015.jpg: No such file' in ended.stderr and b'19 done' in ended.stderr, ended.stderr


def test_files_that_are_written_to(tmp_path):
    many(tmp_path, 3)

    def grow(_):
        with (tmp_path / 'in/001.jpg').open('ab') as file:
            file.write(b'x')
        return answer(200, JPEG)
    with Fake(grow) as fake:
        ended = run('in/001.jpg', '-o', 'out/', '-s', fake.url, own=False, cwd=tmp_path)
    assert ended.returncode == 1 and b'(changed)' in ended.stderr and not list((tmp_path / 'out').iterdir()), ended.stderr


def test_a_read_only_tmp(tmp_path):
    """As in a container whose root cannot be written to."""
    if os.geteuid() != 0:
        pytest.skip('only root can mount')
    data = photo(tmp_path / 'a.jpg')
    inside = 'mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp && exec "$@"'
    own = ['unshare', '--mount', 'bash', '-c', inside, '-', *command('-', own=False)]
    environment = daemon.clean_environment()
    done = subprocess.run(own, input=data, capture_output=True, timeout=60 * daemon.SLOW, check=False, env=environment, cwd='/')
    assert done.returncode == 2 and b'no temporary file in /tmp: Read-only file system; TMPDIR names another folder' in done.stderr
    done = subprocess.run(own, input=data, capture_output=True, timeout=60 * daemon.SLOW, check=False, env={**environment, 'TMPDIR': '/dev/shm'}, cwd='/')
    assert done.returncode == 0 and done.stdout.startswith(b'\xff\xd8')
