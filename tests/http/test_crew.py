# SPDX-License-Identifier: MIT
"""A large picture alone: idle workers help. The bytes are the same with any helpers, and nothing gets lost
when it ends."""

import threading
import time

import pytest

import pictures
import wire

QUERIES = (
    '/blur?sigma=2', '/blur?sigma=60&edge=mirror', '/sharpen?sigma=3', '/pixelate?block=9',
    '/convolve?preset=box&size=9', '/stats', '/placeholder', '/blur?sigma=7&region=40,30,900,500&feather=12',
)


def ask(own, query, picture):
    with own.connect() as connection:
        connection.send(wire.message('POST', query, picture))
        answer = connection.answer()
        assert answer and answer.status == 200, answer and answer.body
        return answer.body


@pytest.fixture(scope='module')
def images():
    samples = pictures.photograph(1500, 1100)
    return pictures.jpeg(samples, subsampling='420'), pictures.png(samples)


@pytest.mark.parametrize('query', QUERIES)
def test_the_bytes_do_not_depend_on_the_workers(start, images, query):
    alone, crew = start('--workers', 1), start('--workers', 6)
    for picture in images:
        expected = ask(alone, query, picture)
        for _ in range(3):
            assert ask(crew, query, picture) == expected


def test_it_ends_in_the_middle_of_work(start, images):
    own = start('--workers', 6)
    bodies = []

    def client():
        for query in QUERIES:
            try:
                bodies.append(ask(own, query, images[1]))
            except (OSError, EOFError, AssertionError):
                return  # no longer accepted

    clients = [threading.Thread(target=client) for _ in range(2)]
    for one in clients:
        one.start()
    time.sleep(0.3)
    own.signal()
    assert own.wait() == 0
    for one in clients:
        one.join()
    assert bodies
