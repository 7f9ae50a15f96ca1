# SPDX-License-Identifier: MIT
"""Answers of a fake GPU are sent from the memory where it has written them, which is the request's slot until then. The
sockets' buffers are small here, so that an answer waits in its slot while its client does not read."""

import contextlib
import socket

import pytest

import daemon
import fake_gpu
import pictures
import wire
from fake_jpeg import BY_GPU, jpeg_options
from test_activation import Launched, listener

pytestmark = fake_gpu.needed

QUERY = '/blur?sigma=0.2&quality=95&huffman=standard'
BUFFER = 4096  # bytes
COMMENT = b'\xff\xfe\xff\xff' + bytes(0xffff - 2)


def padded(jpeg, comments):
    """With comments of 64 KiB each, which take memory and no time."""
    return jpeg[:2] + COMMENT * comments + jpeg[2:]


LARGE = padded(pictures.jpeg(pictures.noise(200, 200, 3), quality=90), 18)


@contextlib.contextmanager
def launched(*more):
    """Accepted sockets inherit the buffer's size from the one that listens. No client is too slow by its rate."""
    with listener() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        with Launched([one], *jpeg_options('--min-rate', 0, *more)).await_start() as own:
            fake_gpu.await_state(own, 'serving')
            assert daemon.eventually(lambda: own.metrics()['blurd_jpeg_places'] > 0, 20)
            yield own


def ask(own, body=LARGE):
    name, answer = fake_gpu.post(own, QUERY, body)
    assert name == BY_GPU
    return answer


def in_flight(own):
    return own.metrics()['blurd_requests_in_flight'] - 1


def slow_clients(own, count):
    """Connections whose clients do not read the answers that wait for them."""
    clients = []
    before = own.pictures('gpu-file')
    for number in range(1, count + 1):
        clients.append(wire.Wire(own.port, 60, receive_buffer=BUFFER))
        clients[-1].send(wire.message('POST', QUERY, LARGE))
        assert daemon.eventually(lambda made=before + number: own.pictures('gpu-file') == made, 20)
    assert in_flight(own) == count
    return clients


def test_others_get_other_slots():
    with launched() as own:
        wanted = ask(own)
        clients = slow_clients(own, 5)
        for _ in range(3):
            assert ask(own) == wanted
        for client in clients:
            assert client.answer().body == wanted
            client.send(wire.message('POST', QUERY, LARGE))
            assert client.answer().body == wanted
            client.close()


@pytest.mark.parametrize('leave', (wire.Wire.close, wire.Wire.reset), ids=('close', 'reset'))
def test_who_leaves_gives_the_slot_back(leave):
    with launched() as own:
        wanted = ask(own)
        for client in slow_clients(own, 5):
            leave(client)
        assert daemon.eventually(lambda: in_flight(own) == 0)
        before = own.metrics()['blurd_slot_bytes']
        for _ in range(10):
            assert ask(own) == wanted
        assert own.metrics()['blurd_slot_bytes'] <= before


def test_slow_clients_keep_a_part_of_the_memory():
    """Their slots would take more than the share of bodies, so that others would be refused."""
    with launched('--memory', '64M') as own:
        wanted = ask(own)
        clients = slow_clients(own, 20)
        for _ in range(3):
            assert ask(own) == wanted
        assert [client.answer().body == wanted for client in clients] == [True] * 20
        for client in clients:
            client.close()


def test_a_slow_client_is_timed_out():
    with launched('--write-timeout', '2s') as own:
        wanted = ask(own)
        clients = slow_clients(own, 1)
        assert daemon.eventually(lambda: in_flight(own) == 0)
        with pytest.raises(AssertionError, match='cut short'):
            clients[0].answer()
        assert ask(own) == wanted
