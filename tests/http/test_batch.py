# SPDX-License-Identifier: MIT
"""blurd run: a job with files, folders and lists, and the lines of its manual."""

import hashlib
import json
import os
import pathlib
import subprocess

import pytest

import daemon
import evidence
import faces
import pictures
from batches import CUT, JOB, answers, files, lines, members_of, run, tree  # noqa: F401 (fixtures)


def test_a_folder(tree, answers, tmp_path):
    code, output, said = run('run', JOB, 'in', '--recursive', '-o', 'out', cwd=tmp_path)
    assert (code, output) == (0, b''), said
    assert said.startswith('4 done, 0 failed in ')
    assert files(tmp_path / 'out') == answers
    for name, data in tree.items():
        made = tmp_path / 'out' / (name if '.' in name else f'{name}.jpg')
        assert made.stat().st_mtime == 1e9 + len(data)


def test_it_may_be_short_and_its_options_anywhere(tree, answers, tmp_path):
    code, output, said = run(JOB, '-rqoout', tmp_path / 'in', '--workers=1', cwd=tmp_path)
    assert (code, output, said) == (0, b'', '')
    assert files(tmp_path / 'out') == answers


def test_files_that_are_no_pictures(tree, answers, tmp_path):
    folder = tmp_path / 'in'
    (folder / 'notes.txt').write_text('no picture')
    (folder / '._a.jpg').write_bytes(b'\0\5\x16\7')
    (folder / 'cut.jpg').write_bytes(CUT)
    (folder / 'empty.png').write_bytes(b'')
    code, _, said = run(JOB, 'in', '-r', '-k', '--hash', '-o', 'out', '-R', 'report', cwd=tmp_path)
    assert code == 1 and 'in/cut.jpg: ' in said and '(corrupt-image)' in said
    assert '4 done, 2 failed, 2 skipped in ' in said and '        2 corrupt-image\n' in said and '        2 no-picture\n' in said
    assert files(tmp_path / 'out') == answers
    report = lines(tmp_path / 'report')
    assert {name: line['status'] for name, line in report.items()} == {
        'notes.txt': 'skipped', '._a.jpg': 'skipped', 'cut.jpg': 'failed', 'empty.png': 'failed', **{name: 'done' for name in tree}}
    assert report['cut.jpg']['http'] == 400 and report['cut.jpg']['reason'] == 'corrupt-image'
    for name, data in tree.items():
        line = report[name]
        assert (line['size'], line['sha256']) == (len(data), hashlib.sha256(data).hexdigest())
        assert line['bytes'] == len(answers[line['output']]) and line['tries'] == 1 and line['backend'].startswith('cpu/')


def test_it_stops_at_the_first_failure(tmp_path):
    folder = tmp_path / 'in'
    folder.mkdir()
    for number in range(200):
        (folder / f'{number:03}.png').write_bytes(b'' if number == 0 else pictures.small_png())
    code, _, said = run(JOB, 'in', '-r', '-j1', '-o', 'out', cwd=tmp_path)
    assert code == 1 and '1 failed' in said and '199 not begun' in said
    assert files(tmp_path / 'out') == {}


def test_endings_that_do_not_fit_are_added(server, tmp_path):
    (tmp_path / 'a.png').write_bytes(pictures.small_png())
    assert run('resize?width=8&format=webp', 'a.png', '-o', 'out/', cwd=tmp_path)[0] == 0
    assert run('stats', 'a.png', '-o', 'out/', cwd=tmp_path)[0] == 0
    assert set(files(tmp_path / 'out')) == {'a.png.webp', 'a.png.json'}
    assert files(tmp_path / 'out')['a.png.webp'] == server.post('/resize?width=8&format=webp', pictures.small_png()).content


def test_a_picture_in_a_pipe(server, tmp_path):
    body = pictures.small_jpeg()
    expected = server.post(f'/{JOB}', body).content
    assert run(JOB, '-', stdin=body) == (0, expected, '')
    (tmp_path / 'x.jpg').write_bytes(body)
    assert run(JOB, 'x.jpg', '-o', '-', cwd=tmp_path) == (0, expected, '')
    assert run(JOB, 'x.jpg', '-q', '-o', 'y', cwd=tmp_path) == (0, b'', '') and (tmp_path / 'y').read_bytes() == expected
    code, output, said = run(JOB, '-', stdin=CUT)
    assert (code, output) == (1, b'') and 'corrupt-image' in said


@pytest.mark.parametrize('ends', ('\n', '\0'))
def test_a_list(tree, answers, tmp_path, ends):
    names = ''.join(f'in/{name}{ends}' for name in tree)
    code, _, said = run(JOB, '-q', '-T', '-', '-o', 'out', *(['-0'] if ends == '\0' else []), stdin=names.encode(), cwd=tmp_path)
    assert code == 0, said
    assert files(tmp_path / 'out') == {f'in/{name}': data for name, data in answers.items()}


def test_a_list_cannot_write_elsewhere(tree, tmp_path):
    (tmp_path / 'work').mkdir()
    code, _, said = run(JOB, '-k', '-T', '-', '-o', 'out', stdin=b'../in/a.jpg\n', cwd=tmp_path / 'work')
    assert code == 1 and 'its name would lead out of the output' in said
    assert files(tmp_path / 'work') == {}


def test_two_files_of_one_name(tree, answers, tmp_path):
    (tmp_path / 'b').mkdir()
    (tmp_path / 'b/a.jpg').write_bytes(pictures.small_jpeg())
    code, _, said = run(JOB, '-k', 'in/a.jpg', 'b/a.jpg', '-o', 'out', cwd=tmp_path)
    assert code == 1 and 'b/a.jpg: another file has this name in the output (same-name)' in said
    assert files(tmp_path / 'out') == {'a.jpg': answers['a.jpg']}


def test_several_folders_keep_their_names(tree, answers, tmp_path):
    (tmp_path / 'other').mkdir()
    (tmp_path / 'other/a.jpg').write_bytes(tree['a.jpg'])
    assert run(JOB, '-rq', 'in', 'other/', '-o', 'out', cwd=tmp_path)[0] == 0
    assert files(tmp_path / 'out') == {'other/a.jpg': answers['a.jpg'], **{f'in/{name}': data for name, data in answers.items()}}


@pytest.mark.parametrize('words,says', (
    (['in', '-r', '-o', 'in'], 'in is input and output'),
    (['in', '-o', 'out'], 'in is a folder: --recursive takes what is in it'),
    (['absent', '-o', 'out'], 'absent: No such file'),
    (['in', '-r'], '-o OUT is missing'),
    ([], 'there is nothing to do'),
    (['in', '-r', '-o', 'out', '--resume'], '--resume needs the --report'),
    (['in', '-r', '-o', 'out', '--recursiv'], 'did you mean --recursive?'),
    (['in', '-r', '-o', 'out', '-j', 'x'], '--in-flight is "x", it must be from 0 to 512'),
    (['in', '-r', '-o', 'out', '-s', 'http://h', '--workers', '1'], 'has no effect with --server'),
    (['in', '-r', '-o', 'out', '-s', 'h:80'], '"h:80" is no address of a daemon'),
), ids=range(10))
def test_what_is_wrong_is_said_before_the_first_file(tree, tmp_path, words, says):
    code, output, said = run('run', JOB, *words, cwd=tmp_path)
    assert (code, output) == (2, b'') and says in said
    assert files(tmp_path / 'in') == tree and not (tmp_path / 'out').exists()


@pytest.mark.parametrize('job,says', (
    ('blur?sigma=0', 'sigma is 0, it must be from 0.1 to 500 pixels'),
    ('blur?sgima=3', 'sgima'),
    ('blur?sigma=3 4', 'the job has a blank'),
    ('bulr?sigma=3', '"bulr?sigma=3" is no job'),
    ('verify', '"verify" is no job'),
))
def test_jobs_are_checked_before_the_first_file(tree, tmp_path, job, says):
    code, _, said = run('run', job, 'in', '-r', '-o', 'out', cwd=tmp_path)
    assert code == 2 and says in said and not (tmp_path / 'out').exists()


def test_originals_stay(tree, tmp_path):
    code, _, said = run(JOB, '-k', 'in/a.jpg', '-o', 'in', cwd=tmp_path)
    assert code == 1 and 'the answer would replace this file' in said
    os.link(tmp_path / 'in/b.png', tmp_path / 'in/other.png')
    assert run(JOB, '-k', 'in/b.png', '-o', 'in/other.png', cwd=tmp_path)[0] == 1
    (tmp_path / 'in/other.png').unlink()
    assert files(tmp_path / 'in') == tree


def test_a_dry_run(tree, tmp_path):
    code, output, said = run(JOB, 'in', '-rn', cwd=tmp_path)
    assert code == 0 and said == '4 to do, 0 failed\n'
    assert sorted(output.decode().splitlines()) == sorted(f'in/{name}' for name in tree)
    assert os.listdir(tmp_path) == ['in']


def test_resume(tree, answers, tmp_path):
    words = (JOB, 'in', '-rk', '-o', 'out', '-R', 'report')
    (tmp_path / 'in/c.jpg').write_bytes(CUT)
    assert run(*words, cwd=tmp_path)[0] == 1
    assert 'report: File exists; --resume continues it' in run(*words, cwd=tmp_path)[2]
    (tmp_path / 'in/c.jpg').write_bytes(tree['a.jpg'])        # it failed
    (tmp_path / 'out/b.png').unlink()                         # it is missing
    (tmp_path / 'out/a.jpg').write_bytes(b'short')            # it is not what was written
    (tmp_path / 'in/sub/a b.JPEG').write_bytes(tree['a.jpg'])  # it was changed
    code, _, said = run(*words, '--resume', cwd=tmp_path)
    assert code == 0 and '4 done, 0 failed, 1 done before in ' in said
    assert files(tmp_path / 'out') == {**answers, 'c.jpg': answers['a.jpg'], 'sub/a b.JPEG': answers['a.jpg']}
    assert '0 done, 0 failed, 5 done before' in run(*words, '--resume', cwd=tmp_path)[2]
    code, _, said = run('blur?sigma=4', *words[1:], '--resume', cwd=tmp_path)
    assert code == 2 and 'report is the report of another job: {"job":"blur?sigma=3"' in said


def test_resume_keeps_names_apart(server, tmp_path):
    """An answer with an added ending is not replaced by that to a file of this name."""
    (tmp_path / 'in').mkdir()
    (tmp_path / 'in/a').write_bytes(pictures.small_png())
    words = ('blur?sigma=3', 'in', '-rk', '-o', 'out', '-R', 'report', '--resume')
    assert run(*words, cwd=tmp_path)[0] == 0
    first = files(tmp_path / 'out')
    assert set(first) == {'a.png'}
    (tmp_path / 'in/a.png').write_bytes(pictures.png(pictures.photograph(20, 10)))
    for _ in range(2):
        code, _, said = run(*words, cwd=tmp_path)
        assert code == 1 and 'in/a.png: another file has this name in the output (same-name)' in said and files(tmp_path / 'out') == first
    (tmp_path / 'in/a').write_bytes(pictures.png(pictures.photograph(30, 10)))
    assert run(*words, cwd=tmp_path)[0] == 1 and set(files(tmp_path / 'out')) == {'a.png'} and files(tmp_path / 'out') != first


def test_a_dry_run_of_what_is_left(tree, tmp_path):
    words = (JOB, 'in', '-r', '-o', 'out', '-R', 'report')
    assert '4 to do' in run(*words, '--resume', '-n', cwd=tmp_path)[2] and os.listdir(tmp_path) == ['in']
    assert run(*words, cwd=tmp_path)[0] == 0
    (tmp_path / 'out/b.png').unlink()
    with (tmp_path / 'report').open('ab') as report:
        report.write(b'{"file":')
    before = (tmp_path / 'report').read_bytes()
    assert run(*words, '--resume', '-n', cwd=tmp_path)[1:] == (b'in/b.png\n', '1 to do, 0 failed, 3 done before\n')
    assert (tmp_path / 'report').read_bytes() == before


def test_a_name_that_is_no_text(tmp_path):
    folder = os.fsencode(tmp_path) + b'/in'
    os.mkdir(folder)
    for name in (b'\xff.png', b'line\nend.png', b'"quoted".png'):
        with open(folder + b'/' + name, 'wb') as file:
            file.write(pictures.small_png())
    words = (JOB, 'in', '-r', '-o', 'out', '-R', 'report')
    assert run(*words, cwd=tmp_path)[0] == 0
    assert sorted(os.listdir(os.fsencode(tmp_path) + b'/out')) == sorted(os.listdir(folder))
    assert '0 done, 0 failed, 3 done before' in run(*words, '--resume', cwd=tmp_path)[2]
    assert lines(tmp_path / 'report')['�.png']['file_bytes'] == b'\xff.png'.hex()


def test_running_daemons(tree, answers, tmp_path, server):
    token = tmp_path / 'token'
    token.write_text('a-token-of-sixteen-letters\n')
    token.chmod(0o600)
    with daemon.Daemon('--token-file', token, listen=f'unix:{tmp_path}/s') as own:
        url = f'unix:{tmp_path}/s'
        code, _, said = run(JOB, 'in', '-r', '-o', 'out', '-s', url, cwd=tmp_path)
        assert code == 2 and 'token' in said
        assert run(JOB, 'in', '-r', '-o', 'out', '-s', f'{url},{server.url("")}', '--token-file', token, cwd=tmp_path)[0] == 0
        assert own.process.poll() is None
    assert files(tmp_path / 'out') == answers
    code, _, said = run(JOB, 'in', '-r', '-o', 'out', '-s', url, cwd=tmp_path)
    assert code == 1 and 'cannot connect to' in said


def test_one_of_several_daemons_may_be_away(server, tmp_path):
    (tmp_path / 'a.png').write_bytes(pictures.small_png())
    there = server.url('')
    for servers in (f'unix:{tmp_path}/absent,{there}', f'{there},unix:{tmp_path}/absent'):
        code, _, said = run('blur?sigma=3', 'a.png', '-o', f'{len(servers)}-{servers[:4]}/', '-s', servers, cwd=tmp_path)
        assert code == 0 and f'cannot connect to {tmp_path}/absent' in said
        code, _, said = run('blur?sigma=0', 'a.png', '-o', 'out/', '-s', servers, cwd=tmp_path)
        assert code == 2 and 'sigma is 0' in said


def test_the_daemon_says_how_much_it_wants():
    with daemon.Daemon('--gpus', 'none', '--workers', 3) as own:
        assert own.get('/version').json()['in_flight'] == 6


def test_signed_reports(server, tmp_path):
    key = evidence.make_key(tmp_path, 'tests')
    body = pictures.jpeg(pictures.photograph(120, 80))
    (tmp_path / 'a.jpg').write_bytes(body)
    code, _, said = run('redact?region=8,8,40,40&report=true', 'a.jpg', '-o', 'out/', '-R', 'report', '--report-key', key, cwd=tmp_path)
    assert code == 0, said
    assert (tmp_path / 'out/a.jpg').read_bytes() == server.post('/redact?region=8,8,40,40', body).content
    (tmp_path / 'envelope').write_text(json.dumps(lines(tmp_path / 'report')['a.jpg']['report']))
    trusted = tmp_path / 'trusted'
    trusted.write_bytes(run('--report-key', key, '--report-public-key')[1])
    assert run('verify', '--report-trust', trusted, 'envelope', 'out/a.jpg', 'a.jpg', cwd=tmp_path)[0] == 0


@faces.needed
def test_the_lines_of_the_manual(tmp_path):
    """docs/batch.md, with a folder photos/ and the daemons that its lines name."""
    (tmp_path / 'photos/more').mkdir(parents=True)
    body = faces.photograph()
    (tmp_path / 'photo.jpg').write_bytes(body)
    for name in ('a.jpg', 'more/b.jpg'):
        (tmp_path / 'photos' / name).write_bytes(body)
    text = (daemon.ROOT / 'docs/batch.md').read_text()
    commands = [line[4:] for line in text.splitlines() if line.startswith('    ')]
    assert len(commands) >= 7
    (tmp_path / 'bin').mkdir()
    (tmp_path / 'bin/blurd').symlink_to(pathlib.Path(daemon.BINARY).resolve())
    environment = daemon.clean_environment(PATH=f'{tmp_path}/bin:{os.environ["PATH"]}', BLURD_FACE_MODEL=str(faces.MODEL), BLURD_TEXT_MODEL='none')
    with daemon.Daemon('--face-model', faces.MODEL, listen=f'unix:{tmp_path}/daemon'):
        for command in commands:
            command = command.replace('http://127.0.0.1:8080,http://127.0.0.1:8081', f'unix:{tmp_path}/daemon').replace('faces,text', 'faces')
            done = subprocess.run(['bash', '-c', command], cwd=tmp_path, capture_output=True, timeout=60 * daemon.SLOW, check=False, env=environment)
            assert done.returncode == 0, (command, done.stderr)
    assert set(lines(tmp_path / 'redacted.jsonl')) == {'a.jpg', 'more/b.jpg'}
    assert set(members_of((tmp_path / 'redacted.tar').read_bytes())) == {'photos/a.jpg', 'photos/more/b.jpg'}
