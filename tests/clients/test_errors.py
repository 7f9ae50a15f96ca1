# SPDX-License-Identifier: MIT
"""Errors, and what is tried again."""

import asyncio
import pickle
import socket
import ssl
import subprocess
import time

import blurd
import daemon
import inputs
import pytest
from blurd import errors

LATER = (503, b'{"type":"urn:blurd:problem:overloaded","title":"Overloaded","status":503,"detail":"busy","request_id":"1"}')
SMALL = inputs.gradient()


def soon(seconds='0', status=503):
    return (status, LATER[1], ('Retry-After', seconds))


def both(url, **options):
    """Blurs with each client: the outcomes."""
    with blurd.Client(url, **options) as client:
        yield lambda: client.blur(SMALL).content

    async def ask():
        async with blurd.AsyncClient(url, **options) as asynchronous:
            return (await asynchronous.blur(SMALL)).content

    yield lambda: asyncio.run(ask())


def closed_port():
    with socket.socket() as one:
        one.bind(('127.0.0.1', 0))
        return f'http://127.0.0.1:{one.getsockname()[1]}'


@pytest.mark.parametrize('kind,ask', (
    (blurd.BadParameter, lambda client: client.blur(SMALL, sigma=0)),
    (blurd.CorruptImage, lambda client: client.blur(SMALL[:200])),
    (blurd.CorruptImage, lambda client: client.blur(b'')),
    (blurd.Unsupported, lambda client: client.blur(b'%PDF-1' + bytes(100))),
    (blurd.NoRegion, lambda client: client.redact(SMALL, regions=[])),
    (blurd.BodyTooLarge, lambda client: client.blur(bytes(22 << 20))),
    (blurd.BadParameter, lambda client: client.redact_plan(SMALL)),
), ids=range(7))
def test_kinds(client, kind, ask):
    with pytest.raises(kind) as caught:
        ask(client)
    problem = caught.value
    assert type(problem) is kind and isinstance(problem, blurd.BadRequest) and problem.title and problem.status >= 400 and problem.request_id in str(problem)
    again = pickle.loads(pickle.dumps(problem))
    assert type(again) is kind and (again.type, again.status, again.parameter, str(again)) == (problem.type, problem.status, problem.parameter, str(problem))


def test_the_parameter_is_named(client):
    with pytest.raises(blurd.BadParameter, match='sigma is 0, it must be from 0.1 to 500') as caught:
        client.blur(SMALL, sigma=0)
    assert caught.value.parameter == 'sigma' and caught.value.name == 'bad-parameter'


def test_every_problem_has_a_class(server):
    types = server.get('/openapi.json').json()['components']['schemas']['Problem']['properties']['type']['enum']
    usual = {'bad-request', 'not-found', 'method-not-allowed', 'timeout', 'target-too-long', 'headers-too-large'}
    assert {one.rpartition(':')[2] for one in types} == usual | set(errors.CLASSES)


def test_it_waits_when_it_is_told_to(server, door):
    expected = server.post('/blur', SMALL).content
    before = door()
    for ask in both(before.url):
        before.todo[:] = [soon('1'), soon('0', 429)]
        before.asked.clear()
        assert ask() == expected
        first, second, third = before.asked
        assert second - first >= 0.95 and third - second < 0.5 * daemon.SLOW
    assert before.bodies == [SMALL] * 6


def test_no_wait_is_longer_than_allowed(door):
    before = door()
    for ask in both(before.url, longest_wait=0.1):
        before.todo[:] = [soon('3600'), (503, b'<html>a proxy</html>')]
        begin = time.monotonic()
        ask()
        assert time.monotonic() - begin < 5 * daemon.SLOW


def test_it_ends(door):
    before = door()
    for ask in both(before.url, retries=2):
        before.todo[:] = [soon()] * 10
        before.asked.clear()
        with pytest.raises(blurd.Overloaded, match='busy') as caught:
            ask()
        assert len(before.asked) == 3 and caught.value.status == 503


def test_what_is_wrong_is_sent_once(door):
    before = door()
    with blurd.Client(before.url) as client, pytest.raises(blurd.BadParameter):
        client.blur(SMALL, sigma=0)
    before.todo[:] = [(500, b'{"type":"urn:blurd:problem:internal","title":"Internal","status":500,"detail":"a bug","request_id":"1"}')]
    with blurd.Client(before.url) as client, pytest.raises(blurd.ServerError):
        client.blur(SMALL)
    assert len(before.asked) == 2


@pytest.mark.parametrize('how', ('cut', 'half'))
def test_a_connection_that_is_cut(server, door, how):
    expected = server.post('/blur', SMALL).content
    before = door()
    for ask in both(before.url):
        before.todo[:] = [how, how]
        assert ask() == expected
    assert len(before.asked) == 6


def test_nobody_listens():
    for ask in both(closed_port(), retries=1):
        with pytest.raises(blurd.Unavailable, match='2 attempts'):
            ask()


def test_another_daemon_is_asked_at_once(url, door):
    before = door()
    for ask in both([closed_port(), before.url, url], longest_wait=0):
        before.todo[:] = [soon('5')] * 3
        begin = time.monotonic()
        for _ in range(3):
            ask()
        assert time.monotonic() - begin < 3 * daemon.SLOW


def test_each_daemon_has_its_turn(door):
    doors = [door(), door()]
    with blurd.Client([one.url for one in doors]) as client:
        for _ in range(6):
            client.blur(SMALL)
    assert [len(one.asked) for one in doors] == [3, 3]


def test_an_answer_that_takes_too_long_is_not_asked_for_again():
    with socket.socket() as silent:
        silent.bind(('127.0.0.1', 0))
        silent.listen()
        for ask in both(f'http://127.0.0.1:{silent.getsockname()[1]}', timeout=0.3):
            with pytest.raises(blurd.Timeout):
                ask()


def test_what_is_no_blurd(door):
    before = door()
    for status in (200, 404, 301):
        for ask in both(before.url):
            before.todo[:] = [(status, b'hello', ('Content-Type', 'text/html'))]
            with pytest.raises(blurd.Unexpected):
                ask()


def test_addresses(monkeypatch, url):
    for wrong in ('localhost:8080', [], 'ftp://localhost'):
        with pytest.raises(ValueError):
            blurd.Client(wrong)
    monkeypatch.setenv('BLURD_URL', url + '/')
    with blurd.Client() as client:
        assert client.blur(SMALL).format == 'png'
        with pytest.raises(TypeError):
            pickle.dumps(client)


def test_a_token(tmp_path):
    tokens = tmp_path / 'tokens'
    tokens.write_text('a-token-for-these-tests-alone\n')
    tokens.chmod(0o600)
    with daemon.Daemon('--token-file', tokens) as own:
        for ask in both(own.url(''), token='a-token-for-these-tests-alone'):
            assert ask()
        for ask in both(own.url('')):
            with pytest.raises(blurd.Unauthorized):
                ask()


def test_certificates(tmp_path):
    """One that is not trusted is no reason to try again."""
    names = ('-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', tmp_path / 'key', '-out', tmp_path / 'certificate')
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', *names],
                   check=True, capture_output=True)
    with daemon.Daemon('--tls-cert', tmp_path / 'certificate', '--tls-key', tmp_path / 'key') as own:
        url = f'https://localhost:{own.port}'
        for tls in (ssl.create_default_context(cafile=tmp_path / 'certificate'), False):
            for ask in both(url, tls=tls):
                assert ask()
        for ask in both(url):
            with pytest.raises(blurd.Unavailable, match='CERTIFICATE_VERIFY_FAILED'):
                begin = time.monotonic()
                ask()
            assert time.monotonic() - begin < 2 * daemon.SLOW
