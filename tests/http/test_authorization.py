# SPDX-License-Identifier: MIT
"""--token-file: who may have pictures blurred."""

import pytest

import daemon
import pictures
import wire
from problems import check_problem

FIRST, SECOND = 'first-token-0123456789', 'Second_Token~/+=' + 'x' * 100


@pytest.fixture(scope='module')
def closed(tmp_path_factory):
    path = tmp_path_factory.mktemp('tokens') / 'tokens'
    path.write_text(f'# those who may\n\n{FIRST}\r\n{SECOND}', encoding='ascii')
    with daemon.Daemon('--token-file', path) as running:
        yield running
    assert FIRST not in '\n'.join(running.lines) and SECOND not in '\n'.join(running.lines)


def ask(closed, *headers):
    with closed.connect() as connection:
        connection.send(wire.message('POST', '/blur', pictures.small_png(), headers))
        return connection.answer()


@pytest.mark.parametrize('value', (f'Bearer {FIRST}', f'Bearer {SECOND}', f'bearer {FIRST}', f'BEARER {SECOND}'), ids=range(4))
def test_let_in(closed, value):
    assert ask(closed, ('Authorization', value)).status == 200


@pytest.mark.parametrize('headers', (
    [], [''], ['Bearer'], ['Bearer '], [f'Basic {FIRST}'], [FIRST], [f'Bearer{FIRST}'], [f'Bearer {FIRST[:-1]}'], [f'Bearer {FIRST}x'],
    [f'Bearer {FIRST.upper()}'], [f'Bearer  {FIRST}'], [f'Bearer {FIRST},'], [f'Bearer "{FIRST}"'], [f'Bearer {FIRST} {FIRST}'],
    [f'Bearer {SECOND[:-1]}'], [f'Bearer {"x" * 256}'], [f'Bearer {"x" * 5000}'], ['Bearer # those who may'],
    [f'Bearer {FIRST}', f'Bearer {FIRST}'], [f'Bearer {FIRST}', 'Bearer wrong'], ['Bearer wrong', f'Bearer {FIRST}'],
), ids=range(21))
def test_kept_out(closed, headers):
    answer = ask(closed, *(('Authorization', value) for value in headers))
    check_problem(answer, 'unauthorized')
    assert answer.header('WWW-Authenticate') == 'Bearer'
    assert FIRST.encode() not in answer.body


def test_kept_out_before_the_body_is_sent(closed):
    with closed.connect() as connection:
        connection.send(wire.message('POST', '/blur', headers=['Content-Length: 1000', 'Expect: 100-continue'], length=False))
        check_problem(connection.answer(), 'unauthorized')


def test_operations_need_no_token(closed):
    for target in ('/livez', '/readyz', '/metrics', '/version'):
        assert closed.get(target).status_code == 200


def test_a_token_in_the_query_is_a_parameter_like_any_other(closed):
    answer = closed.post(f'/blur?token={FIRST}x', pictures.small_png())
    check_problem(answer, 'unauthorized')


@pytest.mark.parametrize('content,says', (('', 'no token'), ('# nothing\n\n', 'no token'), ('short\n', 'characters'),
                                          ('x' * 300 + '\n', '256'), ('good-enough-token-1\n' * 65, '64')))
def test_bad_files_stop_the_start(tmp_path, content, says):
    path = tmp_path / 'tokens'
    path.write_text(content, encoding='ascii')
    code, _, log = daemon.run('--port', 0, '--listen', '127.0.0.1', '--token-file', path)
    assert code == 78 and says in log and 'good-enough' not in log


def test_a_missing_file_stops_the_start():
    code, _, log = daemon.run('--port', 0, '--token-file', '/nonexistent/tokens')
    assert code == 78 and '/nonexistent/tokens' in log
