# SPDX-License-Identifier: MIT
"""Plans and reports, and Unix sockets."""

import asyncio
import hashlib
import os
import socket
import subprocess
import sys
import threading

import blurd
import daemon
import inputs
import pytest

# Becomes the daemon, so that the process's number is known before (sd_listen_fds(3)).
LAUNCHER = 'import os, sys; os.dup2(int(sys.argv[1]), 3); os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1"); os.execv(sys.argv[2], sys.argv[2:3])'


def test_a_plan_is_hidden(client, photo, tmp_path):
    if not client.version().text:
        pytest.skip('this daemon finds no text')
    plan = client.redact_plan(photo, detect='text')
    assert plan.regions and plan.sha256 == hashlib.sha256(photo).hexdigest() and plan.width > plan.height and 'regions' in repr(plan)
    at_once = client.redact(photo, detect='text').content
    assert client.redact(photo, regions=plan).content == at_once
    plan.save(tmp_path / 'plan.json')
    again = blurd.Plan.load(tmp_path / 'plan.json')
    assert again.data == plan.data and client.redact(photo, regions=again).content == at_once
    again.regions[:] = [{'x': 0, 'y': 0, 'width': 16, 'height': 16}]
    assert client.redact(photo, regions=again).content != at_once
    with pytest.raises(blurd.BadRequest):
        client.redact(inputs.gradient(), regions=plan)


def test_what_is_found_is_a_list_of_regions(server, client, photo):
    if not client.version().text:
        pytest.skip('this daemon finds no text')
    found = client.detect(photo, detect='text')
    listed = [{'x': box.x, 'y': box.y, 'width': box.width, 'height': box.height} for box in found.text]
    expected = client.blur(photo, sigma=9, regions=listed).content
    assert expected != client.blur(photo, sigma=9, regions=listed[:-1] or [{'box': [0, 0, 5, 5]}]).content
    assert client.blur(photo, sigma=9, regions=found).content == expected and client.blur(photo, sigma=9, regions=found.text).content == expected


def test_a_report_holds(client, url, photo, tmp_path):
    report = client.redact_report(photo, region='10,10,40,20')
    assert report.picture.content == client.redact(photo, region='10,10,40,20').content and report.key == '2026-11'
    assert report.text['input']['sha256'] == hashlib.sha256(photo).hexdigest()
    verdict = client.verify(report)
    assert verdict.verified and verdict.input is None and verdict.report['answer'] == report.text['answer']
    verdict = client.verify(report, input=photo)
    assert verdict.input and verdict.redone and verdict.key == '2026-11'
    report.save(tmp_path / 'report.json')
    report.picture.save(tmp_path / 'safe.jpg')
    assert client.verify(tmp_path / 'report.json', tmp_path / 'safe.jpg', input=photo).redone

    async def ask():
        async with blurd.AsyncClient(url) as asynchronous:
            return await asynchronous.verify(await asynchronous.redact_report(photo, region='10,10,40,20'), input=photo)

    assert asyncio.run(ask()).redone
    with pytest.raises(blurd.NotVerified):
        client.verify(report, photo)
    with pytest.raises(blurd.NotVerified):
        client.verify(report, input=inputs.gradient())
    with pytest.raises(TypeError):
        client.verify(report.envelope)


def test_a_report_with_a_mask(client):
    body, mask = inputs.gradient(), inputs.mask(64, 48)
    report = client.redact_report(body, mask=mask)
    assert client.verify(report, input=body, mask=mask).redone
    with pytest.raises(blurd.BlurdError):
        client.verify(report, input=body)


def test_a_daemon_without_a_key():
    with daemon.Daemon() as own, blurd.Client(own.url('')) as client, pytest.raises(blurd.BadParameter, match='report'):
        client.redact_report(inputs.gradient(), region='0,0,9,9')


class Passed(daemon.Daemon):
    """A daemon that gets a socket, as from systemd."""

    def __init__(self, listener):
        self.lines, self.ended, self.may_end_with, self.news = [], False, (0,), threading.Condition()
        launcher = [sys.executable, '-c', LAUNCHER, str(listener.fileno()), daemon.BINARY]
        self.process = subprocess.Popen(launcher, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=daemon.clean_environment(), pass_fds=[listener.fileno()])
        self.reader = threading.Thread(target=self._read_log, daemon=True)
        self.reader.start()
        assert self.wait_for_line('listening')


@pytest.fixture
def path(tmp_path):
    """A Unix socket at which a daemon listens."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / 'a socket'))
        listener.listen()
        with Passed(listener):
            yield tmp_path / 'a socket'


def test_a_unix_socket(path, server, url, monkeypatch):
    monkeypatch.setenv('HTTP_PROXY', 'http://127.0.0.1:1')  # for other addresses
    monkeypatch.setenv('NO_PROXY', '127.0.0.1')
    body = inputs.gradient()
    expected = server.post('/blur?sigma=2', body).content
    for address in (f'unix:{path}', f'unix:{path}'.replace(' ', '%20'), [f'unix:{path}', url]):
        with blurd.Client(address) as client:
            assert [client.blur(body, sigma=2).content for _ in range(2)] == [expected] * 2
            assert client.readiness().status == 'ready'

    async def ask():
        async with blurd.AsyncClient(f'unix:{path}') as client:
            return (await client.blur(body, sigma=2)).content

    assert asyncio.run(ask()) == expected
    with blurd.Client(f'unix:{path}.none', retries=1) as client, pytest.raises(blurd.Unavailable):
        client.blur(body)


def test_sockets_are_closed(url):
    before = len(os.listdir('/proc/self/fd'))
    for _ in range(5):
        with blurd.Client(url) as client:
            client.blur(inputs.gradient())
    assert len(os.listdir('/proc/self/fd')) <= before + 1
