# SPDX-License-Identifier: MIT
"""blurd run --tar: a tar in, a tar out."""

import io
import json
import os
import tarfile

import pytest

from batches import CUT, JOB, answers, lines, members_of, run, tar_of, tree  # noqa: F401 (fixtures)


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
    report = lines(tmp_path / 'report')
    assert list(report) == ['a.jpg', 'cut.jpg', 'label.txt', 'b.png'] and report['a.jpg']['size'] == len(tree['a.jpg'])
    assert report['a.jpg']['mtime'] == '1000000000.000000000'
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


def test_two_members_of_one_name(tree):
    """A name that is given twice stays so; one that an answer gets by its ending is not another's."""
    given = tar_of({'a': tree['b.png'], 'a.png': tree['b.png'], 'c.png': tree['b.png']})
    code, output, said = run(JOB, '-tk', stdin=given)
    assert code == 1 and '(same-name)' in said and list(members_of(output)) == ['a.png', 'a.png.error.json', 'c.png']
    twice = tar_of([('a.png', tree['b.png']), ('a.png', tree['b.png'])])
    code, output, said = run(JOB, '-t', stdin=twice)
    assert code == 0, said
    with tarfile.open(fileobj=io.BytesIO(output)) as read:
        assert read.getnames() == ['a.png', 'a.png']


def test_a_tar_by_name(tree, answers, tmp_path):
    (tmp_path / 'in.tar').write_bytes(tar_of(tree))
    assert run(JOB, '--tar', 'in.tar', '-o', 'out.tar', cwd=tmp_path)[0] == 0
    assert members_of((tmp_path / 'out.tar').read_bytes()) == answers
