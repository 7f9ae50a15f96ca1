# SPDX-License-Identifier: MIT
"""Bodies are received straight into the memory for pictures, whatever pieces they come in and whatever follows."""

import subprocess

import pytest

import daemon
import pictures
import wire
from problems import check_problem

BODY = pictures.png(pictures.noise(500, 400))  # 600 KB
LIVEZ = wire.message('GET', '/livez')
READS_ELSEWHERE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>
int MHD_add_connection(void *daemon, int fd, const struct sockaddr *address, socklen_t size) {
    int (*own)(void *, int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "MHD_add_connection");
    return own(daemon, address->sa_family == AF_UNIX ? dup(fd) : fd, address, size);
}
"""


@pytest.fixture(scope='module')
def server():
    with daemon.Daemon('--max-body', '4MiB') as running:
        yield running


def counts(running):
    metrics = running.metrics()
    return [int(metrics[f'blurd_received_{name}_total']) for name in ('bytes', 'direct_bytes')]


def blur(body=BODY, **more):
    return wire.message('POST', '/blur?sigma=2', body, **more)


@pytest.fixture(scope='module')
def blurred(server):
    return server.post('/blur?sigma=2', BODY).content


def test_most_of_a_large_body_is_not_copied(server):
    all_before, direct_before = counts(server)
    assert server.post('/blur?sigma=2', BODY).status_code == 200
    received, direct = counts(server)
    assert received - all_before == len(BODY)
    assert direct - direct_before > 0.9 * len(BODY)


def test_a_library_that_reads_otherwise(start, blurred, tmp_path):
    """The request of the daemon's start finds that out, and bodies are copied. Only its connection is of AF_UNIX."""
    library = tmp_path / 'elsewhere.so'
    subprocess.run(['cc', '-shared', '-fPIC', '-w', '-o', library, '-x', 'c', '-'], input=READS_ELSEWHERE, text=True, check=True)
    own = start(environment=daemon.clean_environment(LD_PRELOAD=str(library), ASAN_OPTIONS='verify_asan_link_order=0'))
    assert any('bodies are copied' in line for line in own.lines)
    assert own.post('/blur?sigma=2', BODY).content == blurred
    assert counts(own) == [len(BODY), 0]


def test_memory_of_an_earlier_body(start, blurred):
    """Builds that fill memory before its use fill no bytes that have landed there."""
    own = start(environment=daemon.clean_environment(POISON_MEMORY='170'))
    for body in (BODY, BODY + bytes(1 << 20), BODY):
        answers = [own.post('/blur?sigma=2', body) for _ in range(3)]
        assert [answer.content == blurred for answer in answers] == [True] * 3


def test_chunks_are_copied(server, blurred):
    before = counts(server)[1]
    with server.connect() as connection:
        connection.send(blur(b'', headers=['Transfer-Encoding: chunked'], length=False) + wire.chunked(BODY))
        assert connection.answer().body == blurred
    assert counts(server)[1] == before


@pytest.mark.parametrize('size', (1000, 32768, 100001, 262144, len(BODY) - 1))
def test_pieces_of_any_size(server, blurred, size):
    message = blur()
    with server.connect(20) as connection:
        for at in range(0, len(message), size):
            connection.send(message[at:at + size])
        assert connection.answer().body == blurred
        connection.send(LIVEZ)
        assert connection.answer().status == 200


def test_requests_that_follow_without_a_pause(server, blurred):
    """The end of a body and the next request come in one piece."""
    with server.connect(20) as connection:
        for round_ in range(3):
            connection.send((blur() + LIVEZ + blur() + LIVEZ) * 2)
            answers = [connection.answer() for _ in range(8)]
            assert [answer.status for answer in answers] == [200] * 8, round_
            assert [answer.body for answer in answers[::2]] == [blurred] * 4


def test_a_client_that_leaves_amid_its_body(server, blurred):
    for part in (3, 2):
        with server.connect() as connection:
            connection.send(blur()[:-len(BODY) // part])
    assert daemon.eventually(lambda: server.metrics()['blurd_requests_in_flight'] == 1)
    assert server.post('/blur?sigma=2', BODY).content == blurred


def test_a_body_that_is_refused_midway(start):
    """The rest of it is read and forgotten, also what had arrived by then, and the connection goes on."""
    own = start('--memory', '64MiB', '--max-body', '40MiB')
    begin, rest = wire.message('POST', '/blur', headers=[f'Content-Length: {15 << 20}'], length=False), bytes(15 << 20)
    with own.connect() as other, own.connect(20) as connection:
        for each in (other, connection):
            each.send(begin)
        assert daemon.eventually(lambda: own.metrics()['blurd_requests_in_flight'] == 3)
        other.send(rest[1:])
        assert daemon.eventually(lambda: counts(own)[0] == len(rest) - 1)
        connection.send(rest)
        check_problem(connection.answer(), 'overloaded', says='memory for request bodies')
        assert 16 << 20 < counts(own)[1] < 22 << 20, 'a third of the memory, which both share'
        connection.send(blur(pictures.small_png()) + LIVEZ)
        assert [connection.answer().status for _ in range(2)] == [200, 200]
