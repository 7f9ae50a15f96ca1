# SPDX-License-Identifier: MIT
"""The daemon needs few rights: it runs as the user nobody, without capabilities, on a read-only file system."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import pytest

import daemon
import pictures

NOBODY = 65534


def fields(pid):
    """/proc/PID/status as a dictionary."""
    lines = pathlib.Path(f'/proc/{pid}/status').read_text().splitlines()
    return {key: value.strip() for key, _, value in (line.partition(':') for line in lines)}


def tasks(pid):
    return [fields(f'{pid}/task/{task}') for task in os.listdir(f'/proc/{pid}/task')]


def test_every_thread_is_closed_in(start):
    own = start()
    for each in tasks(own.process.pid):
        assert each['NoNewPrivs'] == '1' and each['Seccomp'] == '2', each['Name']
    assert own.wait_for_line(r'sandbox message="system calls by a list of \d+ instructions; Landlock \d+; files are read in: none')


def test_off_leaves_all_open(start):
    own = start('--sandbox', 'off')
    assert {each['Seccomp'] + each['NoNewPrivs'] for each in tasks(own.process.pid)} == {'00'}
    assert own.post('/blur?sigma=2', pictures.small_png()).status_code == 200


def test_on_starts_where_all_is_there(start):
    if 'Landlock 0' in start().wait_for_line('sandbox message=.*').group(0):
        pytest.skip('this kernel has no Landlock')
    assert start('--sandbox', 'on').get('/livez').status_code == 200


def test_a_folder_of_several_files_is_named_once(start, tmp_path):
    (tmp_path / 'tokens').write_text('token-0123456789abcdef\n')
    (tmp_path / 'blurd.conf').write_text(f'token_file = {tmp_path}/tokens\n')
    assert start('--config', tmp_path / 'blurd.conf').wait_for_line(f'files are read in: {re.escape(str(tmp_path))}"')


def test_on_does_not_go_with_a_single_process():
    code, _, log = daemon.run('--port', 0, '--sandbox', 'on', '--single-process', 'yes')
    assert code == 78 and 'single_process' in log


def test_no_core_dumps(start, tmp_path):
    own = start()
    limits = pathlib.Path(f'/proc/{own.process.pid}/limits').read_text()
    assert re.search(r'Max core file size +0 +0 ', limits)
    own.may_end_with = (-signal.SIGSEGV, 1, 66)  # the others are a sanitizer's
    own.signal(signal.SIGSEGV)
    own.wait()
    own.lines.clear()  # a sanitizer's report is expected here


def test_files_elsewhere_are_not_read_at_reload(start, tmp_path):
    """A configuration that names a token file in a folder that no file was in at the start."""
    if daemon.SANITIZED:
        pytest.skip('the leak detector has to open files')
    here, there = tmp_path / 'here', tmp_path / 'there'
    for folder in here, there:
        folder.mkdir()
        (folder / 'tokens').write_text('token-0123456789abcdef\n')
    config = here / 'blurd.conf'
    config.write_text(f'token_file = {here}/tokens\n')
    own = start('--config', config)
    if 'Landlock 0' in own.wait_for_line('sandbox message=.*').group(0):
        pytest.skip('this kernel has no Landlock')
    config.write_text(f'token_file = {there}/tokens\n')
    own.signal(signal.SIGHUP)
    assert own.wait_for_line('nothing is changed: cannot read the token file .*there/tokens: Permission denied')


# --- as nobody, on a read-only root --------------------------------------------------------------
class Confined(daemon.Daemon):
    """The daemon under bubblewrap: no name space of processes, so that it can be signalled."""

    def __init__(self, folder, *options):
        self.inner = 0
        binary = folder / 'blurd'
        shutil.copy(daemon.BINARY, binary)
        outer = ['setpriv', '--reuid', str(NOBODY), '--regid', str(NOBODY), '--clear-groups'] if os.getuid() == 0 else []
        wrap = ['bwrap', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--unshare-user', '--uid', str(NOBODY), '--gid',
                str(NOBODY), '--cap-drop', 'ALL', '--die-with-parent', '--chdir', '/', str(binary)]
        launcher = folder / 'launch'
        launcher.write_text('#!/bin/sh\nexec ' + ' '.join(outer + wrap) + ' "$@"\n')
        launcher.chmod(0o755)
        kept, daemon.BINARY = daemon.BINARY, str(launcher)
        try:
            super().__init__(*options)
        finally:
            daemon.BINARY = kept
        self.inner = next(int(name) for name in os.listdir('/proc') if name.isdigit() and is_child(name, self.process.pid))

    def signal(self, number=signal.SIGTERM):
        os.kill(self.inner, number)


def is_child(name, parent):
    try:
        return int(fields(name)['PPid']) == parent and fields(name)['Name'] == 'blurd'
    except OSError:
        return False


def may_be_confined():
    if not shutil.which('bwrap') or not shutil.which('setpriv'):
        return False
    outer = ['setpriv', '--reuid', str(NOBODY), '--regid', str(NOBODY), '--clear-groups'] if os.getuid() == 0 else []
    tried = [*outer, 'bwrap', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--unshare-user', '--uid', str(NOBODY), 'true']
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not may_be_confined(), reason='no bubblewrap, or no name spaces for it')
def test_as_nobody_on_a_read_only_root(server):
    with tempfile.TemporaryDirectory(prefix='blurd-confined-') as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        tokens = folder / 'tokens'
        tokens.write_text('token-0123456789abcdef\n')
        with Confined(folder, '--token-file', tokens) as own:
            state = fields(own.inner)
            assert state['CapEff'].strip('0') == '' and state['CapBnd'].strip('0') == '' and state['NoNewPrivs'] == '1'
            assert os.getuid() != 0 or state['Uid'].split()[0] == str(NOBODY)
            header = {'Authorization': 'Bearer token-0123456789abcdef'}
            for body in pictures.small_png(), pictures.small_jpeg(), pictures.slow_png(300):
                found = own.post('/blur?sigma=2', body, headers=header)
                assert found.status_code == 200 and found.content == server.post('/blur?sigma=2', body).content
            tokens.write_text('another-0123456789abcdef\n')
            own.signal(signal.SIGHUP)
            assert own.wait_for_line('configuration reloaded')
            assert own.post('/blur?sigma=2', body, headers=header).status_code == 401
            assert own.get('/readyz').status_code == 200
