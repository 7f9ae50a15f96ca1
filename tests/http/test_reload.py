# SPDX-License-Identifier: MIT
"""SIGHUP: a good configuration is taken over between requests, a bad one changes nothing."""

import os
import pathlib
import re
import signal
import threading

import pytest
import requests

import daemon
import pictures
import wire
from problems import check_problem

OLD, NEW = 'old-token-0123456789', 'new-token-0123456789'


class Files:
    def __init__(self, folder):
        self.tokens = folder / 'tokens'
        self.config = folder / 'blurd.conf'

    def write(self, tokens=(OLD,), **options):
        self.tokens.write_text('\n'.join(tokens) + '\n', encoding='ascii')
        lines = [f'token_file = {self.tokens}'] if tokens else []
        self.config.write_text('\n'.join(lines + [f'{key} = {value}' for key, value in options.items()]) + '\n', encoding='ascii')


@pytest.fixture
def files(tmp_path):
    found = Files(tmp_path)
    found.write()
    return found


def reload(own):
    """Sends the signal and waits until it has been heard; whether all was taken over."""
    before = own.metrics()
    own.signal(signal.SIGHUP)

    def heard():
        now = own.metrics()
        return [now[name] - before[name] for name in ('blurd_reloads_total', 'blurd_reload_failures_total')]

    done = daemon.eventually(lambda: heard() if any(heard()) else None)
    assert done in ([1, 0], [0, 1])
    return done == [1, 0]


def blur(own, token=None, body=None):
    headers = {'Authorization': f'Bearer {token}'} if token else {}
    return own.post('/blur', body or pictures.small_png(), headers=headers)


@pytest.mark.parametrize('what', ('config', 'tokens'))
def test_a_pipe_in_place_of_a_file(start, files, what):
    """A reload does not wait until somebody writes to it."""
    own = start('--config', files.config)
    path = getattr(files, what)
    path.unlink()
    os.mkfifo(path)
    assert not reload(own)
    assert own.wait_for_line('nothing is changed: cannot read the (configuration|token) file .*: it is not a regular file')
    assert blur(own, OLD).status_code == 200
    own.signal()
    assert own.wait(10) == 0


def test_a_port_that_becomes_open_is_announced(start, files):
    own = start('--config', files.config, '--admin-listen', '127.0.0.1', '--admin-port', 0, listen='::')
    admin = int(own.wait_for_line(r'health and metrics on port (\d+)').group(1))

    def warnings():
        return sum(' exposed ' in line for line in own.lines)

    def reloaded(count):
        own.signal(signal.SIGHUP)
        assert daemon.eventually(lambda: own.metrics_of(admin)['blurd_reloads_total'] == count)

    assert warnings() == 0
    files.write(tokens=())
    reloaded(1)
    assert own.wait_for_line('exposed.*takes work') and warnings() == 1
    reloaded(2)
    files.write()
    reloaded(3)
    assert warnings() == 1
    files.write(tokens=())
    reloaded(4)
    assert daemon.eventually(lambda: warnings() == 2)


def test_tokens(start, files):
    own = start('--config', files.config)
    assert [blur(own, token).status_code for token in (OLD, NEW, None)] == [200, 401, 401]
    files.write(tokens=(OLD, NEW))
    assert reload(own)
    assert [blur(own, token).status_code for token in (OLD, NEW, None)] == [200, 200, 401]
    files.write(tokens=(NEW,))
    assert reload(own)
    assert [blur(own, token).status_code for token in (OLD, NEW, None)] == [401, 200, 401]
    files.write(tokens=())
    assert reload(own)
    assert blur(own).status_code == 200
    assert OLD not in '\n'.join(own.lines) and NEW not in '\n'.join(own.lines)


def test_limits_and_log_level(start, files):
    own = start('--config', files.config)
    assert blur(own, OLD).status_code == 200
    assert daemon.eventually(lambda: any(' request ' in line for line in own.lines))  # it comes after the answer
    lines = len([line for line in own.lines if ' request ' in line])
    files.write(max_body='1KiB', log_level='error')
    assert reload(own)
    check_problem(blur(own, OLD, bytes(2000)), 'body-too-large')
    assert len([line for line in own.lines if ' request ' in line]) == lines, 'requests are no longer logged'
    files.write(max_pixels='100')
    assert reload(own)
    check_problem(blur(own, OLD), 'limit-exceeded')
    files.write()
    assert reload(own)
    assert blur(own, OLD).status_code == 200


def test_timeouts_hold_for_connections_that_begin_afterwards(start, files):
    own = start('--config', files.config)
    files.write(header_timeout='300ms')
    assert reload(own)
    with own.connect() as connection:
        connection.send(b'GET /livez HTTP/1.1\r\n')
        check_problem(connection.answer(), 'timeout', says='headers')


@pytest.mark.parametrize('spoil,says', (
    (lambda files: files.config.write_text('max_body = lots\n', encoding='ascii'), 'max_body'),
    (lambda files: files.config.write_text('no_such_option = 1\n', encoding='ascii'), 'no_such_option'),
    (lambda files: files.config.unlink(), 'No such file'),
    (lambda files: files.tokens.write_text('short\n', encoding='ascii'), 'tokens:1'),
    (lambda files: files.tokens.write_text('', encoding='ascii'), 'no token'),
    (lambda files: files.tokens.unlink(), 'tokens'),
    (lambda files: files.config.write_text('max_body = 512MiB\nmemory = 256MiB\n', encoding='ascii'), 'max_body'),
), ids=range(7))
def test_what_is_bad_changes_nothing(start, files, spoil, says):
    own = start('--config', files.config)
    files.write(tokens=(NEW,), max_body='1KiB')
    spoil(files)
    assert not reload(own)
    assert own.wait_for_line(r'error reload .*nothing is changed.*' + re.escape(says))
    assert [blur(own, token).status_code for token in (OLD, NEW)] == [200, 401]
    files.write(tokens=(NEW,))
    assert reload(own)
    assert [blur(own, token).status_code for token in (OLD, NEW)] == [401, 200]


def test_what_needs_a_restart_is_named(start, files):
    own = start('--config', files.config, '--workers', 2)
    files.write(queue='7', connections='9', log_format='json', max_body='2KiB')
    assert reload(own)
    for name in ('queue', 'connections', 'log_format'):
        assert own.wait_for_line(rf'warning reload .*{name} stays .* until a restart')
    check_problem(blur(own, OLD, bytes(3000)), 'body-too-large')
    assert not [line for line in own.lines if 'workers stays' in line], 'flags win, as at the start'


def test_new_limits_must_go_with_what_stays(start, files):
    """memory needs a restart: a body that fits the new one only is refused."""
    files.write(memory='256MiB')
    own = start('--config', files.config)
    files.write(memory='1GiB', max_body='512MiB')
    assert not reload(own)
    assert own.wait_for_line('nothing is changed: max_body is 512MiB.*256MiB')
    assert blur(own, OLD).status_code == 200


def test_the_page_says_what_a_reload_changes():
    table = (daemon.ROOT / 'config/options.def').read_text(encoding='ascii')
    page = (daemon.ROOT / 'docs/configuration.md').read_text(encoding='utf-8')
    rows = {name: when for when, name in re.findall(r'^OPTION\(\w+, (RELOAD|START), (\w+)', table, re.M)}
    assert len(rows) > 40 and all(('A reload changes it.' in line) == (rows[name] == 'RELOAD')
                                  for name, line in re.findall(r'^\| `(\w+)` (.*)$', page, re.M))


def test_under_load(start, files, say):
    """Hundreds of reloads, one in ten bad, while pictures are sent: none fails, and nothing leaks."""
    own = start('--config', files.config)
    stop, outcomes = threading.Event(), []

    def load():
        session = requests.Session()
        while not stop.is_set():
            answer = session.post(own.url('/blur'), pictures.small_png(), headers={'Authorization': f'Bearer {OLD}'},
                                  timeout=30 * daemon.SLOW)
            outcomes.append(answer.status_code)

    threads = [threading.Thread(target=load) for _ in range(3)]
    for thread in threads:
        thread.start()
    good = bad = 0
    descriptors = memory = None
    for i in range(300):
        if i % 10 == 9:
            files.config.write_text('nonsense', encoding='ascii')
            bad += 1
        else:
            files.write(tokens=(OLD, NEW) if i % 2 else (OLD,), max_body=f'{i % 7 + 1}MiB')
            good += 1
        assert reload(own) == (i % 10 != 9)
        if i == 50:
            descriptors, memory = own.descriptors(), own.status('VmRSS')
    stop.set()
    for thread in threads:
        thread.join()
    assert set(outcomes) == {200}, 'a request sees one state or the other'
    grown = own.status('VmRSS') - memory
    say(f'{good} good and {bad} bad reloads, {len(outcomes)} requests, all 200; memory {grown:+d} kB after the first 50')
    allowed = 300 << 10 if daemon.SANITIZED else 4096 * daemon.SLOW  # KiB; the sanitizer keeps freed memory
    assert abs(own.descriptors() - descriptors) <= 6 and grown < allowed


def test_a_reload_during_the_end_is_ignored(start, files):
    own = start('--config', files.config, '--drain-delay', '500ms')
    own.signal()
    assert own.wait_for_line('drain')
    own.signal(signal.SIGHUP)
    assert blur(own, OLD).status_code == 200
    assert own.wait() == 0
