# SPDX-License-Identifier: MIT
"""`blurd run` where something goes wrong: names that collide, disks that are full, daemons that die or lie."""

import os
import signal
import stat
import subprocess
import tarfile
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


def test_a_second_batch_replaces_the_answers_of_the_first(tmp_path):
    photo(tmp_path / 'in/sub/a.jpg')
    for _ in range(2):
        assert run('-r', 'in', '-o', 'in/out', cwd=tmp_path).returncode == 0
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
