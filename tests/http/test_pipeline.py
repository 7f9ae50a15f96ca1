# SPDX-License-Identifier: MIT
"""Wrong steps, matrices and other arguments of filters are refused by name, value and rule. Arguments in
forms. For the results of pipelines see test_metamorphic.py."""

import json
import shutil
import subprocess
import urllib.parse

import numpy
import pytest

import daemon
import filtering
import pictures
from filtering import ask, ask_png
from problems import check_problem
from test_multipart import form

PICTURE = pictures.photograph(40, 30)
BODY = pictures.png(PICTURE)
FORM = {'Content-Type': 'multipart/form-data; boundary=simple'}
IMAGE = ('image"; filename="a.png', BODY)


def as_query(**arguments):
    return urllib.parse.urlencode(arguments, quote_via=urllib.parse.quote)


# --- steps that are wrong -----------------------------------------------------------------------
WRONG_STEPS = {
    'a ninth': ('|'.join(['blur'] * 9), 'more than 8 steps'),
    'many': ('|'.join(['blur'] * 500), 'more than 8 steps'),
    'none': ('', 'step 1: unknown filter empty'), 'an empty one': ('blur||sharpen', 'step 2: unknown filter empty'),
    'one that is not finished': ('blur|', 'step 2: unknown filter empty'), 'no name': (':sigma=2', 'step 1: unknown filter empty'),
    'unknown': ('blur|swirl', 'step 2: unknown filter swirl; available: adjust, blur, convolve, crop, '),
    'upper case': ('Blur', 'step 1: unknown filter Blur'), 'a space': ('blur |sharpen', 'step 1: unknown filter blur '),
    'no picture': ('blur|stats', 'step 2: unknown filter stats'), 'itself': ('pipeline', 'step 1: unknown filter pipeline'),
    'a path': ('/blur', 'step 1: unknown filter /blur'), 'hostile': ('"\r\n\x7f\\', 'step 1: unknown filter \\x22\\x0d\\x0a\\x7f\\x5c'),
    'range': ('pixelate|sharpen|blur:sigma=501', 'step 3: sigma is 501, it must be from 0.1 to 500'),
    'not a number': ('blur:sigma=nan', 'step 1: sigma is nan, it must be from 0.1 to 500'),
    'no value': ('blur:sigma', 'step 1: sigma is empty'), 'two values': ('blur:sigma=2=3', 'step 1: sigma is 2=3'),
    'comma': ('blur:sigma=2,edge=wrap', 'step 1: sigma is 2,edge=wrap'),
    'twice': ('sharpen|blur:sigma=2:edge=wrap:sigma=2', 'step 2: sigma is given more than once'),
    'unknown argument': ('blur:radius=2', 'step 1: unknown argument radius; blur takes sigma, kernel_size, edge'),
    "another filter's": ('blur:amount=2', 'step 1: unknown argument amount'),
    'a shared one': ('blur:quality=80', 'step 1: unknown argument quality'), 'a region': ('blur:region=1,2,3,4', 'unknown argument region'),
    'empty argument': ('blur::edge=wrap', 'step 1: unknown argument empty'), 'colon at the end': ('blur:', 'unknown argument empty'),
    'choice': ('blur:edge=frame', 'step 1: edge is frame, it must be clamp, mirror, wrap or zero'),
    'even': ('blur:kernel_size=4', 'an odd whole number from 3 to 99'), 'block': ('pixelate:block=0', 'block is 0'),
    'no matrix': ('blur|convolve', 'step 2: neither kernel nor preset is given'),
    'both': ('convolve:kernel=1:preset=edge', 'step 1: preset and kernel are both given'),
    'even matrix': ('sharpen|convolve:kernel=1,2;3,4', 'step 2: kernel has 2 rows of 2 numbers'),
    'divisor': ('convolve:preset=box:divisor=0', 'step 1: divisor is 0'),
}


@pytest.mark.parametrize('name', WRONG_STEPS)
def test_wrong_steps(server, name):
    ops, says = WRONG_STEPS[name]
    problem = check_problem(server.post('/pipeline?' + as_query(ops=ops), BODY), 'bad-parameter', 'ops', says)
    assert problem['detail'].startswith('ops')
    if len(ops) < 4000:
        answer = server.post('/pipeline', form(IMAGE, ('ops', ops)), headers=FORM)
        check_problem(answer, 'bad-parameter', 'ops', says)


def test_ops_must_be_there_once(server):
    check_problem(server.post('/pipeline', BODY), 'bad-parameter', 'ops', 'ops is missing')
    check_problem(server.post('/pipeline', form(IMAGE), headers=FORM), 'bad-parameter', 'ops', 'ops is missing')
    check_problem(server.post('/pipeline?ops=blur&ops=sharpen', BODY), 'bad-parameter', 'ops', 'more than once')
    check_problem(server.post('/pipeline?ops=blur', form(IMAGE, ('ops', 'blur')), headers=FORM), 'bad-parameter', 'ops', 'more than once')


@pytest.mark.parametrize('name', ('sigma', 'kernel', 'block', 'amount', 'edge'))
def test_arguments_of_filters_are_no_parameters(server, name):
    check_problem(server.post(f'/pipeline?ops=blur&{name}=2', BODY), 'bad-parameter', name, 'unknown parameter; pipeline takes ops')


@pytest.mark.parametrize('endpoint', ('blur', 'sharpen', 'pixelate', 'stats', 'convolve'))
def test_ops_are_for_pipelines(server, endpoint):
    check_problem(server.post(f'/{endpoint}?ops=blur', BODY), 'bad-parameter', 'ops', f'unknown parameter; {endpoint} takes')


def test_a_wrong_pipeline_is_refused_before_the_body(server):
    """Also where the steps contradict themselves."""
    for ops in ('swirl', 'convolve'):
        with server.connect() as connection:
            connection.send(f'POST /pipeline?ops={ops} HTTP/1.1\r\nHost: a\r\nContent-Length: 9999\r\nExpect: 100-continue\r\n\r\n'.encode())
            check_problem(connection.answer(), 'bad-parameter', 'ops')


@pytest.mark.parametrize('method', ('GET', 'PUT', 'DELETE'))
def test_methods(server, method):
    for path in ('pipeline', 'sharpen', 'convolve', 'pixelate', 'stats'):
        with server.connect() as connection:
            connection.send(f'{method} /{path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n'.encode())
            answer = connection.answer()
            check_problem(answer, 'method-not-allowed')
            assert answer.header('Allow') == 'POST'


# --- arguments that are wrong -------------------------------------------------------------------
LONG = ','.join(['1'] * 226)
WRONG_MATRICES = {
    'neither': ({}, 'kernel', 'neither kernel nor preset is given'),
    'both': ({'kernel': '1', 'preset': 'box'}, 'preset', 'both given'),
    'empty': ({'kernel': ''}, 'kernel', 'is not a number'),
    'even list': ({'kernel': '1,2,3,4'}, 'kernel', '1 rows of 4 numbers, sides must be odd'),
    'even rows': ({'kernel': '1,2,3;4,5,6'}, 'kernel', '2 rows of 3 numbers, sides must be odd'),
    'even columns': ({'kernel': '1,2;3,4;5,6'}, 'kernel', '3 rows of 2 numbers, sides must be odd'),
    'ragged': ({'kernel': '1,2,3;4,5;7,8,9'}, 'kernel', 'row 2 has 2 numbers, the first one has 3'),
    'wrong length': ({'kernel': '1,2,3,4,5,6,7,8', 'size': '3'}, 'kernel', 'with size=3 it must have 9'),
    'longer': ({'kernel': '1,2,3,4,5,6,7,8,9,10', 'size': '3'}, 'kernel', 'with size=3 it must have 9'),
    'rows of another size': ({'kernel': '1,2,3,4,5,6,7,8,9;' * 9 + '1', 'size': '9'}, 'kernel', 'row 10 has 1 numbers'),
    'not square': ({'kernel': '1,2,3', 'size': '3'}, 'kernel', 'with size=3 it must have 9'),
    'too wide': ({'kernel': ','.join(['1'] * 17)}, 'kernel', 'at most 15'),
    'too high': ({'kernel': ';'.join(['1'] * 17)}, 'kernel', 'at most 15'),
    'too many': ({'kernel': LONG, 'size': '15'}, 'kernel', 'more than 225 numbers'),
    **{f'number {text!r}': ({'kernel': f'1,{text},3'}, 'kernel', 'is not a number')
       for text in ('nan', 'NaN', 'inf', '-inf', '1e999', '0x1', '', ' 2', '+2', '1..2', '--1', '1e', 'a', '"2"', 'null', '1' * 40)},
    'huge': ({'kernel': '1,2,1000001'}, 'kernel', 'is out of range, numbers are from -1000000 to 1000000'),
    'trailing comma': ({'kernel': '1,2,3,'}, 'kernel', 'is not a number'), 'trailing ;': ({'kernel': '1,2,3;'}, 'kernel', 'is not a number'),
    'spaces': ({'kernel': '1, 2, 3'}, 'kernel', 'is not a number'), 'bars': ({'kernel': '1,2,3|4,5,6|7,8,9'}, 'kernel', 'is not a number'),
    'JSON without end': ({'kernel': '[1,2,3'}, 'kernel', 'is not the end of the array'),
    'JSON row without end': ({'kernel': '[[1,2,3]'}, 'kernel', 'is not the end of the array'),
    'JSON and more': ({'kernel': '[1,2,3] 4'}, 'kernel', 'follows the matrix'), 'JSON of nothing': ({'kernel': '[]'}, 'kernel', 'is not a number'),
    'JSON, empty row': ({'kernel': '[[]]'}, 'kernel', 'is not a number'), 'JSON, deeper': ({'kernel': '[[[1]]]'}, 'kernel', 'is not a number'),
    'JSON, mixed': ({'kernel': '[[1],2,[3]]'}, 'kernel', 'is not the start of a row'), 'JSON object': ({'kernel': '{"a":1}'}, 'kernel', 'is not a number'),
    'JSON with NaN': ({'kernel': '[[1,NaN,3]]'}, 'kernel', 'is not a number'), 'JSON, ragged': ({'kernel': '[[1,2,3],[4]]'}, 'kernel', 'row 2 has 1'),
    'unknown preset': ({'preset': 'prewitt'}, 'preset', 'preset is prewitt, it must be none, box, edge'),
    'empty preset': ({'preset': ''}, 'preset', 'preset is empty'), 'case': ({'preset': 'Edge'}, 'preset', 'preset is Edge'),
    'sobel': ({'preset': 'sobel'}, 'preset', 'sobel-x'), 'size of a preset': ({'preset': 'edge', 'size': '5'}, 'size', 'is 3 by 3'),
    'even size': ({'preset': 'box', 'size': '4'}, 'size', 'an odd whole number from 1 to 15'),
    'size 17': ({'preset': 'box', 'size': '17'}, 'size', 'from 1 to 15'), 'size 0': ({'preset': 'box', 'size': '0'}, 'size', 'from 1 to 15'),
    'size -3': ({'kernel': '1', 'size': '-3'}, 'size', 'from 1 to 15'), 'size 3.0': ({'preset': 'box', 'size': '3.0'}, 'size', 'whole number'),
    **{f'divisor {text!r}': ({'preset': 'box', 'divisor': text}, 'divisor', 'not nearer to 0 than 1e-09') for text in ('0', '-0', '0.0', 'nan', 'inf', '', '2e9', '-2e9', 'x')},
    **{f'divisor {text}': ({'preset': 'box', 'divisor': text}, 'divisor', 'not nearer to 0 than 1e-09') for text in ('1e-10', '-1e-320')},
    **{f'bias {text!r}': ({'preset': 'box', 'bias': text}, 'bias', 'from -255 to 255') for text in ('256', '-255.1', 'nan', '', '1;')},
    'edge': ({'preset': 'box', 'edge': 'none'}, 'edge', 'edge is none, it must be clamp, mirror, wrap, zero or frame'),
}


@pytest.mark.parametrize('name', WRONG_MATRICES)
def test_wrong_matrices(server, name):
    arguments, parameter, says = WRONG_MATRICES[name]
    check_problem(server.post('/convolve?' + as_query(**arguments), BODY), 'bad-parameter', parameter, says)
    answer = server.post('/convolve', form(*arguments.items(), IMAGE), headers=FORM)
    check_problem(answer, 'bad-parameter', parameter, says)


@pytest.mark.parametrize('target,parameter,says', (
    *((f'/sharpen?sigma={v}', 'sigma', 'from 0.1 to 500') for v in ('0', '501', 'nan', '')),
    *((f'/sharpen?amount={v}', 'amount', 'from 0 to 10') for v in ('-0.1', '10.1', 'nan', '')),
    *((f'/sharpen?threshold={v}', 'threshold', 'from 0 to 255') for v in ('-1', '256', 'inf')),
    ('/sharpen?edge=frame', 'edge', 'clamp, mirror, wrap or zero'), ('/sharpen?kernel_size=3', 'kernel_size', 'unknown parameter'),
    *((f'/pixelate?block={v}', 'block', 'a whole number from 1 to 4096') for v in ('0', '-1', '4097', '2.5', '1e1', '', '99999999999')),
    ('/pixelate?sigma=2', 'sigma', 'pixelate takes block'), ('/stats?quality=3', 'quality', 'stats takes'),
    ('/stats?format=png', 'format', 'stats takes'), ('/convolve?preset=box&sigma=2', 'sigma', 'convolve takes kernel, preset')))
def test_wrong_arguments(server, target, parameter, says):
    check_problem(server.post(target, BODY), 'bad-parameter', parameter, says)


# --- arguments that are right, and forms ------------------------------------------------------------
MATRIX = [[1, -2, 0.5], [0, 1e1, -3], [0.25, 7, -1]]
LIST = [value for row in MATRIX for value in row]


@pytest.fixture(scope='module')
def wanted(shared):
    return ask(shared, '/convolve?' + as_query(kernel=filtering.as_rows(MATRIX)), BODY).content


@pytest.mark.parametrize('text,more', (
    (filtering.as_rows(MATRIX), {}), (filtering.as_rows(MATRIX), {'size': 3}), (','.join(map(str, LIST)), {'size': 3}),
    (json.dumps(MATRIX), {}), (json.dumps(MATRIX, indent=4) + '\n', {}), (json.dumps(MATRIX, separators=(',', ':')), {'size': 3}),
    (json.dumps(LIST), {'size': 3}), (' \r\n\t' + json.dumps(MATRIX), {}), ('1,-2,.5;0,10,-3.;0.25,7,-1', {}), ('1,-2,0.5;0,1E+1,-3;2.5e-1,7,-1', {})))
def test_ways_to_write_a_matrix(server, wanted, text, more):
    assert ask(server, '/convolve?' + as_query(kernel=text, **more), BODY).content == wanted
    for kernel in (('kernel', text), ('kernel"; filename="matrix.json', text)):
        for parts in ((kernel, IMAGE), (IMAGE, kernel)):
            answer = server.post('/convolve', form(*parts, *((name, str(value)) for name, value in more.items())), headers=FORM)
            assert answer.status_code == 200 and answer.content == wanted, answer.text[:200]


@pytest.mark.skipif(not shutil.which('curl'), reason='no curl')
def test_curl_sends_a_matrix(server, tmp_path, wanted):
    (tmp_path / 'p.png').write_bytes(BODY)
    (tmp_path / 'matrix.json').write_text(json.dumps(MATRIX) + '\n')
    for kernel in (f'kernel=@{tmp_path}/matrix.json;type=application/json', f'kernel=<{tmp_path}/matrix.json'):
        done = subprocess.run(['curl', '-sS', '-F', kernel, '-F', f'image=@{tmp_path}/p.png', server.url('/convolve')],
                              capture_output=True, timeout=30 * daemon.SLOW, check=True)
        assert done.stdout == wanted


def test_the_largest_matrix(server):
    matrix = numpy.random.default_rng(1).uniform(-1, 1, (15, 15)).round(6)
    result = ask_png(server, '/convolve?' + as_query(kernel=json.dumps(matrix.tolist())), BODY)
    filtering.check(result, filtering.convolve(PICTURE, matrix), 255)


@pytest.mark.parametrize('ops', ('blur:sigma=2', 'sharpen:amount=2:sigma=3|blur', '|'.join(['convolve:preset=box:size=3'] * 8)))
def test_ops_in_a_form(server, ops):
    plain = ask(server, '/pipeline?' + as_query(ops=ops), BODY).content
    for part in (('ops', ops), ('ops"; filename="steps.txt', ops)):
        answer = server.post('/pipeline', form(part, IMAGE), headers=FORM)
        assert answer.status_code == 200 and answer.content == plain


def test_a_matrix_in_a_pipeline(server, wanted):
    for kernel in (filtering.as_rows(MATRIX), json.dumps(MATRIX)):
        assert ask(server, '/pipeline?' + as_query(ops=f'convolve:kernel={kernel}'), BODY).content == wanted


def test_two_pictures_and_a_matrix(server):
    second = ('second"; filename="b.png', BODY)
    answer = server.post('/convolve', form(('kernel"; filename="k.json', '[1]'), IMAGE, second), headers=FORM)
    check_problem(answer, 'bad-parameter', 'second', 'more than one file')
    answer = server.post('/convolve', form(('kernel"; filename="k.json', '[1]')), headers=FORM)
    check_problem(answer, 'corrupt-image', says='no file')
    answer = server.post('/blur', form(('kernel"; filename="k.json', '[1]'), IMAGE), headers=FORM)
    check_problem(answer, 'bad-parameter', 'image', 'more than one file')


@pytest.mark.parametrize('size,says', ((4095, 'is not a number'), (4096, 'too long'), (100000, 'too long')))
def test_a_long_file_for_a_parameter(server, size, says):
    answer = server.post('/convolve', form(('kernel"; filename="k.json', '[' + ' ' * (size - 1)), IMAGE), headers=FORM)
    check_problem(answer, 'bad-parameter', 'kernel', says)


def test_the_number_of_steps_is_an_option(start):
    """In the query, in a form, and in the description."""
    own = start('--max-steps', 2)
    for steps, status in (('blur|blur', 200), ('blur|blur|blur', 400)):
        for answer in (own.post(f'/pipeline?ops={steps}', BODY), own.post('/pipeline', form(IMAGE, ('ops', steps)), headers=FORM)):
            assert answer.status_code == status
            if status == 400:
                check_problem(answer, 'bad-parameter', 'ops', 'more than 2 steps, which is the limit (max_steps)')
    assert own.get('/openapi.json').json()['x-limits']['max_steps']['value'] == '2'
