# SPDX-License-Identifier: MIT
"""Parameters: accepted values, and the refusal of all others by name."""

import pytest
import requests

import pictures
import wire
from problems import check_problem

GOOD = (
    '', 'sigma=0.1', 'sigma=500', 'sigma=1e1', 'sigma=1.', 'sigma=.5', 'sigma=%31', 'sigma=00001.5', 'sigma=1E-0',
    'kernel_size=3', 'kernel_size=99', 'edge=mirror', 'format=auto', 'format=png', 'quality=1', 'quality=100',
    'subsampling=auto', 'progressive=0', 'progressive=true', 'progressive=True', 'huffman=optimal', 'huffman=standard', 'effort=0', 'metadata=keep', 'autorotate=1',
    'colorspace=rgb', '&', '&&sigma=2&&', 's%69gma=2',
    'sigma=2&kernel_size=7&edge=wrap&format=jpeg&quality=50&subsampling=444&progressive=1&effort=3&metadata=strip'
    '&autorotate=false&colorspace=native&backend=auto', 'backend=cpu',
)

NUMBERS = ('', 'NaN', 'nan', 'inf', '-inf', 'Infinity', '0x10', '0x1p3', '1e309', '-1e309', '1e', 'e1', '.', '-', '--1',
           '+2', '%202', '2%20', '2%0a', '1,5', '1_0', '2;', '2px', '2/1', '%ff', '%e2%91%a1', '1' * 400 + 'x', '%c2%b2')

BAD = (
    *((f'sigma={v}', 'sigma') for v in (*NUMBERS, '0', '-0', '-1', '0.0999', '500.0001', '501', '1e-320', '1' * 4000, '9' * 30)),
    *((f'kernel_size={v}', 'kernel_size') for v in (*NUMBERS, '1', '2', '4', '7.0', '7e0', '100', '101', '-7', '4294967303',
                                                    '18446744073709551623')),
    *((f'quality={v}', 'quality') for v in (*NUMBERS, '0', '101', '-1', '85.5', '1e1')),
    *((f'effort={v}', 'effort') for v in (*NUMBERS, '-1', '10')),
    *((f'edge={v}', 'edge') for v in ('', 'Clamp', 'clamp,', 'frame', 'clampx', 'clam', '%00', '0')),
    *((f'format={v}', 'format') for v in ('', 'JPEG', 'jpgs', 'tga', 'image/png', 'png%00')),
    *((f'subsampling={v}', 'subsampling') for v in ('', '411', '4:2:0', '42', '4200')),
    *((f'{name}={v}', name) for name in ('progressive', 'autorotate') for v in ('', 'yes', 'Truely', '2', '-1', 'on')),
    *((f'huffman={v}', 'huffman') for v in ('', 'Optimal', 'none', '1')),
    *((f'metadata={v}', 'metadata') for v in ('', 'all', 'none', 'Strip')),
    *((f'colorspace={v}', 'colorspace') for v in ('', 'RGB', 'srgb')),
    *((f'backend={v}', 'backend') for v in ('', 'gpu', 'CPU', 'cuda:0')),
    ('sigma', 'sigma'), ('edge', 'edge'),
    ('sigma=2&sigma=2', 'sigma'), ('sigma=2&sigma=3', 'sigma'), ('edge=wrap&sigma=2&edge=zero', 'edge'),
    ('sigma=2&s%69gma=2', 'sigma'), ('quality=5&quality=', 'quality'),
    ('radius=3', 'radius'), ('Sigma=3', 'Sigma'), ('sigma%20=3', 'sigma '), ('SIGMA=3', 'SIGMA'), ('sigm=3', 'sigm'),
    ('sigmas=3', 'sigmas'), ('invert=perhaps', 'invert'), ('a=b', 'a'), ('sigma=2;edge=wrap', 'sigma'),
    ('sigma=2%00', 'sigma'), ('sigma=%', 'sigma'), ('sigma=%2', 'sigma'), ('sigma=%zz', 'sigma'), ('sigma=2%', 'sigma'),
    ('sigma=2%4', 'sigma'), ('sigma=%u0032', 'sigma'), ('edge=' + 'x' * 5000, 'edge'),
)
NAMELESS = ('=3', '=', 'sig%ma=3', 'sigma%00=3', '%00', '%', 'x' * 64 + '=1', 'x' * 7000)  # no name that could be told


def ask(server, query, body=pictures.small_png()):
    answers = server.raw(wire.message('POST', f'/blur?{query}', body, ['Connection: close']))
    assert len(answers) == 1
    return answers[0]


@pytest.mark.parametrize('query', GOOD, ids=lambda q: q[:40])
def test_taken(server, query):
    assert ask(server, query).status == 200


@pytest.mark.parametrize('query,name', BAD, ids=lambda q: q[:40])
def test_refused_by_name(server, query, name):
    problem = check_problem(ask(server, query), 'bad-parameter', parameter=name)
    assert len(problem['detail']) < 512


@pytest.mark.parametrize('query', NAMELESS, ids=lambda q: q[:40])
def test_refused_without_a_name(server, query):
    answer = ask(server, query)
    assert answer.status == 400
    assert b'bad-parameter' in answer.body


def test_sentences_name_the_range(server):
    for query, says in (('sigma=0', 'from 0.1 to 500'), ('quality=0', 'from 1 to 100'), ('kernel_size=4', 'odd'),
                        ('edge=x', 'clamp, mirror, wrap or zero'), ('radius=1', 'sigma')):
        name = query.partition('=')[0]
        check_problem(ask(server, query), 'bad-parameter', parameter=name, says=says)


@pytest.mark.parametrize('query', ('sigma=%3Cscript%3E', 'edge=%0d%0aX-Evil:%201', '%22%5c=1', '%0d%0aX-Evil:1=1', 'sigma=%ff%fe'))
def test_hostile_values_are_escaped(server, query):
    answer = ask(server, query)
    assert answer.status == 400 and answer.header('X-Evil') is None
    assert b'\r' not in answer.body and answer.body.count(b'\n') == 1
    answer.body.decode('utf-8')


def test_a_bad_parameter_is_refused_before_the_body_is_sent(server):
    with server.connect() as connection:
        head = wire.message('POST', '/blur?sigma=0', length=False,
                            headers=['Content-Length: 10000000', 'Expect: 100-continue'])
        connection.send(head)
        check_problem(connection.answer(), 'bad-parameter', parameter='sigma')


def test_jpg_is_another_word_for_jpeg(server):
    body = pictures.small_png()
    answer = server.post('/blur?format=jpg', body)
    assert answer.headers['Content-Type'] == 'image/jpeg' and 'Vary' not in answer.headers
    assert answer.content == server.post('/blur?format=jpeg', body).content
    form, headers = form_of(body, format='jpg')
    assert answer.content == server.post('/blur', form, headers=headers).content
    check_problem(server.post('/blur?format=JPG', body), 'bad-parameter', 'format', says='auto, jpeg, png, webp, avif')


def form_of(body, **fields):
    """A form with the picture and these fields: its bytes and its headers."""
    made = requests.Request('POST', 'http://localhost/', files={'image': ('a.png', body)}, data=fields).prepare()
    return made.body, {'Content-Type': made.headers['Content-Type']}


def test_the_connection_goes_on_after_a_bad_parameter(server):
    with server.connect() as connection:
        for _ in range(3):
            connection.send(wire.message('POST', '/blur?sigma=0', pictures.small_png()))
            check_problem(connection.answer(), 'bad-parameter', parameter='sigma')
            connection.send(wire.message('POST', '/blur?sigma=1', pictures.small_png()))
            assert connection.answer().status == 200
