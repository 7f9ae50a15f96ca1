# SPDX-License-Identifier: MIT
"""The part `regions` of a form: regions in JSON, as detectors give them."""

import json

import numpy
import pytest

import anatomy
import areas
import filtering
import pictures
from problems import check_problem
from test_multipart import form

WIDTH, HEIGHT = 61, 45
UPRIGHT = pictures.photograph(WIDTH, HEIGHT)
PICTURE = pictures.png(UPRIGHT)
TARGET = '/convolve?preset=emboss&bias=50&format=png'


def ask(server, regions, target=TARGET, body=PICTURE, *more):
    text = regions if isinstance(regions, (bytes, str)) else json.dumps(regions)
    parts = [('image"; filename="p', body), ('regions', text), *more]
    return server.post(target, form(*parts), headers={'Content-Type': 'multipart/form-data; boundary=simple'})


def same(server, regions, *given, target=TARGET, body=PICTURE):
    """The list does what the parameter does."""
    answer = ask(server, regions, target, body)
    assert answer.status_code == 200, answer.text
    wanted = server.post(f'{target}&{areas.query(*given)}', body)
    assert wanted.status_code == 200, wanted.text
    assert answer.content == wanted.content
    assert answer.headers['X-Regions'] == str(len(given)) and 'X-Regions' not in wanted.headers
    return answer


BOX = {'box': [7, 5, 20, 11]}
TURNED = [[30, 20], [50, 24], [49, 29], [29, 25]]  # as /detect answers beside a box, which is what counts


@pytest.mark.parametrize('entry,region', (
    (BOX, '7,5,20,11'), ({'corners': [7, 5, 27, 16]}, '7,5,20,11'), ({'x': 7, 'y': 5, 'width': 20, 'height': 11}, '7,5,20,11'),
    ({'ellipse': [30.3, 4.2, 25, 33]}, 'ellipse:30.3,4.2,25,33'),
    ({'polygon': [[5.3, 4.1], [55.2, 9.8], [20.7, 41.3]]}, 'polygon:5.3,4.1,55.2,9.8,20.7,41.3'),
    ({'x': 7, 'y': 5, 'width': 20, 'height': 11, 'polygon': TURNED}, '7,5,20,11'), ({'polygon': TURNED, 'x': 7, 'y': 5, 'width': 20, 'height': 11}, '7,5,20,11'),
    ({'x': 7, 'polygon': TURNED, 'y': 5, 'width': 20, 'height': 11, 'margin': 10}, '5,3.9,24,13.2'),
    ({**BOX, 'margin': 10}, '5,3.9,24,13.2'), ({**BOX, 'score': 0.1, 'label': 'face', 'landmarks': [[1, {'a': None}]]}, '7,5,20,11'),
))
def test_shapes(server, entry, region):
    same(server, [entry], region)
    same(server, {'regions': [entry, entry]}, region, region)
    same(server, {'faces': [entry], 'width': WIDTH, 'height': HEIGHT}, region)


@pytest.mark.parametrize('unit,entry,region', (
    ('px', BOX, '7,5,20,11'), ('percent', {'box': [10, 20, 30, 40]}, '10%,20%,30%,40%'),
    ('ratio', {'ellipse': [0.1, 0.2, 0.3, 0.4]}, 'ellipse:10%,20%,30%,40%'),
    ('ratio', {'polygon': [[0, 0], [1, 0], [0.5, 1]]}, 'polygon:0%,0%,100%,0%,50%,100%'),
))
def test_units(server, unit, entry, region):
    for document in ({'unit': unit, 'regions': [entry]}, {'regions': [entry], 'unit': unit}):
        same(server, document, region)


def test_the_parameter_unit_is_for_the_parameter(server):
    answer = ask(server, [BOX], f'{TARGET}&unit=ratio&region=0.5,0.5,0.25,0.5')
    assert answer.content == server.post(f'{TARGET}&region=50%25,50%25,25%25,50%25&region=7,5,20,11', PICTURE).content
    assert answer.headers['X-Regions'] == '2'


def test_margins(server):
    entries = [BOX, {'ellipse': [30, 20, 10, 10], 'margin': 0}]
    same(server, {'margin': 10, 'regions': entries}, '5,3.9,24,13.2', 'ellipse:30,20,10,10')


def test_choice(server):
    entries = [{**BOX, 'score': 0.4, 'label': 'face'}, {'box': [30, 4, 9, 9], 'score': 0.6, 'label': 'plate'},
               {'box': [1, 30, 9, 9]}, {'box': [40, 30, 9, 9], 'score': 0.9, 'label': 'cat'}]
    given = ['7,5,20,11', '30,4,9,9', '1,30,9,9', '40,30,9,9']
    same(server, {'regions': entries}, *given)
    same(server, {'threshold': 0.6, 'regions': entries}, *given[1:])
    same(server, {'labels': ['face', 'p\\u006cate'.encode().decode('unicode_escape')], 'regions': entries}, *given[:3])
    same(server, {'labels': [], 'threshold': 0.5, 'regions': entries}, given[2])


def test_escapes_in_labels(server):
    text = '{"labels": ["\\ud83d\\ude00\\n\\u00e9"], "regions": [{"box": [7,5,20,11], "label": "\U0001F600\\u000a\u00e9"}]}'
    same(server, text.encode(), '7,5,20,11')


@pytest.mark.parametrize('regions', ([], {'regions': []}, {'threshold': 1, 'regions': [{**BOX, 'score': 0.5}]}))
def test_none_is_left(server, regions):
    """Without a region nothing is filtered, and inverted everything is."""
    for more in ('', '&feather=3'):
        answer = ask(server, regions, TARGET + more)
        assert answer.status_code == 200 and answer.headers['X-Regions'] == '0', answer.text
        assert (anatomy.read_png(answer.content) == UPRIGHT).all()
        answer = ask(server, regions, f'{TARGET}{more}&invert=1')
        assert answer.content == server.post(TARGET, PICTURE).content
    redact = '/pixelate?block=8&mode=redact&format=png&require=false'
    assert (anatomy.read_png(ask(server, regions, redact).content) == UPRIGHT).all()
    assert ask(server, regions, f'{redact}&invert=1').content == server.post(redact, PICTURE).content


def test_jpeg_keeps_its_blocks(server):
    body = pictures.jpeg(pictures.photograph(160, 96))
    for mode in ('', '&mode=redact'):
        answer = ask(server, [{'box': [20, 20, 30, 30]}], '/pixelate?block=8' + mode, body)
        assert answer.content == server.post(f'/pixelate?block=8{mode}&region=20,20,30,30', body).content


@pytest.mark.parametrize('orientation', range(1, 9))
def test_turned(server, orientation):
    body = pictures.png(pictures.stored_as(UPRIGHT, orientation), before=[('eXIf', pictures.exif(orientation))])
    for turned in ('true', 'false'):
        same(server, {'regions': [BOX], 'width': WIDTH}, '7,5,20,11', target=f'{TARGET}&autorotate={turned}', body=body)


def test_beyond_the_border(server):
    """Detectors give such boxes. What lies in the picture counts, and a notice says so."""
    answer = ask(server, [{'box': [-10, -5, 30, 25]}, {'corners': [50, 40, 70, 60]}])
    wanted = server.post(f'{TARGET}&region=0,0,20,20&region=50,40,20,20', PICTURE)
    assert answer.content == wanted.content
    assert answer.headers['X-Blurd-Notice'] == 'regions outside the picture, which have no effect: 0 of 2; cut by its border: 2; the first is region 1'
    answer = ask(server, [BOX, {'box': [-10, -5, 9, 9]}], '/blur?sigma=2&mode=redact')
    check_problem(answer, 'bad-parameter', 'regions', 'regions: entry 2 lies off the picture')
    answer = ask(server, [BOX, {'box': [1, 2, 0.1, 9]}], '/blur?sigma=2&mode=redact')
    check_problem(answer, 'bad-parameter', 'regions', 'regions: entry 2 is 0.1 x 9 pixels')


def test_many(server):
    picture = pictures.png(pictures.photograph(640, 480))
    entries = [{'box': [20 * (i % 32), 15 * (i // 32), 9, 7]} for i in range(1024)]
    answer = ask(server, entries, body=picture)
    assert answer.status_code == 200 and answer.headers['X-Regions'] == '1024', answer.text
    mask = numpy.zeros((480, 640, 1), bool)
    for i in range(1024):
        mask[15 * (i // 32):15 * (i // 32) + 7, 20 * (i % 32):20 * (i % 32) + 9] = True
    filtered = filtering.ask_png(server, TARGET, picture)
    assert (anatomy.read_png(answer.content) == numpy.where(mask, filtered, pictures.photograph(640, 480))).all()
    redacted = anatomy.read_png(ask(server, entries, '/pixelate?mode=redact&format=png', picture).content)
    assert ((redacted == pictures.photograph(640, 480)).all(-1, keepdims=True) | mask).all()
    check_problem(ask(server, entries + [BOX]), 'bad-parameter', 'regions', 'regions: entry 1025: there are more than 1024 regions')
    check_problem(ask(server, entries, f'{TARGET}&region=1,1,9,9'), 'bad-parameter', 'regions', 'more than 1024 regions')
    below = [{**BOX, 'score': 0}] * 15360
    assert ask(server, {'threshold': 0.1, 'regions': below + entries}).headers['X-Regions'] == '1024'
    check_problem(ask(server, {'threshold': 0.1, 'regions': below + entries + [BOX]}), 'bad-parameter', 'regions', 'more than 16384 entries')
    polygon = {'polygon': [[i, i % 2] for i in range(64)]}
    assert ask(server, [polygon] * 64).headers['X-Regions'] == '64'
    check_problem(ask(server, [polygon] * 65), 'bad-parameter', 'regions', 'regions: entry 65: the regions have more than 8192 numbers')


def entry(more):
    return '[{"box": [1, 2, 3, 4]}, ' + more + ']'


WRONG = (
    ('', 'regions: at byte 1 there is no JSON object or array'), ('  nul', 'at byte 3 there is no JSON'), ('[', 'at byte 2 there is no valid JSON'),
    ('[] x', 'at byte 4 there is no end of the JSON'), ('[{},]', 'no valid JSON'), ('{}', 'the array "regions" is missing'),
    ('{"regions": {}}', 'at byte 13 there is no array of regions'), ('{"regions": 1}', 'no array of regions'), ('{"regions" []}', 'no name with a colon'),
    ('{"regions": [] "unit": "px"}', 'no comma or }'), ('{"faces": [], "faces": []}', 'faces is there more than once'),
    ('{"area": []}', 'unknown name area; there are unit, margin'), ('{"unit": 1, "regions": []}', 'no text for the unit'),
    ('{"unit": "inch", "regions": []}', 'unit is inch, it must be px, percent or ratio'),
    ('{"margin": -1, "regions": []}', 'margin is -1, it must be from 0 to 500'), ('{"margin": "5", "regions": []}', 'no number'),
    ('{"threshold": -0.5, "regions": []}', 'threshold is -0.5'), ('{"width": 0, "regions": []}', 'width is 0'),
    ('{"width": 1e300, "regions": []}', 'width is 1e+300'), ('{"height": 1.5, "regions": []}', 'height is 1.5, it must be whole'), ('{"width": 60, "regions": []}', 'other width or height than 61x45'),
    ('{"labels": "a", "regions": []}', 'no array of labels'), ('{"labels": [1], "regions": []}', 'no text for a label'),
    ('{"labels": ["a" "b"], "regions": []}', 'no end of the labels'),
    ('{"labels": [' + ','.join(['"a"'] * 17) + '], "regions": []}', 'more than 16 labels'),
    (entry('1'), 'regions: entry 2 is no JSON object'), (entry('{}'), 'entry 2 has no shape'), (entry('{"score": 1}'), 'entry 2 has no shape'),
    (entry('{"x": 1, "y": 2, "width": 3}'), 'entry 2 has no shape'), (entry('{"box": [1, 2, 3]}'), 'entry 2 must have 4 numbers'),
    (entry('{"box": [1, 2, 3, 4, 5]}'), 'entry 2 has too many numbers'), (entry('{"box": 1}'), 'entry 2 has no array of numbers'),
    (entry('{"box": [1, 2, 3, "4"]}'), 'entry 2 has something else than numbers'), (entry('{"box": [1, 2, 3, 1e999]}'), 'not_json'),
    (entry('{"box": [1, 2, 0, 4]}'), 'entry 2 is empty'), (entry('{"ellipse": [1, 2, 3, -4]}'), 'entry 2 is empty'),
    (entry('{"corners": [9, 2, 3, 4]}'), 'entry 2 is empty'), (entry('{"box": [1, 2, 3, 1000001]}'), 'entry 2 reaches, with its margin, beyond 1e+06 px'),
    (entry('{"box": [-1000001, 2, 3, 4]}'), 'entry 2 reaches'), (entry('{"box": [1,2,3,4], "ellipse": [1,2,3,4]}'), 'entry 2 has more than one shape'),
    (entry('{"box": [1,2,3,4], "x": 1}'), 'entry 2 has more than one shape'), (entry('{"x": 1, "box": [1,2,3,4]}'), 'entry 2 has more than one shape'),
    (entry('{"box": [1,2,3,4], "polygon": [[1,1],[2,2],[3,9]]}'), 'entry 2 has more than one shape'), (entry('{"x": 1, "polygon": [[1,1],[2,2],[3,9]]}'), 'entry 2 has no shape'),
    (entry('{"x": 1, "y": 2, "width": 3, "height": 4, "polygon": [[1,1],[2]]}'), 'entry 2: a point of a polygon has 2 numbers'),
    (entry('{"box": [1,2,3,4], "box": [1,2,3,4]}'), 'entry 2: box is there more than once'), (entry('{"polygon": []}'), 'entry 2: a polygon has at least 3 points'),
    (entry('{"polygon": [[1,2],[3,4],[5]]}'), 'entry 2: a point of a polygon has 2 numbers'), (entry('{"polygon": [1,2,3,4,5,6]}'), 'entry 2 has no array of numbers'),
    (entry('{"polygon": 1}'), 'entry 2: a polygon is an array of points'), (entry('{"polygon": [[1,1],[2,2],[3,3]]}'), 'entry 2 is empty: the points'),
    (entry('{"polygon": ' + json.dumps([[i, i % 2] for i in range(65)]) + '}'), 'entry 2: a polygon has at most 64 points'),
    (entry('{"polygon": [[1,1],[2,2],[3,9]], "margin": 1}'), 'entry 2: margin is for boxes and ellipses'),
    (entry('{"box": [1,2,3,4], "margin": 501}'), 'entry 2: margin must be from 0 to 500 percent'), (entry('{"x": "1"}'), 'entry 2: x is no number'),
    (entry('{"score": null}'), 'entry 2: score is no number'), (entry('{"label": 1}'), 'entry 2: label is no text'),
    (entry('{"kind": 1}'), 'entry 2: unknown name kind; there are box, corners'), (entry('{"box": [1,2,3,4] "x"}'), 'not_json'),
    ('[' * 17 + ']' * 17, 'no valid JSON'), ('["\\ud800"]', 'no valid JSON'), ('["\\u0000"]', 'no valid JSON'), ('["\n"]', 'no valid JSON'),
    ('[01]', 'no valid JSON'), ('[.5]', 'no valid JSON'), ('[1.]', 'no valid JSON'), ('[+1]', 'no valid JSON'), ('[NaN]', 'no valid JSON'),
    ('[1e]', 'no valid JSON'), ("['a']", 'no valid JSON'), ('[tru]', 'no valid JSON'), ('\0', 'no JSON object'), ('[]\0', 'no end of the JSON'),
    ('[' + '0' * 63 + ']', 'no valid JSON'), ('\xef\xbb\xbf[]', 'no JSON object'),
)


@pytest.mark.parametrize('text,says', WRONG)
def test_wrong(server, text, says):
    check_problem(ask(server, text.encode()), 'bad-parameter', 'regions', 'no valid JSON' if says == 'not_json' else says)


def test_too_long(server):
    check_problem(ask(server, '[' + ' ' * (1 << 20) + ']'), 'bad-parameter', 'regions', 'the part has 1048578 bytes, the limit is 1048576')


def test_twice(server):
    answer = ask(server, [BOX], TARGET, PICTURE, ('regions', '[]'))
    check_problem(answer, 'bad-parameter', 'regions', 'regions is there more than once')


def test_not_in_the_query(server):
    check_problem(server.post('/blur?regions=[]', PICTURE), 'bad-parameter', 'regions', 'unknown parameter')


@pytest.mark.parametrize('target,parameter', (('/pipeline?ops=rotate|blur', 'regions'), ('/crop?width=9&height=9', 'regions')))
def test_steps_that_move_pixels(server, target, parameter):
    check_problem(ask(server, [BOX], target), 'bad-parameter', parameter, 'regions: ')


def test_statistics(server):
    answer = ask(server, [BOX], '/stats')
    assert answer.json() == server.post('/stats?region=7,5,20,11', PICTURE).json()
    assert ask(server, [], '/stats').json()['pixels'] == 0
