# SPDX-License-Identifier: MIT
"""Each operation gives what a plain request gives: from threads, from asyncio, and with every kind of parameter."""

import asyncio
import dataclasses
import inspect
import io
import json
import keyword
import os
import pathlib

import blurd
import inputs
import pytest
from blurd import jobs

GIVEN = {
    'adjust': ({'saturation': 1.5, 'grayscale': True}, 'saturation=1.5&grayscale=true'),
    'blur': ({'sigma': 3.5, 'region': [(10, 10, 50, 30), 'ellipse:20,20,20,10'], 'edge': 'mirror'}, 'sigma=3.5&region=10,10,50,30&region=ellipse:20,20,20,10&edge=mirror'),
    'convolve': ({'preset': 'emboss'}, 'preset=emboss'),
    'crop': ({'x': 4, 'y': '10%', 'width': '50%', 'height': 20}, 'x=4&y=10%25&width=50%25&height=20'),
    'detect': ({'detect': 'text'}, 'detect=text'),
    'dilate': ({'radius': 2}, 'radius=2'),
    'erode': ({'radius': 2, 'quality': 50}, 'radius=2&quality=50'),
    'median': ({'radius': 1, 'region': (5, 5, 20, 20)}, 'radius=1&region=5,5,20,20'),
    'pipeline': ({'ops': ['blur:sigma=2', 'sharpen:amount=0.5'], 'format': 'png'}, 'ops=blur:sigma=2|sharpen:amount=0.5&format=png'),
    'pixelate': ({'block': 8, 'mode': 'redact', 'region': '8,8,24,24'}, 'block=8&mode=redact&region=8,8,24,24'),
    'placeholder': ({'components_x': 3}, 'components_x=3'),
    'redact': ({'detect': 'text', 'fill': '#00ff00'}, 'detect=text&fill=%2300ff00'),
    'redact_plan': ({'detect': 'text', 'except_': (0, 0, 20, 10)}, 'detect=text&except=0,0,20,10&plan=true'),
    'redact_report': ({'region': '0,0,16,16'}, 'region=0,0,16,16'),
    'resize': ({'width': 40, 'fit': 'cover', 'height': 40}, 'width=40&fit=cover&height=40'),
    'rotate': ({'angle': 90, 'flip': 'vertical'}, 'angle=90&flip=vertical'),
    'sharpen': ({'sigma': 1, 'amount': 2}, 'sigma=1&amount=2'),
    'stats': ({'backend': 'cpu'}, 'backend=cpu'),
}


def plain(server, name, query, body):
    answer = server.post(f'/{name.partition("_")[0]}?{query}', body)
    assert answer.status_code == 200, answer.text
    return answer


def same(result, answer):
    if isinstance(result, blurd.Picture):
        assert result.content == answer.content and result.media_type == answer.headers['Content-Type']
        assert result.backend == answer.headers['X-Backend'] and result.notice == answer.headers.get('X-Blurd-Notice')
    elif isinstance(result, blurd.Report):
        assert result.picture.content == answer.content and result.picture.media_type == answer.headers['Content-Type']
    else:
        given = result.data if isinstance(result, blurd.Plan) else dataclasses.asdict(result)
        assert without_none(given) == without_none(answer.json())


def without_none(value):
    if isinstance(value, dict):
        return {name: without_none(one) for name, one in value.items() if one is not None}
    return [without_none(one) for one in value] if isinstance(value, list) else value


def test_every_operation_is_here():
    assert set(GIVEN) == set(jobs.__all__) - {'Job'}


@pytest.mark.parametrize('name', GIVEN)
def test_the_bytes(server, client, url, photo, name):
    if name == 'detect' or 'detect' in GIVEN[name][0]:
        needs_text(client)
    given, query = GIVEN[name]
    answer = plain(server, name, query, photo)
    same(getattr(client, name)(photo, **given), answer)
    same(client.do(getattr(jobs, name)(**given), photo), answer)

    async def ask():
        async with blurd.AsyncClient(url) as asynchronous:
            return await getattr(asynchronous, name)(photo, **given)

    same(asyncio.run(ask()), answer)


def needs_text(client):
    if not client.version().text:
        pytest.skip('this daemon finds no text')


def test_both_clients_have_the_same_methods():
    public = {name for name in dir(blurd.Client) if not name.startswith('_')}
    assert public == {name for name in dir(blurd.AsyncClient) if not name.startswith('_')}
    for name in public - {'map'}:
        one, other = (inspect.signature(getattr(kind, name)) for kind in (blurd.Client, blurd.AsyncClient))
        assert one == other, name
        assert inspect.getdoc(getattr(blurd.Client, name)) == inspect.getdoc(getattr(blurd.AsyncClient, name)) or name == 'do'


def test_every_parameter_of_the_description_is_here(server):
    document = server.get('/openapi.json').json()
    for name in GIVEN:
        form = document['paths'][f'/{name.partition("_")[0]}']['post']['requestBody']['content']['multipart/form-data']['schema']['properties']
        signature = inspect.signature(getattr(blurd.Client, name)).parameters
        form = {f'{one}_' if keyword.iskeyword(one) else one for one in form}
        assert form - {'image', 'plan', 'report'} == set(signature) - {'self', 'picture', 'request_id', 'traceparent'}, name
        told = inspect.getdoc(getattr(blurd.Client, name))
        assert all(f'\n{parameter}: ' in told for parameter in form if parameter in signature)


def test_data_has_types(client, photo):
    numbers = client.stats(photo)
    assert numbers.channels[0].name == 'red' and len(numbers.channels[0].histogram) == 256 and numbers.pixels == numbers.width * numbers.height
    assert client.placeholder(photo).dominant.startswith('#')
    assert client.version().formats.writes[0] == 'jpeg'
    assert client.readiness().status == 'ready' and client.readiness().backends[0].state == 'serving'
    assert 'blurd_pictures_total' in client.metrics()
    needs_text(client)
    found = client.detect(photo, detect='text')
    assert found.faces is None and found.text and 0 < found.text[0].score <= 1 and found.text[0].polygon


def test_bodies(client, photo, tmp_path):
    (tmp_path / 'photo.jpg').write_bytes(photo)
    result = client.blur(photo, sigma=2).content
    for body in (bytearray(photo), memoryview(photo), str(tmp_path / 'photo.jpg'), tmp_path / 'photo.jpg', io.BytesIO(photo)):
        assert client.blur(body, sigma=2).content == result
    with open(tmp_path / 'photo.jpg', 'rb') as file:
        assert client.blur(file, sigma=2).content == result
    for wrong in (17, None, io.StringIO('text')):
        with pytest.raises(TypeError):
            client.blur(wrong)
    with pytest.raises(FileNotFoundError):
        client.blur(tmp_path / 'none.jpg')


def test_a_pipe_is_read_once(door, photo):
    """It cannot be read again, and the second attempt has all of it nevertheless."""
    before = door((503, b'', ('Retry-After', '0')))
    reading, writing = os.pipe()
    with open(writing, 'wb') as file:
        file.write(photo[:30000])
    with blurd.Client(before.url) as client, open(reading, 'rb') as pipe:
        client.blur(pipe)
    assert before.bodies == [photo[:30000]] * 2


def test_what_a_picture_tells(client, photo, tmp_path):
    picture = client.blur(photo, region='0,0,10,10', request_id='my-id', traceparent='00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01')
    assert picture.request_id == 'my-id' and picture.format == 'jpeg' and picture.metadata_dropped == () and picture.regions is None
    assert picture.milliseconds['total'] > 0
    path = picture.save(tmp_path / 'blurred.jpg')
    assert isinstance(path, pathlib.Path) and path.read_bytes() == picture.content and os.listdir(tmp_path) == ['blurred.jpg']
    assert client.blur(photo, region='5000,5000,10,10').notice
    with pytest.raises(OSError):
        picture.save(tmp_path / 'blurred.jpg' / 'below')
    (tmp_path / 'folder').mkdir()
    with pytest.raises(OSError):
        picture.save(tmp_path / 'folder')
    assert sorted(os.listdir(tmp_path)) == ['blurred.jpg', 'folder']


def test_lists_and_masks(server, client):
    body = inputs.gradient()
    listed = [{'box': [4, 4, 20, 20]}, {'ellipse': [30, 10, 20, 20]}]
    files = {'image': ('p', body), 'regions': ('r', json.dumps({'regions': listed}))}
    expected = server.post('/blur?sigma=4', files=files).content
    for regions in (listed, {'regions': listed}, json.dumps(listed)):
        assert client.blur(body, sigma=4, regions=regions).content == expected
    expected = server.post('/blur?sigma=4', files={'image': ('p', body), 'mask': ('m', inputs.mask(64, 48))}).content
    assert client.blur(body, sigma=4, mask=inputs.mask(64, 48)).content == expected


def test_numbers_of_numpy(client):
    numpy = pytest.importorskip('numpy')
    job = jobs.blur(sigma=numpy.float64(2.5), quality=numpy.int32(80), progressive=numpy.bool_(True), region=[tuple(numpy.float32([1, 2, 3.5, 4]))])
    assert job.query == 'sigma=2.5&region=1.0,2.0,3.5,4.0&progressive=true&quality=80'
    assert jobs.blur(sigma=1e-07, autorotate=False).query == 'sigma=1e-07&autorotate=false'
    with pytest.raises((TypeError, ValueError)):
        jobs.blur(sigma=object())


def test_parameters_that_are_too_long_for_a_query(server, client):
    body = inputs.gradient()
    many = [f'polygon:{i % 20}.{"0" * 40}1,{i % 13}.{"0" * 40}1,{i % 20 + 20}.5,{i % 13}.5,{i % 20}.25,{i % 13 + 15}.5' for i in range(64)]
    files = [('image', ('p', body)), *(('region', (None, one)) for one in many)]
    expected = server.post('/blur', files=files)
    assert expected.status_code == 200, expected.text
    assert client.blur(body, region=many).content == expected.content
