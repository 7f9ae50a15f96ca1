# SPDX-License-Identifier: MIT
"""An engine that a picture has taken over: what it sees of requests that it is not asked to run, which is nothing, and
what it can do to the daemon, which trusts no byte of the memory that both map. The tests read and write the engine's
mappings from outside, as it could itself."""

import json
import threading
import time

import daemon
import faces
import fake_gpu
import pictures
from fake_jpeg import launch_jpeg
from test_codec_memory import CANARY, check_written, contents, inodes, lent, memory_of, scribble, secret_png
from test_multipart import form

pytestmark = fake_gpu.needed
SECONDS = 8
FORM = {'Content-Type': 'multipart/form-data; boundary=simple'}
REGIONS = {'regions': [{'box': [5 + i, 7 + i, 25 + i, 18 + i]} for i in range(30)]}
PHOTO = pictures.jpeg(pictures.photograph(300, 200), subsampling='420')
BODIES = [PHOTO, pictures.jpeg(pictures.photograph(200, 300), progressive=True), pictures.png(pictures.photograph(240, 160))]
MASK = pictures.png(pictures.photograph(240, 160, 1))
TARGETS = ['/blur?sigma=2', '/blur?sigma=2&format=png', '/resize?width=50', '/resize?width=700&height=300&fit=fill&enlarge=true&format=png',
           '/blur?sigma=1&region=5,5,90,40&feather=3', '/pixelate?block=8&mode=redact&region=ellipse:9,9,70,60',
           '/pipeline?ops=resize:width=90|median:radius=3|sharpen:amount=1|rotate:angle=90', '/median?radius=5&format=jpeg', '/stats']


def cases():
    """(target, body, headers)"""
    made = [(target, body, {}) for target in TARGETS for body in BODIES]
    for body in BODIES:
        listed = form(('image"; filename="p', body), ('regions', json.dumps(REGIONS)))
        made += [(target, listed, FORM) for target in ('/blur?sigma=2', '/pixelate?block=8&mode=redact')]
    masked = form(('image"; filename="p', BODIES[2]), ('mask"; filename="m.png', MASK))
    return made + [('/convolve?preset=emboss&format=png', masked, FORM)]


def search():
    """A search for faces, where there is a model: on the fake GPU it takes a second."""
    targets = ('/detect?detect_size=160', '/pixelate?detect=faces&detect_size=160') if faces.are_there() else ()
    return [(target, faces.large(), {}) for target in targets]


def on_cpu(case):
    target, body, headers = case
    return target + ('&' if '?' in target else '?') + 'backend=cpu', body, headers


def ask(own, case):
    target, body, headers = case
    return own.post(target, body, headers=headers)


def launch(start):
    model = ('--face-model', faces.MODEL) if search() else ()
    return launch_jpeg(start, '--workers', 2, *model)


def test_others_are_not_seen(start):
    """Whatever the CPU does, in memory that a GPU had before or not."""
    own = launch(start)
    process = fake_gpu.engine(own)
    secrets = [secret_png(), pictures.with_segments(PHOTO, (0xfe, CANARY)),
               form(('image"; filename="p', secret_png()), ('regions', json.dumps(REGIONS)))]
    for body in secrets:
        for _ in range(4):
            for case in [('/blur?sigma=1', PHOTO, {}), ('/blur?sigma=1&format=png', PHOTO, {}), ('/blur?sigma=1', BODIES[2], {})]:
                answer = ask(own, case)
                assert answer.status_code == 200 and answer.headers['X-Backend'].startswith('cuda')
            headers = FORM if body is secrets[2] else {}
            assert own.post('/blur?sigma=0.1&format=png&backend=cpu', body, headers=headers).status_code == 200
            assert lent(process) and not any(CANARY[:16] in memory for memory in contents(process))


def test_metadata_stays_here(start):
    """The file is copied for the GPU with its metadata, but what the daemon reads of it is not that copy."""
    own = launch(start)
    process = fake_gpu.engine(own)
    body = pictures.with_segments(PHOTO, (0xfe, CANARY))
    wanted = own.post('/blur?sigma=1&metadata=keep', body)
    assert wanted.headers['X-Backend'] == 'cuda:0/jpeg' and CANARY in wanted.content
    assert any(CANARY in memory for memory in contents(process))


def test_a_slot_in_the_pool_is_mapped_by_the_daemon_alone(start):
    """An engine gets slots of kinds of their own, and what the CPU works in is none of them."""
    own = launch_jpeg(start, '--workers', 2)
    process = fake_gpu.engine(own)
    before = inodes(own.process.pid)
    for body in BODIES:
        assert ask(own, on_cpu(('/blur?sigma=1&format=png', body, {}))).status_code == 200
    of_cpu = inodes(own.process.pid) - before
    assert of_cpu
    for body in BODIES:
        for target in ('/blur?sigma=1', '/blur?sigma=1&format=png'):
            answer = ask(own, (target, body, {}))
            assert answer.status_code == 200 and answer.headers['X-Backend'].startswith('cuda')
    assert inodes(process) and not inodes(process) & of_cpu


def overwrite(chance, start, end):
    """Tables are small, so half of the writes go to the beginnings of pages."""
    for _ in range(300):
        place = chance.randrange(start, end - 64)
        place = place & ~4095 | chance.randrange(64) if chance.random() < 0.5 else place
        yield place, chance.randbytes(chance.randrange(1, 64))
    yield chance.randrange(start, end - 4096), chance.choice((b'\xff', b'\0', chance.randbytes(1))) * 4096


def test_scribbled_memory(start, say):
    """What the CPU does gets the same bytes as without the scribbling, and nothing ends the daemon."""
    own = launch(start)
    for_gpu, failures = cases() + search(), []
    for_cpu = [on_cpu(case) for case in for_gpu]
    wanted = [ask(own, case).content for case in for_cpu]
    by_gpu = [ask(own, case).headers['X-Backend'] for case in for_gpu]
    assert sum(name.startswith('cuda') for name in by_gpu) > len(by_gpu) / 2
    process = fake_gpu.engine(own)
    memory_of(process).close()  # or there is nothing to test
    until, end, served, written = threading.Event(), time.monotonic() + SECONDS * min(daemon.SLOW, 2), {}, {}
    writer = threading.Thread(target=scribble, args=(lambda: fake_gpu.children(own), overwrite, until, written))
    writer.start()

    def load():
        """The GPU's own answers may be wrong, but they are answers."""
        try:
            while not until.is_set():
                for case in for_gpu:
                    answer = ask(own, case)
                    assert answer.status_code in (200, 400, 422, 500, 503), answer.text
                    name = answer.headers.get('X-Backend')
                    served[name] = served.get(name, 0) + 1
        except BaseException as failure:
            failures.append(failure)

    loads = [threading.Thread(target=load) for _ in range(2)]
    for one in loads:
        one.start()
    try:
        while time.monotonic() < end and not failures:
            for case, want in zip(for_cpu, wanted):
                answer = ask(own, case)
                assert answer.status_code == 200 and answer.content == want, case[0]
                served['backend=cpu'] = served.get('backend=cpu', 0) + 1
    finally:
        until.set()
        for thread in [writer, *loads]:
            thread.join()
    assert not failures, failures[0]
    check_written(written, [process], fake_gpu.children(own))
    say(f'answers beside {sum(written.values())} writes into {len(written)} engines: {served}' + ('' if search() else '; no search for faces, for want of the model'))
