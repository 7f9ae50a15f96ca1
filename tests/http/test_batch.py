# SPDX-License-Identifier: MIT
"""blurd run: a job with files, folders, lists and tars."""

import hashlib
import io
import json
import os
import pathlib
import random
import signal
import subprocess
import tarfile
import time

import pytest

import daemon
import evidence
import faces
import pictures

JOB = 'blur?sigma=3'
KILLS = int(os.environ.get('BLURD_KILLS', 8))  # bench/batch.py asks for 50
CUT = pictures.small_jpeg()[:200]


def run(*words, stdin=b'', **more):
    done = subprocess.run([daemon.BINARY, *map(str, words)], input=stdin, capture_output=True, timeout=120 * daemon.SLOW,
                          env=daemon.clean_environment(), check=False, **more)
    assert not daemon.SANITIZER.search(done.stderr.decode('utf-8', 'replace')), done.stderr
    return done.returncode, done.stdout, done.stderr.decode('utf-8', 'backslashreplace')


def lines(path):
    first, *rest = map(json.loads, path.read_text().splitlines())
    assert first['version'] == 1
    return {line['file']: line for line in rest}


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob('*') if path.is_file()}


@pytest.fixture
def tree(tmp_path):
    """{name: bytes}, in the folder in/."""
    made = {'a.jpg': pictures.jpeg(pictures.photograph(120, 80)), 'b.png': pictures.small_png(),
            'sub/a b.JPEG': pictures.small_jpeg(), 'sub/deep/no ending': pictures.jpeg(pictures.photograph(64, 48))}
    for name, data in made.items():
        path = tmp_path / 'in' / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (1e9, 1e9 + len(data)))
    return made


@pytest.fixture
def answers(server, tree):
    """What the daemon answers, under the names that the output has."""
    named = {name if '.' in name else f'{name}.jpg': data for name, data in tree.items()}
    return {name: server.post(f'/{JOB}', data).content for name, data in named.items()}


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
        code, _, said = run('blur?sigma=3', 'a.png', '-o', 'out/', '-s', servers, cwd=tmp_path)
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


# --- tars ----------------------------------------------------------------------------------
def tar_of(members, **more):
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode='w', **more) as made:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.uname = len(data), 1e9, 'someone'
            made.addfile(info, io.BytesIO(data))
    return into.getvalue()


def members_of(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as read:
        return {info.name: read.extractfile(info).read() for info in read if info.isfile()}


@pytest.mark.parametrize('form', (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))
def test_a_tar(tree, answers, form):
    long = 'x/' + 'ü' * (40 if form == tarfile.USTAR_FORMAT else 90) + '.png'
    given = tar_of({**tree, long: tree['b.png']}, format=form)
    code, output, said = run(JOB, '--tar', stdin=given)
    assert code == 0, said
    assert list(members_of(output)) == [name if '.' in name else f'{name}.jpg' for name in members_of(given)]
    assert members_of(output) == {**answers, long: answers['b.png']}
    with tarfile.open(fileobj=io.BytesIO(output)) as read:
        assert {(info.mtime, info.uname) for info in read} == {(1e9, 'someone')}


def test_failures_in_a_tar_are_members(tree, answers, tmp_path):
    given = tar_of({'a.jpg': tree['a.jpg'], 'cut.jpg': CUT, 'label.txt': b'cat', 'b.png': tree['b.png']})
    code, output, said = run(JOB, '-tkR', 'report', stdin=given, cwd=tmp_path)
    assert code == 1 and '2 done, 1 failed, 1 skipped' in said
    made = members_of(output)
    problem = json.loads(made.pop('cut.jpg.error.json'))
    assert (problem['file'], problem['reason'], problem['http']) == ('cut.jpg', 'corrupt-image', 400)
    assert made == {name: answers[name] for name in ('a.jpg', 'b.png')}
    assert list(lines(tmp_path / 'report')) == ['a.jpg', 'cut.jpg', 'label.txt', 'b.png']
    assert members_of(run(JOB, '-tk', '--copy-others', stdin=given)[1])['label.txt'] == b'cat'


def test_a_tar_that_is_not_whole(tree, tmp_path):
    given = tar_of(tree)
    between = given[:given.rindex(b'sub/deep')]  # complete but for its last member and its end
    for cut in (between, given[:700], b''):
        code, _, said = run(JOB, '-tq', '-o', 'out.tar', stdin=cut, cwd=tmp_path)
        assert code == 1 and ('the tar is cut' in said or 'the input is empty' in said), said
        assert os.listdir(tmp_path) == ['in'], 'what is not whole has no name'
        code, output, _ = run(JOB, '-tq', stdin=cut)
        assert code == 1 and not output.endswith(bytes(1024))
    code, _, said = run(JOB, '-tq', stdin=given + given)
    assert code == 1 and 'a second tar follows' in said
    code, output, _ = run(JOB, '-tq', stdin=tar_of({'a.jpg': tree['a.jpg'], 'cut.jpg': CUT}))
    assert code == 1 and not output.endswith(bytes(1024))


def test_a_tar_by_name(tree, answers, tmp_path):
    (tmp_path / 'in.tar').write_bytes(tar_of(tree))
    assert run(JOB, '--tar', 'in.tar', '-o', 'out.tar', cwd=tmp_path)[0] == 0
    assert members_of((tmp_path / 'out.tar').read_bytes()) == answers


# --- what kills it -------------------------------------------------------------------------
@pytest.fixture
def many(tmp_path):
    folder = tmp_path / 'in'
    folder.mkdir()
    for number in range(300):
        (folder / f'{number:03}.jpg').write_bytes(pictures.with_segments(pictures.small_jpeg(), (0xFE, b'%03d' % number)))
    return folder


def test_killed_at_any_moment(many, server, tmp_path):
    """Every answer is whole or not there, and none is done twice but those in flight."""
    words = [daemon.BINARY, JOB, 'in', '-rq', '-o', 'out', '-R', 'report', '--resume', '-j4']
    drawn = random.Random(4)
    expected = {path.name: server.post(f'/{JOB}', path.read_bytes()).content for path in many.iterdir()}
    done, twice = 0, 0
    for _ in range(KILLS):
        process = subprocess.Popen(words, cwd=tmp_path, env=daemon.clean_environment(), stderr=subprocess.DEVNULL)
        time.sleep(drawn.uniform(0.02, 0.25) * daemon.SLOW)  # the moment is what is tried
        process.send_signal(signal.SIGKILL)
        process.wait()
        there = {name: data for name, data in files(tmp_path / 'out').items() if not name.startswith('.blurd-partial/')} if done or (tmp_path / 'out').exists() else {}
        assert all(expected[name] == data for name, data in there.items())
        if (tmp_path / 'report').exists():
            whole = [line for line in (tmp_path / 'report').read_bytes().split(b'\n')[1:-1]]
            names = [json.loads(line)['file'] for line in whole]
            twice = len(names) - len(set(names))
            assert set(names) <= set(there)
            done = len(there)
            if done == len(expected):
                (tmp_path / 'report').unlink()
                for name in there:
                    (tmp_path / 'out' / name).unlink()
    assert run(*words[1:], cwd=tmp_path)[0] == 0
    assert files(tmp_path / 'out') == expected and twice == 0


def daemon_of(process):
    """The daemon that a batch has started."""
    children = pathlib.Path(f'/proc/{process.pid}/task/{process.pid}/children')
    return daemon.eventually(lambda: children.read_text().split())


def test_nothing_is_left_when_it_is_killed(many, tmp_path):
    process = subprocess.Popen([daemon.BINARY, 'blur?sigma=50', 'in', '-rq', '-o', 'out'], cwd=tmp_path, env=daemon.clean_environment())
    child = daemon_of(process)[0]
    process.kill()
    process.wait()
    assert daemon.eventually(lambda: not pathlib.Path(f'/proc/{child}').exists())


def test_a_daemon_that_ends_is_started_again(many, server, tmp_path):
    process = subprocess.Popen([daemon.BINARY, JOB, 'in', '-r', '-o', 'out', '-R', 'report'], cwd=tmp_path, env=daemon.clean_environment(),
                               stderr=subprocess.PIPE, text=True)
    daemon.eventually(lambda: (tmp_path / 'report').exists())
    os.kill(int(daemon_of(process)[0]), signal.SIGKILL)
    said = process.communicate(timeout=60 * daemon.SLOW)[1]
    assert process.returncode == 0 and '300 done, 0 failed' in said, said
    assert files(tmp_path / 'out') == {path.name: server.post(f'/{JOB}', path.read_bytes()).content for path in many.iterdir()}


def test_a_signal_ends_it_in_order(many, tmp_path):
    process = subprocess.Popen([daemon.BINARY, JOB, 'in', '-r', '-j1', '-o', 'out', '-R', 'report'], cwd=tmp_path, env=daemon.clean_environment(),
                               stderr=subprocess.PIPE, text=True)
    daemon.eventually(lambda: (tmp_path / 'out/000.jpg').exists())
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60 * daemon.SLOW)[1]
    assert process.returncode == 1 and ' not begun in ' in said and ' 0 failed' in said
    assert set(files(tmp_path / 'out')) == set(lines(tmp_path / 'report'))


# --- the manual ----------------------------------------------------------------------------
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
