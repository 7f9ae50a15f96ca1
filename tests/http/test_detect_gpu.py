# SPDX-License-Identifier: MIT
"""Searches on a GPU: the boxes of the CPU, and the CPU's where a GPU fails."""

import fake_gpu
import faces
import persons
import writing

pytestmark = [fake_gpu.needed, faces.needed, writing.needed]
REDACT = '/pixelate?block=8&mode=redact&detect=faces&detect_size=160'


def both(own, target, body):
    """The answers with and without the GPU."""
    return own.post(target, body), own.post(f'{target}&backend=cpu', body)


def test_the_same_bytes(start):
    own = fake_gpu.launch(start, '--face-model', faces.MODEL, '--gpu-timeout', '60s')
    body = faces.large()
    for target in ('/detect?detect_size=160', REDACT, f'{REDACT}&format=png', '/detect?detect_size=160&detect_effort=high', f'{REDACT}&detect_effort=high&format=png'):
        here, there = both(own, target, body)
        assert here.status_code == there.status_code == 200, here.text
        assert here.headers['X-Backend'].startswith('cuda') and there.headers['X-Backend'].startswith('cpu')
        assert here.content == there.content
        assert here.headers.get('X-Regions') == there.headers.get('X-Regions') and here.headers.get('X-Regions') != '0'
    seen = {own.post(f'/pixelate?block=8&detect=faces&detect_report=1&detect_size=160&{more}', body).headers['X-Faces']
            for more in ('', 'mode=redact', 'format=png', 'colorspace=rgb', 'progressive=true')}
    assert len(seen) == 1, 'the faces depend on the answer'
    own.stop()


def test_a_failing_gpu(start, tmp_path):
    """No picture leaves with faces that were not looked for: the CPU repeats the search."""
    fault = tmp_path / 'fault'
    own = fake_gpu.launch(start, '--face-model', faces.MODEL, '--gpu-timeout', '60s', FAULT_FILE=fault)
    body = faces.large()
    wanted = own.post(f'{REDACT}&backend=cpu', body)
    fault.write_text('cuLaunchKernel:1:700\n')
    answer = own.post(REDACT, body)
    assert answer.status_code == 200 and answer.content == wanted.content and answer.headers['X-Regions'] == wanted.headers['X-Regions']
    own.stop()


def test_text_and_plates(start):
    """One search with two maps."""
    own = fake_gpu.launch(start, '--text-model', writing.MODEL, '--gpu-timeout', '60s')
    picture, _ = writing.letter(16, size=(200, 120))
    for target in ('/detect?detect=plates', '/detect?detect=text,plates', '/redact?detect=text,plates&format=png&require=false'):
        here, there = both(own, f'{target}&detect_threshold=plates:0.05', writing.png(picture))
        assert here.status_code == there.status_code == 200, here.text
        assert here.headers['X-Backend'].startswith('cuda') and here.content == there.content
    own.stop()


@persons.needed
def test_persons(start):
    """Cells of anchors, in several sizes."""
    own = fake_gpu.launch(start, '--person-model', persons.MODEL, '--gpu-timeout', '60s')
    picture = persons.beside((240, 120), 120, 120)
    for target in ('/detect?detect=persons', '/redact?detect=persons&format=png&require=false'):
        here, there = both(own, f'{target}&detect_threshold=0.1', writing.png(picture))
        assert here.status_code == there.status_code == 200, here.text
        assert here.headers['X-Backend'].startswith('cuda') and here.content == there.content
    own.stop()
