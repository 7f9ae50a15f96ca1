# SPDX-License-Identifier: MIT
"""`blurd run` where daemons are busy, die or lie."""

import json
import os
import signal
import subprocess

import pytest

import daemon
from fake_daemon import Fake, JPEG, answer, parts, problem
from small_batches import OWN, command, many, photo, run

NUMBERED = lambda _: 'bytes'  # pytest would make names of all bytes


# --- daemons that are busy, die or lie -----------------------------------------------------------
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
