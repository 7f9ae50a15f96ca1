# SPDX-License-Identifier: MIT
"""Codes are found and hidden, and never stay unhidden where they cannot be looked for."""
import io
import os
import pathlib
import signal
import threading
import time

import pytest
from PIL import Image, ImageOps

import codes
import daemon
import faces
from problems import check_problem
from test_codec_process import codecs

pytestmark = codes.needed
PLACE, LINE = (100, 60, 226, 186), (300, 252, 590, 328)
READ = 0.9996  # the score of a code that was read is higher
REDACT = '/pixelate?block=8&mode=redact&detect=codes&format=png'


def usual():
    return codes.page((codes.drawn(codes.QR, 6), PLACE[:2]), (codes.drawn([codes.LINEAR], 2, 40), (300, 250)))


def found(server, body, query=''):
    answer = server.post(f'/detect?detect=codes{query}', body)
    assert answer.status_code == 200, answer.text
    return answer.json()['codes']


def test_found(server):
    boxes = found(server, codes.encoded(usual()))
    assert len(boxes) == 2 and all(READ < box['score'] <= 1 for box in boxes)
    assert any(codes.holds(box, PLACE) for box in boxes) and any(codes.holds(box, LINE) for box in boxes)
    assert found(server, codes.encoded(usual(), 'JPEG', quality=80)) and found(server, codes.encoded(usual().convert('RGB')))
    inverted = found(server, codes.encoded(ImageOps.invert(usual())))
    assert len(inverted) == 2 and all(READ < box['score'] for box in inverted)
    for size in ((640, 480), (5, 5), (1, 1), (31, 900)):
        assert found(server, codes.encoded(Image.new('L', size, 200))) == []


@pytest.mark.parametrize('size', ((21, 21), (29, 29), (31, 40), (33, 33)))
def test_small_pictures(server, size):
    """A pixel a module, in pictures that are smaller than what is searched for patterns."""
    drawn = codes.drawn(codes.QR, 1)
    place = ((size[0] - 21) // 2, (size[1] - 21) // 2)
    picture = Image.new('L', size, 235)
    picture.paste(drawn, place)
    boxes = found(server, codes.encoded(picture))
    assert boxes and codes.holds(boxes[0], (*place, place[0] + 21, place[1] + 21)), boxes


def test_a_low_line(server):
    body = codes.encoded(codes.page((codes.drawn([codes.LINEAR], 2, 5), (30, 10)), size=(350, 30)))
    boxes = found(server, body)
    assert boxes and boxes[0]['score'] > READ and codes.holds(boxes[0], (30, 10, 320, 20)), boxes


@pytest.mark.parametrize('mode', ('LA', 'RGBA'))
@pytest.mark.parametrize('ink', (0, 255))
def test_only_alpha_shows_it(server, mode, ink):
    """As exported logos and tickets are: one colour, and a code of transparent pixels."""
    shape = codes.page((codes.drawn(codes.QR, 6), PLACE[:2]))
    picture = Image.new('L', shape.size, ink).convert(mode)
    picture.putalpha(ImageOps.invert(shape))
    boxes = found(server, codes.encoded(picture))
    assert len(boxes) == 1 and boxes[0]['score'] > READ and codes.holds(boxes[0], PLACE)


def test_more_codes_than_are_read(server):
    """The library stops at 255; a code that it did not come to must not stay."""
    code, side = codes.drawn(codes.QR, 1), 45
    picture = Image.new('L', (20 * side, 14 * side + 60), 235)
    for i in range(280):
        picture.paste(code, (12 + i % 20 * side, 12 + i // 20 * side))
    picture.paste(codes.drawn([codes.LINEAR], 2, 10), (100, 14 * side + 20))
    for target in ('/detect?detect=codes', REDACT):
        check_problem(server.post(target, codes.encoded(picture)), 'limit-exceeded', None, 'the picture has too many codes')


def test_a_line_is_hidden_to_its_ends(server):
    """A reader tells one line of a linear code."""
    boxes = found(server, codes.encoded(codes.page((codes.drawn([codes.LINEAR], 2, 100), (80, 100)))))
    assert any(codes.holds(box, (80, 104, 370, 296)) for box in boxes), boxes


@pytest.mark.parametrize('module', (1, 2, 3, 5, 8))
def test_all_of_what_was_read(server, module):
    """Of each height, also where its last rows look like nothing: the answer has no dark pixel of it."""
    for height in range(14, 70, 3):
        code = codes.drawn([codes.LINEAR], module).resize((len(codes.LINEAR) * module, height))
        picture = codes.page((code, (53, 54)), size=(code.width + 110, 220))
        if not any(box['score'] > READ for box in found(server, codes.encoded(picture))):
            continue
        answer = server.post('/redact?detect=codes&detect_margin=0&fill=ffffff', codes.encoded(picture))
        assert Image.open(io.BytesIO(answer.content)).convert('L').getextrema()[0] > 200, height


def test_hidden(server):
    answer = server.post(REDACT, codes.encoded(usual()))
    assert answer.status_code == 200 and answer.headers['X-Regions'] == '2'
    hidden = Image.open(io.BytesIO(answer.content)).convert('L')
    for place in (PLACE, LINE):
        lightest, darkest = hidden.crop(place).getextrema()[::-1]
        assert lightest - darkest < 60, 'modules differ by 215'
    check_problem(server.post(REDACT, codes.encoded(Image.new('L', (99, 99)))), 'no-region', 'detect', 'no code was found')


def test_turned_by_exif(server):
    upright = usual()
    exif = Image.Exif()
    exif[0x112] = 6
    body = codes.encoded(upright.transpose(Image.Transpose.ROTATE_90), 'JPEG', quality=95, exif=exif.tobytes())
    boxes = found(server, body)
    assert any(codes.holds(box, PLACE) for box in boxes) and any(codes.holds(box, LINE) for box in boxes)


def test_every_level_finds_the_same(start):
    body = codes.encoded(usual().rotate(7, Image.Resampling.BICUBIC, fillcolor=235), 'JPEG', quality=70)
    answers = set()
    for level in ('baseline', 'auto'):
        own = start('--cpu-level', level)
        answers.add(own.post('/detect?detect=codes', body).content)
        own.stop()
    assert len(answers) == 1


@faces.needed
def test_with_faces(server):
    picture = faces.composed((500, 332), faces.PLACES)
    picture = ImageOps.expand(picture, (0, 0, 0, 200), (235, 235, 235))
    picture.paste(codes.drawn(codes.QR, 6).convert('RGB'), (50, 370))
    answer = server.post('/detect?detect=faces,codes', codes.encoded(picture)).json()
    assert len(answer['faces']) == 6 and len(answer['codes']) == 1 and codes.holds(answer['codes'][0], (50, 370, 176, 496))
    hidden = server.post(REDACT.replace('codes', 'faces,codes'), codes.encoded(picture))
    assert hidden.headers['X-Regions'] == '7'


def test_nothing_tells_what_a_code_says(start):
    own = start('--log-level', 'debug')
    for target in ('/detect?detect=codes', f'{REDACT}&detect_report=true'):
        answer = own.post(target, codes.encoded(usual()))
        assert answer.status_code == 200
        assert codes.SECRET not in repr(answer.headers) and codes.SECRET.encode() not in answer.content
    assert codes.SECRET not in own.get('/metrics').text
    for process in codecs(own):
        limits = pathlib.Path(f'/proc/{process}/limits').read_text()
        assert next(line for line in limits.splitlines() if line.startswith('Max core file size')).split()[4] == '0'
    own.wait_for_line('codes=2 ')
    assert not any(codes.SECRET in line for line in own.lines)


def large():
    """Takes the reader some seconds, which looks at noise from all sides."""
    return codes.encoded(Image.effect_noise((3000, 3000), 120))


def ticks(process):
    """Processor time, in hundredths of a second; 0 of one that is gone."""
    try:
        return sum(map(int, pathlib.Path(f'/proc/{process}/stat').read_text().rpartition(')')[2].split()[11:13]))
    except (FileNotFoundError, ProcessLookupError):
        return 0


def test_a_reader_that_is_killed_fails_the_request(start):
    """Its silence is not "no codes"."""
    own = start('--workers', 1, '--work-timeout', '60s')
    assert found(own, codes.encoded(usual()))
    answers = []
    busy = threading.Thread(target=lambda: answers.append(own.post('/detect?detect=codes', large())))
    busy.start()
    until = time.monotonic() + 40
    while not any(ticks(process) > 20 for process in codecs(own)) and time.monotonic() < until:
        time.sleep(0.002)
    for process in codecs(own):
        os.kill(process, signal.SIGKILL)
    busy.join()
    assert answers[0].status_code == 503, answers[0].text
    assert found(own, codes.encoded(usual()))


def test_a_reader_that_stops_is_late(start):
    own = start('--workers', 1, '--work-timeout', '2s')
    assert found(own, codes.encoded(usual()))
    for process in codecs(own):
        os.kill(process, signal.SIGSTOP)
    answer = own.post(REDACT, codes.encoded(usual()))
    assert answer.status_code in (422, 503), answer.text
    assert found(own, codes.encoded(usual()))


def test_a_daemon_without_processes_refuses(start):
    own = start('--single-process', 'true')
    assert own.get('/version').json()['codes'] is False
    check_problem(own.post(REDACT, codes.encoded(usual())), 'bad-parameter', 'detect', 'this server cannot find codes')
