# SPDX-License-Identifier: MIT
"""Many pictures: an outcome for each, in order or not, with bounded memory; and columns for Ray."""

import asyncio
import json
import pickle
import subprocess
import sys
import threading
import time

import blurd
import inputs
import pytest
from blurd import jobs

BROKEN = {3: b'', 11: b'no picture', 20: inputs.gradient()[:100], 21: b'%PDF-1', 39: bytes(1000)}
PICTURES = [BROKEN.get(number, inputs.gradient(seed=number)) for number in range(40)]


@pytest.fixture(scope='module')
def expected(server):
    return [server.post('/blur?sigma=2', body).content if index not in BROKEN else None for index, body in enumerate(PICTURES)]


def check(outcomes, expected, ordered):
    assert sorted(one.index for one in outcomes) == list(range(40))
    assert not ordered or [one.index for one in outcomes] == list(range(40))
    for one in outcomes:
        assert one.picture is PICTURES[one.index]
        if one.index in BROKEN:
            assert isinstance(one.error, (blurd.CorruptImage, blurd.Unsupported)) and one.result is None
            with pytest.raises(blurd.Problem):
                one.get()
        else:
            assert one.error is None and one.get().content == expected[one.index]


def outcomes_of(url, pictures, job=None, **options):
    async def ask():
        async with blurd.AsyncClient(url) as client:
            return [one async for one in client.map(job or jobs.blur(sigma=2), pictures, **options)]

    return asyncio.run(ask())


@pytest.mark.parametrize('ordered', (True, False))
def test_each_picture_has_an_outcome(client, url, expected, ordered):
    check(list(client.map(jobs.blur(sigma=2), iter(PICTURES), ordered=ordered)), expected, ordered)
    check(outcomes_of(url, PICTURES, ordered=ordered, in_flight=8), expected, ordered)

    async def source():
        for picture in PICTURES:
            await asyncio.sleep(0)
            yield picture

    check(outcomes_of(url, source(), ordered=ordered, in_flight=1), expected, ordered)


def test_files_that_cannot_be_read(client, url, tmp_path):
    (tmp_path / 'a.png').write_bytes(PICTURES[0])
    paths = [tmp_path / 'none.png', tmp_path / 'a.png', tmp_path]
    for outcomes in (list(client.map(jobs.stats(), paths)), outcomes_of(url, paths, jobs.stats())):
        assert [type(one.error) for one in outcomes] == [FileNotFoundError, type(None), IsADirectoryError]
        assert outcomes[1].get().width == 64 and outcomes[1].picture == paths[1]


def test_keys(client, url, tmp_path):
    """As the members of a tar have names, which are not unique."""
    members = [('a.png', PICTURES[0]), ('b.png', BROKEN[11]), ('a.png', PICTURES[1])]
    for outcomes in (list(client.map(jobs.stats(), iter(members))), outcomes_of(url, members, jobs.stats())):
        assert [(one.key, one.picture is body, one.error is None) for one, (_, body) in zip(outcomes, members)] == [
            ('a.png', True, True), ('b.png', True, False), ('a.png', True, True)]
        assert 'a.png' in repr(outcomes[0])


def test_mistakes_are_raised(client, url):
    for wrong in (lambda: list(client.map(jobs.blur(), [17])), lambda: outcomes_of(url, [17])):
        with pytest.raises(TypeError):
            wrong()
    for wrong in (lambda: client.map(jobs.blur(), [], in_flight=0), lambda: outcomes_of(url, [], in_flight=0)):
        with pytest.raises(ValueError):
            wrong()

    def source():
        yield PICTURES[0]
        raise KeyError('the source')

    for wrong in (lambda: list(client.map(jobs.blur(), source())), lambda: outcomes_of(url, source())):
        with pytest.raises(KeyError):
            wrong()


@pytest.mark.parametrize('ordered', (True, False))
def test_no_more_pictures_are_taken_than_needed(client, url, ordered):
    taken = []

    def source():
        for number in range(1000):
            taken.append(number)
            yield PICTURES[0]

    outcomes = client.map(jobs.blur(), source(), in_flight=3, ordered=ordered)
    for count in range(1, 11):
        next(outcomes)
        assert len(taken) <= count + 5
    outcomes.close()
    assert threading.active_count() < 20
    taken.clear()

    async def ask():
        async with blurd.AsyncClient(url) as asynchronous:
            count = 0
            async for _ in asynchronous.map(jobs.blur(), source(), in_flight=3, ordered=ordered):
                count += 1
                assert len(taken) <= count + 5
                if count == 10:
                    break

    asyncio.run(ask())


def test_so_many_are_in_flight(door):
    lock, now, most = threading.Lock(), [0], [0]
    before = door()
    handle = before.RequestHandlerClass.do_POST

    class Counting(before.RequestHandlerClass):
        def do_POST(self):
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
            time.sleep(0.02)
            handle(self)
            with lock:
                now[0] -= 1

    before.RequestHandlerClass = Counting
    with blurd.Client(before.url) as client:
        assert len(list(client.map(jobs.stats(), PICTURES[4:16] * 2, in_flight=3))) == 24
    assert most[0] <= 3
    most[0] = 0
    outcomes_of(before.url, PICTURES[4:10] * 4, jobs.stats(), in_flight=2)
    assert most[0] <= 2


def test_many_at_once_lose_none(url):
    """A limit of the time to wait for a connection would lose most of them."""
    async def ask():
        async with blurd.AsyncClient(url, connections=4) as client:
            return await asyncio.gather(*(client.stats(PICTURES[0]) for _ in range(200)))

    assert len(asyncio.run(ask())) == 200


def test_threads_share_a_client(client):
    results = []
    threads = [threading.Thread(target=lambda: results.extend(client.blur(PICTURES[0], sigma=2).content for _ in range(5))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 20 and len(set(results)) == 1


def test_jobs_can_be_pickled(client):
    for job in (jobs.blur(sigma=2), jobs.stats(), jobs.redact_report(region='0,0,5,5'), jobs.redact_plan(detect='text')):
        assert pickle.loads(pickle.dumps(job)).parameters == job.parameters
    assert client.do(pickle.loads(pickle.dumps(jobs.stats())), PICTURES[0]) == client.stats(PICTURES[0])


def batch(numpy, bodies):
    column = numpy.empty(len(bodies), dtype=object)
    for index, body in enumerate(bodies):
        column[index] = body
    return {'bytes': column, 'path': numpy.array([f'{index}.png' for index in range(len(bodies))])}


def test_columns_of_pictures(url, server):
    numpy = pytest.importorskip('numpy')
    from blurd.ray import Apply, Redact

    given = batch(numpy, [*PICTURES[:5], None])
    before = list(given['bytes'])
    answer = Redact(url, region='8,8,16,16')(given)
    assert list(answer) == ['path', 'bytes', 'notice', 'status', 'error'] and list(given['bytes']) == before
    assert all(values.dtype == object for name, values in answer.items() if name != 'path')
    assert list(answer['status']) == ['ok', 'ok', 'ok', 'corrupt-image', 'ok', 'corrupt-image'] and list(answer['path']) == list(given['path'])
    for index in (0, 1, 2, 4):
        assert answer['bytes'][index] == server.post('/redact?region=8,8,16,16', PICTURES[index]).content and answer['error'][index] == ''
    assert answer['bytes'][3] == b'' and answer['bytes'][5] == b'' and 'Corrupt' in answer['error'][3]
    answer = Apply(jobs.redact_report(region='8,8,16,16'), url=url, in_flight=2)(batch(numpy, PICTURES[2:5]))
    assert json.loads(answer['report'][0])['payloadType'] and answer['report'][1] == b'' and answer['bytes'][1] == b''
    answer = Apply(jobs.stats(), url=url, column='photo')({'photo': batch(numpy, PICTURES[2:5])['bytes']})
    assert list(answer) == ['json', 'status', 'error'] and json.loads(answer['json'][0])['width'] == 64 and answer['json'][1] == ''
    answer = Redact('http://127.0.0.1:1', region='8,8,16,16', options={'retries': 0})(batch(numpy, PICTURES[:2]))
    assert list(answer['status']) == ['unavailable'] * 2 and list(answer['bytes']) == [b'', b'']


def test_without_numpy_the_package_is_all_the_same(package):
    code = 'import sys; sys.modules["numpy"] = None; import blurd'
    assert subprocess.run([sys.executable, '-c', code], env={'PYTHONPATH': ':'.join([str(package), *sys.path])}, check=False).returncode == 0
