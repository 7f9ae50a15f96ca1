# SPDX-License-Identifier: MIT
"""Text is found, becomes regions, and never stays unhidden where it cannot be looked for."""

import io
import json

import numpy
import pytest
from PIL import Image

import anatomy
import faces
import foreign
import pictures
import writing
from problems import check_late, check_problem
from test_multipart import form

REDACT = '/pixelate?block=8&mode=redact&detect=text&fill=000000'
BLANK = pictures.png(numpy.full((96, 128, 3), 200, numpy.uint8))
pytestmark = writing.needed


def lines(server, body, query=''):
    answer = server.post(f'/detect?detect=text{query}', body)
    assert answer.status_code == 200, answer.text
    page = answer.json()
    assert set(page) == {'width', 'height', 'text'}
    names = {'x', 'y', 'width', 'height', 'score'} | (set() if 'detect_grid' in query and 'detect_grid=1&' not in f'{query}&' else {'polygon'})
    assert all(set(line) == names for line in page['text'])
    return [writing.corners(line) for line in page['text']]


# --- it is found -------------------------------------------------------------------------
@pytest.mark.parametrize('dark', (False, True))
@pytest.mark.parametrize('height', (12, 16, 24, 40, 60))
def test_all_words(server, height, dark):
    """Nearly all ink lies in the boxes, which lie around the lines and nowhere else."""
    picture, words = writing.letter(height, dark, (60 + 16 * height, 80 + 10 * height))
    found = lines(server, writing.png(picture))
    assert writing.covered(picture, found) > 0.98
    for left, top, right, bottom in found:
        assert 0 <= left < right <= picture.width and 0 <= top < bottom <= picture.height
        assert any(left < box[2] and right > box[0] and top < box[3] and bottom > box[1] for box in words)


def test_the_answer(server):
    picture, _ = writing.letter()
    answer = server.post('/detect?detect=text', writing.png(picture))
    page = answer.json()
    assert (page['width'], page['height']) == picture.size and len(page['text']) == len(writing.LINES)
    assert all(0.6 < line['score'] <= 1 for line in page['text'])
    tops = [line['y'] for line in page['text']]
    assert tops == sorted(tops)


@pytest.mark.parametrize('orientation', range(1, 9))
def test_orientations(server, orientation):
    """The same boxes, upright, to the byte."""
    upright = numpy.asarray(writing.letter()[0])
    wanted = server.post('/detect?detect=text', pictures.png(upright)).content
    turned = pictures.png(pictures.stored_as(upright, orientation), before=[('eXIf', pictures.exif(orientation))])
    for query in ('', '&autorotate=false'):
        assert server.post(f'/detect?detect=text{query}', turned).content == wanted


def test_turned_text(server):
    """Text that stands on end, without EXIF."""
    picture = writing.letter(24)[0].transpose(Image.Transpose.ROTATE_90)
    assert writing.covered(picture, lines(server, writing.png(picture))) > 0.95


@pytest.mark.parametrize('mode', ('LA', 'RGBA'))
@pytest.mark.parametrize('ink', (0, 255))
def test_only_alpha_shows_it(server, mode, ink):
    """One colour everywhere, dark or light, and the letters are what is opaque."""
    picture, _ = writing.letter(24)
    alone = Image.new('L', picture.size, ink).convert(mode)
    alone.putalpha(picture.convert('L').point(lambda value: 255 - value))
    assert writing.covered(picture, lines(server, writing.png(alone))) > 0.98


def kinds():
    picture, _ = writing.letter(24)
    pixels = numpy.asarray(picture)
    alpha = picture.copy()
    alpha.putalpha(200)
    yield 'png', writing.png(picture)
    yield 'grey', writing.png(picture.convert('L'))
    yield 'grey jpeg', faces.encoded(picture.convert('L'), quality=60)
    yield 'alpha', writing.png(alpha)
    yield '16 bits', pictures.png(pixels.astype(numpy.uint16) * 257, depth=16)
    yield '420', faces.encoded(picture, quality=50, subsampling='4:2:0')
    yield '444', faces.encoded(picture, quality=80, subsampling='4:4:4')
    yield 'progressive', faces.encoded(picture, quality=80, progressive=True)


@pytest.mark.parametrize('kind, body', [pytest.param(*pair, id=pair[0]) for pair in kinds()])
def test_kinds_of_pictures(server, kind, body):
    picture, _ = writing.letter(24)
    found = lines(server, body)
    assert writing.covered(picture, found) > 0.98
    answer = server.post(f'{REDACT}&format=png&detect_report=true', body)
    assert answer.status_code == 200 and answer.headers['X-Text'].count(';') == len(lines(server, body, '&detect_grid=16')) - 1
    assert no_ink(answer.content, slack=40 if body.startswith(b'\xff\xd8') else 0)  # colours of JPEG reach beyond edges


@pytest.mark.parametrize('kind', foreign.WRITERS)
def test_other_formats(server, kind):
    if kind not in server.get('/version').json()['formats']['reads']:
        pytest.skip(f'built without {kind}')
    picture, _ = writing.letter(24)
    assert writing.covered(picture, lines(server, foreign.write(kind, numpy.asarray(picture)))) > 0.98


@pytest.mark.parametrize('left, top', ((0, 0), (0, 170), (-30, 90), (470, 90), (300, 176), (300, -8)))
def test_on_the_edges(server, left, top):
    """Words at the edges of the picture, also those that it cuts."""
    drawn = writing.word('Holloway 4471', 24)
    ink = Image.new('L', (600, 200))
    ink.paste(drawn, (left, top))
    picture = Image.composite(Image.new('RGB', ink.size, (20, 20, 20)), Image.new('RGB', ink.size, (240, 240, 240)), ink)
    assert writing.covered(picture, lines(server, writing.png(picture))) > 0.97
    answer = server.post(f'{REDACT}&format=png', writing.png(picture))
    assert answer.status_code == 200 and no_ink(answer.content, 240)


# --- it is hidden ------------------------------------------------------------------------
FILL = 25  # a fill of 000000 has levels below it: redaction tells what it hid by a pattern


def no_ink(body, paper=250, slack=0):
    """All pixels are paper or the fill, which `/pixelate` mixes with nothing: none is something between, as edges of letters are."""
    pixels = numpy.asarray(Image.open(io.BytesIO(body)).convert('L')).astype(int)
    return ((pixels < FILL + slack) | (pixels > paper - 20 - slack)).all()


@pytest.mark.parametrize('target', ('/blur?sigma=4', '/pixelate?block=8', '/pixelate?block=30', '/pixelate?colorspace=linear', '/pipeline?ops=blur:sigma=2|pixelate'))
def test_two_numbers_look_the_same(server, target):
    """Where their edges, which are some pixels apart, lie between the same lines of the grid."""
    answers = set()
    for number in ('4471 0927', '1289 5530', '9999 1111', '0000 7777'):
        picture, _ = writing.page((480, 320), [(50, 86, number, 20)])
        answer = server.post(f'{target}&mode=redact&detect=text&fill=000000&format=png', writing.png(picture))
        assert answer.status_code == 200, answer.text
        answers.add(answer.content)
    assert len(answers) == 1


def test_no_pixel_of_ink_stays(server):
    for height in (12, 20, 40):
        picture, _ = writing.letter(height, size=(60 + 16 * height, 80 + 10 * height))
        answer = server.post(f'{REDACT}&format=png', writing.png(picture))
        assert answer.status_code == 200 and no_ink(answer.content)


def test_blocks_lie_on_the_grid(server):
    body = writing.png(writing.letter()[0])
    for grid in (1, 5, 16, 256):
        for left, top, right, bottom in lines(server, body, f'&detect_grid={grid}'):
            assert all(side % grid == 0 for side in (left, top, right, bottom)) or grid == 1
            assert grid == 1 or right - left >= min(6 * 20, 640)
    assert len(lines(server, body)) == len(writing.LINES)



def test_the_same_as_regions(server):
    """mode=redact hides what /detect answers with the grid of 16."""
    body = writing.png(writing.letter()[0])
    entries = [{'box': [box[0], box[1], box[2] - box[0], box[3] - box[1]]} for box in lines(server, body, '&detect_grid=16')]
    target = '/pixelate?block=8&mode=redact&fill=000000&format=png'
    by_hand = server.post(target, form(('image"; filename="p', body), ('regions', json.dumps(entries))), headers={'Content-Type': 'multipart/form-data; boundary=simple'})
    answer = server.post(f'{target}&detect=text', body)
    assert answer.headers['X-Regions'] == str(len(entries)) and answer.content == by_hand.content
    shaped = server.post(f'{target}&detect=text&detect_shape=ellipse', body)
    assert shaped.content == answer.content  # text is always hidden by boxes


def test_the_page_is_a_list(server):
    body = writing.png(writing.letter()[0])
    page = server.post('/detect?detect=text&detect_margin=20', body).text
    assert page.count('"polygon"') == len(writing.LINES)
    answer = server.post('/blur', form(('image"; filename="p', body), ('regions', page)), headers={'Content-Type': 'multipart/form-data; boundary=simple'})
    assert answer.status_code == 200 and answer.headers['X-Regions'] == str(len(writing.LINES))


def test_margin_size_and_threshold(server):
    body = writing.png(writing.letter()[0])
    plain, grown = lines(server, body), lines(server, body, '&detect_margin=10')
    for one, other in zip(plain, grown, strict=True):
        width = one[2] - one[0]
        assert other[0] == pytest.approx(max(0, one[0] - width / 10), abs=0.02) and other[2] == pytest.approx(one[2] + width / 10, abs=0.02)
    assert len(lines(server, body, '&detect_size=64')) < len(plain) and lines(server, body, '&detect_size=full') == plain
    assert lines(server, body, '&detect_threshold=0.6') == plain
    assert len(lines(server, body, '&detect_threshold=0.95')) <= len(plain)


def test_in_pipelines(server):
    body = writing.png(writing.letter(24)[0])
    answer = server.post('/pipeline?ops=resize:width=320|rotate:angle=90&mode=redact&detect=text&fill=000000&format=png', body)
    assert answer.status_code == 200 and int(answer.headers['X-Regions']) > 0, answer.text
    again = server.post('/pipeline?ops=blur:sigma=1&mode=redact&detect=text&fill=000000&format=png', body)
    assert lines(server, again.content) == []


@pytest.mark.parametrize('target', ('/blur?sigma=0.5&mode=redact', '/crop?width=90%25&mode=redact', '/placeholder?mode=redact', '/stats?', '/adjust?negate=1'))
def test_everywhere(server, target):
    answer = server.post(f'{target}&detect=text', writing.png(writing.letter()[0]))
    assert answer.status_code == 200 and int(answer.headers['X-Regions']) > 0, answer.text


def test_blocks_outside_keep_their_bits(server):
    body = faces.encoded(writing.letter()[0], quality=90)
    before, after = anatomy.pixels(body), anatomy.pixels(server.post(REDACT, body).content)
    mask = numpy.zeros(before.shape[:2], bool)
    for left, top, right, bottom in lines(server, body, '&detect_grid=16'):
        mask[max(0, int(top) - 17):int(bottom) + 18, max(0, int(left) - 17):int(right) + 18] = True
    assert (before == after)[~mask].all() and not mask.all()


@faces.needed
def test_with_faces(server):
    """Both, in either order of their names: the answer is the same."""
    picture = Image.new('RGB', (640, 560), (250, 250, 247))
    picture.paste(writing.letter(20, size=(640, 220))[0], (0, 0))
    picture.paste(faces.composed((500, 332), faces.PLACES), (0, 222))
    body = writing.png(picture)
    both, other = (server.post(f'/detect?detect={names}', body) for names in ('faces,text', 'text,faces'))
    assert both.content == other.content
    page = both.json()
    assert page['faces'] == server.post('/detect', body).json()['faces'] and page['text'] == server.post('/detect?detect=text', body).json()['text']
    assert len(page['faces']) == 6 and len(page['text']) >= len(writing.LINES)
    answers = [server.post(f'/pixelate?mode=redact&detect={names}&detect_report=1&format=png', body) for names in ('faces,text', 'text,faces')]
    assert answers[0].content == answers[1].content and {'X-Faces', 'X-Text'} <= set(answers[0].headers)


# --- it fails closed ---------------------------------------------------------------------
def test_nothing_is_found(server):
    assert lines(server, BLANK) == []
    for target in ('/pixelate?detect=text&require=0', '/pixelate?mode=redact&detect=text&require=0'):
        answer = server.post(target + '&format=png', BLANK)
        assert answer.status_code == 200 and answer.headers['X-Regions'] == '0', answer.text
        assert (anatomy.read_png(answer.content) == 200).all()
    for target in (REDACT, '/blur?detect=text&require=1'):
        check_problem(server.post(target, BLANK), 'no-region', 'detect', 'no text was found')


@pytest.mark.parametrize('width, height', ((1, 1), (1, 3000), (3000, 1), (2, 700), (33, 31)))
def test_odd_sizes(server, width, height):
    for data in (pictures.png(numpy.full((height, width, 3), 99, numpy.uint8)), pictures.jpeg(numpy.full((height, width, 3), 99, numpy.uint8))):
        assert lines(server, data) == []
        check_problem(server.post(REDACT, data), 'no-region', 'detect', 'no text was found')


def wall(side, step, size, text):
    """Words far apart."""
    tile = numpy.full((step, step), 250, numpy.uint8)
    drawn = 255 - numpy.asarray(writing.word(text, size))
    tile[4:4 + drawn.shape[0], 4:4 + drawn.shape[1]] = drawn
    return pictures.png(numpy.tile(tile, (side, side)))


@pytest.mark.parametrize('says, body', (('more than 1024 lines', (34, 96, 11, '88')), ('more than 8192 places', (100, 40, 14, '8'))))
@pytest.mark.parametrize('target', ('/pixelate?mode=redact&detect=text&detect_grid=1', '/blur?detect=text&format=png&require=false', '/detect?detect=text'))
def test_too_much_text(start, target, says, body):
    """More than can be hidden: none is shown."""
    daemon = start('--gpus', 'none', '--work-timeout', '5m')
    check_problem(daemon.post(f'{target}&detect_threshold=0.05', wall(*body)), 'limit-exceeded', None, says)
    daemon.stop()


def test_without_a_model(start):
    daemon = start('--text-model', 'none')
    for target in ('/detect?detect=text', '/blur?detect=text', '/detect?detect=faces,text', '/pipeline?ops=blur&detect=text'):
        check_problem(daemon.post(target, BLANK), 'bad-parameter', 'detect', 'text, as it has no model (--text-model; docs/text.md#the-model-file')
    assert daemon.get('/version').json()['text'] is False and daemon.get('/openapi.json').json()['x-text'] is False
    daemon.stop()


def test_a_model_says_so(server):
    assert server.get('/version').json()['text'] is True and server.get('/openapi.json').json()['x-text'] is True


def test_a_damaged_model(start, tmp_path):
    data = bytearray(writing.MODEL.read_bytes())
    data[100000] ^= 1
    (tmp_path / 'damaged').write_bytes(data)
    daemon = start('--text-model', str(tmp_path / 'damaged'))
    for target in ('/detect?detect=text', REDACT, '/blur?detect=text&require=0'):
        answer = daemon.post(target, writing.png(writing.letter()[0]))
        assert answer.status_code == 500 and 'text cannot be searched for' in answer.json()['detail'], answer.text
    assert daemon.post('/blur', BLANK).status_code == 200
    daemon.reports()
    daemon.stop()


def test_another_detectors_model(start):
    """The program does not start with it."""
    with pytest.raises(RuntimeError, match='this is not a text model'):
        start('--text-model', str(faces.MODEL))


def test_no_time(start):
    daemon = start('--work-timeout', '100ms', '--max-pixels', '60MP')
    big = faces.encoded(writing.letter()[0].resize((6000, 3750)))
    for target in ('/detect?detect=text', REDACT):
        assert 'the time limit' in check_late(lambda: daemon.post(target, big), 5).json()['detail']
    daemon.stop()


def test_no_memory(start):
    daemon = start('--memory', '100MiB')
    big = faces.encoded(writing.letter()[0].resize((3200, 2000)))
    check_problem(daemon.post(REDACT, big), 'limit-exceeded', says='of memory')
    daemon.stop()


def test_metrics(start):
    daemon = start()
    body = writing.png(writing.letter()[0])
    count = len(lines(daemon, body))
    daemon.post('/blur', BLANK)
    page = daemon.metrics()
    assert page['blurd_text_total{detector="text"}'] == count and page['blurd_text_searches_total{detector="text"}'] == 1
    daemon.wait_for_line(f'path=/detect .*text={count} .*detect_ms=')
    daemon.stop()
