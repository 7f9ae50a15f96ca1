# SPDX-License-Identifier: MIT
"""detect_hold: what is found in a frame of an animation or a series is hidden in the frames around it, too."""

import functools
import io
import threading

import numpy
import pytest
from PIL import Image, ImageFilter

import animated
import fake_gpu
import faces
import streams
from animated import Frame
from problems import check_problem

pytestmark = faces.needed

SIZE, WIDTH = (240, 180), 80  # of a frame, and of a head
FILL = (0x20, 0x40, 0x60)
REDACT = 'redact?detect=faces&fill=204060'


def frame(left=60, top=40, missed=False, wall=(96, 112, 120)):
    """A head on a wall; `missed`: so blurred that no face is found. None: no head."""
    picture = Image.new('RGB', SIZE, wall)
    if left is not None:
        head = faces.astronaut().crop(faces.HEAD).resize((WIDTH, WIDTH * 260 // 190), Image.Resampling.LANCZOS)
        picture.paste(head.filter(ImageFilter.GaussianBlur(9)) if missed else head, (left, top))
    return picture


def scene(missed=(4,), count=9, step=3):
    """A head that moves, and that the detector misses in some frames."""
    return [frame(30 + step * i, 30, i in missed) for i in range(count)]


def animation(kind, pictures):
    """Of few colours for a GIF."""
    samples = [numpy.asarray(one.quantize(200, dither=0).convert('RGB') if kind == 'gif' else one) for one in pictures]
    return animated.write(kind, [Frame(numpy.dstack([one, numpy.full(one.shape[:2], 255, numpy.uint8)])) for one in samples], *SIZE)


def face(left, top):
    """Where the face of a head is, without its border."""
    scale = WIDTH / (faces.HEAD[2] - faces.HEAD[0])
    return (round(left + (faces.FACE[0] - faces.HEAD[0]) * scale) + 4, round(top + faces.FACE[1] * scale) + 4,
            round(left + (faces.FACE[2] - faces.HEAD[0]) * scale) - 4, round(top + faces.FACE[3] * scale) - 4)


def hidden(samples):
    return (numpy.abs(samples[..., :3].astype(int) - FILL) <= 6).all(2)


def share(samples, box):
    """Of the face, as much as lies in the ellipse that fills its box, what is hidden."""
    part = hidden(samples)[box[1]:box[3], box[0]:box[2]]
    y, x = numpy.indices(part.shape) + 0.5
    inside = (2 * x / part.shape[1] - 1)**2 + (2 * y / part.shape[0] - 1)**2 <= 1
    return part[inside].mean()


def ask(server, target, body):
    answer = server.post(target, body)
    assert answer.status_code == 200, answer.text
    return answer


def is_found(server, picture):
    return len(ask(server, '/detect?detect=faces', faces.encoded(picture, 'PNG')).json()['faces']) == 1


def of_animation(server, kind, pictures, query=''):
    return [one[..., :3] for one in animated.read(ask(server, f'/{REDACT}&lossless=true{query}', animation(kind, pictures)).content).frames]


def of_series(server, kind, pictures, query=''):
    answer = streams.ask(server.port, f'/series/{REDACT}{query}', *(faces.encoded(one, quality=95) for one in pictures))
    assert answer.whole and answer.status == 200, answer.body
    return [numpy.asarray(Image.open(io.BytesIO(one))) for one in answer.frames]


@functools.lru_cache(None)
def blank():
    return frame(None)


ASKS = [(of_animation, kind) for kind in animated.KINDS] + [(of_series, 'jpeg')]
each = pytest.mark.parametrize('redacted, kind', ASKS, ids=[kind for _, kind in ASKS])


@each
def test_a_missed_face_stays_hidden(server, redacted, kind):
    pictures = scene()
    assert [is_found(server, one) for one in pictures] == [i != 4 for i in range(9)]
    places = [face(30 + 3 * i, 30) for i in range(9)]
    without = redacted(server, kind, pictures, '&detect_hold=0')
    assert [share(one, place) > 0.99 for one, place in zip(without, places, strict=True)] == [i != 4 for i in range(9)]
    assert share(without[4], places[4]) < 0.1
    for query in ('', '&detect_hold=1', '&detect_hold=25'):
        held = redacted(server, kind, pictures, query)
        assert all(share(one, place) > 0.99 for one, place in zip(held, places, strict=True)), query


@each
def test_as_many_frames_as_are_asked_for(server, redacted, kind):
    """A face in one frame of many."""
    pictures = [frame() if i == 6 else blank() for i in range(13)]
    for hold in (0, 1, 5, 25):
        held = redacted(server, kind, pictures, f'&detect_hold={hold}')
        assert [hidden(one).any() for one in held] == [abs(i - 6) <= hold for i in range(13)], hold
    assert [hidden(one).any() for one in redacted(server, kind, pictures)] == [abs(i - 6) <= 5 for i in range(13)]


@each
def test_what_does_not_move_has_one_box(server, redacted, kind):
    """The detector's boxes tremble with the noise, what is hidden does not, and covers all of it."""
    random = numpy.random.default_rng(4)
    pictures = [Image.fromarray((numpy.asarray(frame(60 + i % 2, 40)).astype(int) // 8 * 8 + random.integers(0, 2, (SIZE[1], SIZE[0], 1)) * 6).astype(numpy.uint8)
                                .clip(0, 255)) for i in range(6)]
    alone = [hidden(one) for one in redacted(server, kind, pictures, '&detect_hold=0')]
    held = [hidden(one) for one in redacted(server, kind, pictures)]
    assert any((one != alone[0]).any() for one in alone)
    assert all((one ^ held[0]).sum() <= (9 if kind == 'jpeg' else 0) for one in held)  # of colours that are rounded
    assert not any((one & ~held[0]).any() for one in alone) and held[0].sum() < (1.6 if kind == 'jpeg' else 1.3) * alone[0].sum()


def pixels_of(picture):
    return numpy.dstack([numpy.asarray(picture), numpy.full(picture.size[::-1], 255, numpy.uint8)])


@pytest.mark.parametrize('kind', animated.KINDS)
@pytest.mark.parametrize('target', animated.KINDS)
def test_nothing_of_what_is_hidden_in_any_frame_is_told(server, kind, target):
    """Animations that differ only beneath what is hidden, since it is found in another frame, have equal answers."""
    shown, answers = frame(), []
    if kind == 'gif':
        shown = shown.quantize(150, dither=0).convert('RGB')
    visible = [blank(), shown, blank(), blank()]
    mask = hidden(animated.read(ask(server, f'/{REDACT}&format=png', animated.write('png', [Frame(pixels_of(one)) for one in visible], *SIZE)).content).frames[0])
    assert mask.sum() > 1000
    for secret in range(3):
        tiles = numpy.random.default_rng(secret).integers(0, 4, (4, 9, 12, 3)).astype(numpy.uint8).repeat(20, 1).repeat(20, 2) * 64
        pictures = [numpy.where(mask[..., None] & (i != 1), tiles[i], numpy.asarray(one)) for i, one in enumerate(visible)]
        body = animated.write(kind, [Frame(pixels_of(Image.fromarray(one))) for one in pictures], *SIZE)
        answers.append(ask(server, f'/{REDACT}&lossless=true&format={target}', body).content)
    assert answers[0] == answers[1] == answers[2]


def test_nothing_of_what_is_hidden_is_told_by_a_series(server):
    """The same, where whole blocks of JPEGs differ."""
    def ask_for(picture):
        return streams.ask(server.port, f'/series/{REDACT}', *(faces.encoded(one, quality=95) for one in (picture, frame(), picture, picture))).frames

    mask = hidden(numpy.asarray(Image.open(io.BytesIO(ask_for(blank())[0]))))
    blocks = mask[:176].reshape(11, 16, 15, 16).all((1, 3)).repeat(16, 0).repeat(16, 1)
    assert blocks.sum() > 5 * 256
    answers = []
    for secret in range(3):
        samples = numpy.array(blank())
        samples[:176][blocks] = numpy.random.default_rng(secret).integers(0, 256, (blocks.sum(), 3))
        answers.append(ask_for(Image.fromarray(samples)))
    assert len(answers[0]) == 4 and answers[0] == answers[1] == answers[2]


@each
def test_what_is_required(server, redacted, kind):
    """An animation needs a face in some frame; of a series each needs one, there or nearby."""
    pictures = [frame() if i == 6 else blank() for i in range(9)]
    if kind == 'jpeg':
        pieces = [faces.encoded(one) for one in pictures]
        assert streams.ask(server.port, f'/series/{REDACT}&require=true&detect_hold=6', *pieces).whole
        answer = streams.ask(server.port, f'/series/{REDACT}&require=true&detect_hold=3', *pieces)
        assert answer.status == 422 and b'frame 1' in answer.body and b'no face was found' in answer.body
    else:
        assert len(redacted(server, kind, pictures)) == 9
        check_problem(server.post(f'/{REDACT}', animation(kind, pictures[:6])), 'no-region', 'detect', 'no face')
        assert len(redacted(server, kind, pictures[:6], '&require=false')) == 6
        kept = server.post(f'/{REDACT}&keep=0,0,240,180', animation(kind, pictures))
        check_problem(kept, 'no-region', 'detect', 'keep')


@pytest.mark.parametrize('kind', animated.KINDS)
def test_one_crop_for_all_frames(server, kind):
    """It follows the first face that is found, and does not jump when that moves."""
    pictures = [blank(), frame(150, 40), frame(10, 40), frame(150, 40)]
    shown = animated.read(ask(server, '/crop?width=90&height=180&gravity=faces&lossless=true&format=png', animation(kind, pictures)).content).frames
    still = ask(server, '/crop?width=90&height=180&gravity=faces&format=png', animated_still(pictures[1], kind)).content
    assert numpy.array_equal(shown[1][..., :3], numpy.asarray(Image.open(io.BytesIO(still)).convert('RGB')))
    assert numpy.array_equal(shown[1], shown[3]) and (shown[2][..., :3] == shown[0][..., :3]).mean() > 0.95


def animated_still(picture, kind):
    return faces.encoded(picture.quantize(200, dither=0).convert('RGB') if kind == 'gif' else picture, 'PNG')


@pytest.mark.parametrize('kind', animated.KINDS)
def test_frames_beside_those_that_are_taken(server, kind):
    """A face that is found in a frame that is not answered is hidden in its neighbours that are."""
    pictures = [frame() if i == 2 else blank() for i in range(9)]
    held = of_animation(server, kind, pictures, '&frames=3-8&detect_hold=3')
    assert [hidden(one).any() for one in held] == [True] * 3 + [False] * 3


def test_except_keep_and_other_searches(server):
    pictures = [frame() for _ in range(3)]
    left, top, right, bottom = face(60, 40)
    check_problem(server.post(f'/{REDACT}&except={left},{top},{right - left},{bottom - top}', animation('png', pictures)), 'no-region', 'detect', 'except')
    kept = of_animation(server, 'png', pictures, f'&keep=0,0,240,{(top + bottom) // 2}')
    assert all(not hidden(one)[:(top + bottom) // 2].any() and hidden(one).any() for one in kept)
    moved = of_animation(server, 'png', [frame(60), frame(120), frame(60)], f'&except={left},{top},{right - left},{bottom - top}')
    assert all(share(one, face(120, 40)) > 0.99 for one in moved), 'what is no exception in its frame is hidden in all'
    both = ask(server, '/blur?sigma=9&detect=faces&region=1,1,20,20&format=png&detect_effort=high', animation('png', pictures))
    assert both.headers['X-Regions'] == '2'
    shown = animated.read(both.content).frames[0]
    assert (shown[..., :3] != numpy.asarray(frame())).any(2).sum() > 500
    masked = ask(server, f'/{REDACT}&invert=true&format=png', animation('png', [blank(), frame(), blank()]))
    assert all(hidden(one)[:30].all() for one in animated.read(masked.content).frames)


def test_too_many_finds(start, tmp_path):
    """Above what is remembered of all frames, an animation is refused, not hidden in part."""
    model = tmp_path / 'everywhere.face'
    model.write_bytes(faces.model_of_a_face_everywhere())
    own = start('--face-model', model, '--work-timeout', '60s')
    samples = pixels_of(Image.new('RGB', (120, 96), (9, 9, 9)))
    few = animated.png([Frame(samples)] * 3, 120, 96)
    answer = ask(own, '/redact?detect=faces&detect_margin=0', few)
    assert int(answer.headers['X-Regions']) == 768
    many = animated.png([Frame(samples)] * 95, 120, 96)
    check_problem(own.post('/redact?detect=faces&detect_margin=0', many), 'limit-exceeded', None, 'too many places were found in the frames')


@fake_gpu.needed
def test_the_same_on_a_gpu(start, tmp_path):
    """Frames that a GPU searches and those that it hands back have the bytes of the CPU's."""
    fault = tmp_path / 'fault'
    own = fake_gpu.launch(start, '--face-model', faces.MODEL, '--gpu-timeout', '60s', FAULT_FILE=fault)
    pictures = [frame() if i == 1 else blank() for i in range(3)]
    body, pieces = animation('png', pictures), [faces.encoded(one, quality=95) for one in pictures]
    target = f'{REDACT}&detect_size=160&detect_hold=1'
    wanted = ask(own, f'/{target}&backend=cpu', body).content
    series = streams.ask(own.port, f'/series/{target}&backend=cpu', *pieces)
    assert all(hidden(one).any() for one in animated.read(wanted).frames) and len(series.frames) == 3
    answer = ask(own, f'/{target}', body)
    assert answer.headers['X-Backend'].startswith('cuda') and answer.content == wanted
    assert streams.ask(own.port, f'/series/{target}', *pieces).frames == series.frames
    for launch in (1, 60, 200):
        fault.write_text(f'cuLaunchKernel:{launch}:700\n')
        answer = ask(own, f'/{target}', body)
        assert answer.content == wanted and answer.headers['X-Regions'] == '1'
        fault.unlink(missing_ok=True)
        fake_gpu.await_state(own, 'serving')
    own.stop()
