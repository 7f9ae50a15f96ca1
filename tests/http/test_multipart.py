# SPDX-License-Identifier: MIT
"""multipart/form-data: the picture in a file part, parameters in the others."""

import os
import shutil
import subprocess

import pytest

import anatomy
import daemon
import pictures
from problems import check_problem

FILE = ('image"; filename="photo.png', pictures.small_png())


def form(*parts, boundary='simple', end='--\r\n', prologue=b'', extra=b'Content-Type: image/png\r\n'):
    """Parts are (name with further parameters, data)."""
    body = prologue
    for name, data in parts:
        data = data if isinstance(data, bytes) else data.encode()
        body += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n'.encode() + (extra if 'filename' in name else b'')
        body += b'\r\n' + data + b'\r\n'
    return body + f'--{boundary}{end}'.encode()


def ask(server, body, query='', kind='multipart/form-data; boundary=simple'):
    return server.post(f'/blur?{query}', body, headers={'Content-Type': kind})


@pytest.fixture(scope='module')
def wanted(shared):
    """The answer to the same picture sent raw."""
    return {q: shared.post(f'/blur?{q}', pictures.small_png()).content for q in ('', 'sigma=5', 'sigma=5&edge=wrap')}


def test_like_curl(server, wanted):
    answer = server.post('/blur', files={'image': ('photo.png', pictures.small_png(), 'image/png')})
    assert answer.status_code == 200 and answer.content == wanted['']
    answer = server.post('/blur', {'sigma': '5'}, files={'image': ('photo.png', pictures.small_png())})
    assert answer.content == wanted['sigma=5']


@pytest.mark.skipif(not shutil.which('curl'), reason='no curl')
def test_curl_itself(server, tmp_path, wanted):
    (tmp_path / 'p.png').write_bytes(pictures.small_png())
    done = subprocess.run(['curl', '-sS', '-F', f'image=@{tmp_path}/p.png', '-F', 'sigma=5', server.url('/blur?edge=wrap')],
                          capture_output=True, timeout=30 * daemon.SLOW, check=True)
    assert done.stdout == wanted['sigma=5&edge=wrap']


def test_parameters_before_and_after_the_file(server, wanted):
    for parts in ([('sigma', '5'), FILE], [FILE, ('sigma', '5')]):
        assert ask(server, form(*parts)).content == wanted['sigma=5']
    assert ask(server, form(('edge', 'wrap'), FILE), 'sigma=5').content == wanted['sigma=5&edge=wrap']


@pytest.mark.parametrize('query,parts,name', (
    ('sigma=2', [('sigma', '2')], 'sigma'), ('', [('sigma', '2'), ('sigma', '2')], 'sigma'),
    ('', [('sigma', '0')], 'sigma'), ('', [('sigma', '')], 'sigma'), ('', [('radius', '2')], 'radius'),
    ('', [('sigma', '2\0')], 'sigma'), ('', [('sigma', 'x' * 5000)], 'sigma'), ('', [('edge', ' wrap')], 'edge'),
    ('', [('sigma', '%32')], 'sigma'),
))
def test_bad_fields(server, query, parts, name):
    for body in (form(*parts, FILE), form(FILE, *parts)):
        check_problem(ask(server, body, query), 'bad-parameter', parameter=name)


def test_two_files(server):
    other = ('second"; filename="b.png', pictures.small_png())
    check_problem(ask(server, form(FILE, other)), 'bad-parameter', parameter='second', says='more than one file')


def test_no_file(server):
    check_problem(ask(server, form(('sigma', '2'))), 'corrupt-image', says='no file')
    check_problem(ask(server, b'--simple--\r\n'), 'corrupt-image', says='no file')


@pytest.mark.parametrize('kind', ('image/png', 'IMAGE/jpeg', ' application/octet-stream', 'image/webp; x=y'))
def test_a_picture_without_a_file_name(server, wanted, kind):
    head = f'--simple\r\nContent-Type:{kind}\r\nContent-Disposition: form-data; name="image"\r\n\r\n'.encode()
    answer = ask(server, head + pictures.small_png() + b'\r\n' + form(('sigma', '5')))
    assert answer.status_code == 200 and answer.content == wanted['sigma=5']


def test_a_picture_without_name_and_type(server):
    for data in (pictures.small_png(), b'x' * 5000):
        check_problem(ask(server, form(('image', data))), 'bad-parameter', parameter='image', says='needs a file name or a Content-Type')


@pytest.mark.parametrize('field', ('mask', 'regions', 'image', 'kernel', 'second'))
def test_a_file_that_was_not_chosen(server, wanted, field):
    """Browsers send an optional field for a file with an empty name and no bytes."""
    empty = (f'{field}"; filename="', b'')
    for parts in ((FILE, empty), (empty, FILE)):
        answer = ask(server, form(*parts, ('sigma', '5')))
        assert answer.status_code == 200 and answer.content == wanted['sigma=5']
    check_problem(ask(server, form(empty)), 'corrupt-image', says='no file')


def test_a_mask_that_is_empty_is_no_mask_that_was_not_chosen(server):
    for name in ('mask"; filename="m.png', 'mask'):
        assert ask(server, form(FILE, (name, b''))).status_code == 400


def test_redaction_is_not_lost_with_a_mask_that_was_not_chosen(server):
    """What it then covers is what it covers without the field."""
    empty, plain = ('mask"; filename="', b''), ask(server, form(FILE), 'mode=plain')
    for query in ('mode=redact', 'mode=redact&region=1,1,5,5'):
        with_field, without = ask(server, form(FILE, empty), query), ask(server, form(FILE), query)
        assert with_field.status_code == without.status_code == 200, with_field.text
        assert with_field.content == without.content != plain.content


def test_empty_file(server):
    check_problem(ask(server, form(('image"; filename="a.png', b''))), 'corrupt-image')


def test_what_the_file_holds_decides(server):
    check_problem(ask(server, form(('image"; filename="photo.png', b'%PDF-1' + bytes(50)))), 'unsupported-image', says='PDF')
    answer = ask(server, form(('image"; filename="..\\..\\/etc/passwd', pictures.small_jpeg())))
    assert answer.headers['Content-Type'] == 'image/jpeg'


@pytest.mark.parametrize('name', ('image"; filename="', 'image"; filename*="UTF-8\'\'%e2%82%ac.png', 'image" ; FILENAME="a',
                                  'image"; filename="a\\"b; name=c', 'image"; filename="name=sigma'))
def test_spellings_of_a_file_part(server, wanted, name):
    assert ask(server, form((name, pictures.small_png()))).content == wanted['']


@pytest.mark.parametrize('kind', (
    'multipart/form-data; boundary="simple"', 'Multipart/Form-Data;boundary=simple', 'multipart/form-data ; Boundary=simple',
    'multipart/form-data; charset=utf-8; boundary=simple', 'multipart/form-data; boundary=simple; x="a;boundary=y"',
    'multipart/form-data; x="; boundary=y"; boundary=simple', 'multipart/form-data; boundary=simple ',
))
def test_spellings_of_the_type(server, wanted, kind):
    assert ask(server, form(FILE), kind=kind).content == wanted['']


@pytest.mark.parametrize('boundary', ('a', "'()+_,-./:=?", 'with space', 'x' * 70, '-' * 30 + '7'))
def test_boundaries(server, wanted, boundary):
    answer = ask(server, form(FILE, boundary=boundary), kind=f'multipart/form-data; boundary="{boundary}"')
    assert answer.content == wanted['']


@pytest.mark.parametrize('kind', (
    'multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary=""',
    'multipart/form-data; boundary=' + 'x' * 71, 'multipart/form-data; bound=simple', 'multipart/form-data; boundary=other',
    'multipart/form-data; boundary=Simple',
))
def test_broken_boundary(server, kind):
    check_problem(ask(server, form(FILE), kind=kind), 'corrupt-image', says='boundary')


def test_the_envelope_alone_is_not_a_picture(server):
    check_problem(ask(server, form(FILE), kind='application/octet-stream'), 'unsupported-image')
    check_problem(ask(server, form(FILE), kind='multipart/mixed; boundary=simple'), 'unsupported-image')
    check_problem(ask(server, pictures.small_png()), 'corrupt-image', says='boundary')


def test_line_ends_and_comments_around(server, wanted):
    for body in (form(FILE, prologue=b'This is a prologue.\r\n'), form(FILE, end='--'), form(FILE, end='--\r\nepilogue\r\n--simple'),
                 form(FILE, extra=b''), form(FILE, extra=b'X-Any: thing\r\nContent-Transfer-Encoding: binary\r\n'),
                 form(FILE).replace(b'--simple\r\n', b'--simple \t\r\n')):
        assert ask(server, body).content == wanted['']


def test_cut_anywhere(server):
    body = form(FILE, ('sigma', '5'))
    end = body.rindex(b'--\r\n')
    for size in sorted({*range(0, end, 97), *range(end - 60, end)}):
        answer = ask(server, body[:size])
        assert answer.status_code == 400, f'cut to {size} of {len(body)} bytes'


def test_data_that_looks_like_a_boundary(server):
    """Everything short of the delimiter itself is data: here inside a PNG chunk that is skipped."""
    lookalikes = b'x--simple\r\n \r\n--simpl\r\n-- simple\r\n-simple--\r\n\r\n\r\n--\r\r\n--Simple\r\n' * 9
    body = pictures.png(pictures.photograph(40, 30), before=[('prVt', lookalikes)])
    answer = ask(server, form(('image"; filename="p.png', body)))
    assert answer.status_code == 200 and anatomy.pixels(answer.content).shape == (30, 40, 3)


def test_random_bytes_around_the_picture(server):
    for seed in range(40):
        junk = os.urandom(300) + [b'\r\n--simple', b'--simple--', b'\r\n\r\n'][seed % 3] + os.urandom(50)
        for body in (junk, form(FILE)[:400] + junk, junk + form(FILE)):
            assert ask(server, body).status_code in (200, 400, 415)


def test_limits(server):
    fields = [(f'f{i}', '1') for i in range(70)]
    assert ask(server, form(FILE, *fields)).status_code == 400
    check_problem(ask(server, form(*[('image"; filename="' + 'x' * 5000, b'')])), 'corrupt-image', says='header')
    assert ask(server, form(('x' * 64, '1'), FILE)).status_code == 400
    nameless = b'--simple\r\nContent-Type: image/png\r\n\r\n' + pictures.small_png() + b'\r\n--simple--\r\n'
    check_problem(ask(server, nameless), 'corrupt-image', says='name')


def test_an_envelope_of_nothing_but_line_ends_is_quick(server):
    body = b'--simple' + b'\r\n--simpl' * 200000
    answer = ask(server, body)
    assert answer.status_code == 400 and answer.elapsed.total_seconds() < 2 * daemon.SLOW
