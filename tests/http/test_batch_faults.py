# SPDX-License-Identifier: MIT
"""`blurd run` where files, disks and signals go wrong: names that collide, disks that are full, commands that are interrupted."""

import json
import os
import re
import signal
import stat
import subprocess
import tarfile
import time

import pytest

import daemon
from small_batches import command, many, photo, run, tar_of


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
