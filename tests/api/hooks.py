# SPDX-License-Identifier: MIT
"""Inputs that schemathesis cannot derive from the description: bytes that are a picture, values with a
grammar of their own, and the rules between parameters, which stand in the description's text."""

import functools
import io
import pathlib
import sys

import requests
import schemathesis
from hypothesis import strategies as st
from PIL import Image
from schemathesis.generation import GenerationMode

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'http'))
import evidence  # noqa: E402
import foreign  # noqa: E402
import pictures  # noqa: E402

REGIONS = ('0,0,10,10', '10%,10%,50%,50%', 'ellipse:5,5,20,10', 'polygon:0,0,30,2,10,25', '3.5,2e0,1,1', '0%,0%,100%,100%')
MATRICES = ('0,-1,0;-1,5,-1;0,-1,0', '[[1,2,1]]', '2', '1;2;3', '[1,0.5,-1e3]')
STEPS = ('adjust:gamma=2', 'blur', 'sharpen:amount=0.5', 'convolve:preset=edge', 'pixelate:block=3', 'dilate:radius=3', 'median:radius=2', 'erode', 'blur:sigma=8:edge=wrap')

MOVING = ('/crop', '/placeholder', '/resize', '/rotate')

JPEGS = st.sampled_from((pictures.small_jpeg(), pictures.jpeg(pictures.photograph(33, 17))))
PNGS = st.sampled_from((pictures.small_png(), pictures.png(pictures.photograph(21, 13))))


def webp():
    output = io.BytesIO()
    Image.fromarray(pictures.photograph(40, 30)).save(output, 'WEBP')
    return output.getvalue()


for kind in foreign.READS:  # the first bytes decide
    schemathesis.openapi.media_type(f'image/{kind}', {'png': PNGS, 'webp': st.just(webp())}.get(kind, JPEGS))
schemathesis.openapi.media_type('video/x-mjpeg', st.lists(JPEGS, min_size=1, max_size=4).map(b''.join))
schemathesis.openapi.format('binary', JPEGS | PNGS)
schemathesis.openapi.format('region', st.sampled_from(REGIONS))
schemathesis.openapi.format('kernel', st.sampled_from(MATRICES))
for name, values in {'duotone': ('2b1055,ffd26f', 'fff,000'), 'gravity': ('north', 'center', '0.3,0.7'), 'background': ('ff8800', '#00ff0080'), 'fill': ('ring', '102030'),
                     'aspect': ('16:9', '1:1', '3:2'), 'x': ('0', '10%'), 'y': ('0', '10%'), 'width': ('5', '50%'), 'height': ('5', '50%')}.items():
    schemathesis.openapi.format(name, st.sampled_from(values))
schemathesis.openapi.format('detect_threshold', st.sampled_from(('0.05', '0.5', '0.95')))
schemathesis.openapi.format('detect_size', st.sampled_from(('full', '64', '640')))
schemathesis.openapi.format('ops', st.lists(st.sampled_from(STEPS), min_size=1, max_size=8).map('|'.join))


def fits_convolve(given):
    """Exactly one of kernel and preset; a size only where the kernel has none."""
    given.setdefault('kernel', MATRICES[0])
    if given.pop('preset', 'none') == 'box':
        given['preset'] = 'box'
        given.pop('kernel')
    elif given.pop('size', None):
        given.update(kernel='1,2,1,2,4,2,1,2,1', size=3)


def fits_resize(given):
    """Either sides or a scale."""
    if 'width' in given or 'height' in given:
        given.pop('scale', None)
    else:
        given.setdefault('scale', 0.5)
    for side in ('width', 'height'):
        if side in given:
            given[side] = min(int(given[side]), 400)
    given['scale'] = min(float(given['scale']), 2) if 'scale' in given else None
    if given['scale'] is None:
        given.pop('scale')


def fits_crop(given):
    """A part of any of the pictures, in pixels or percent, or an aspect."""
    if 'aspect' in given:
        for name in ('x', 'y', 'width', 'height', 'unit'):
            given.pop(name, None)
    else:
        given.pop('gravity', None)
        given.pop('unit', None)


def fits(path, given):
    """Changes parameters of a valid request so that they go together."""
    if path != '/detect':  # a mask has the size of the picture, and a list a grammar of its own
        for name in ('regions', 'mask', 'require', 'detect', 'keep', 'except', *[name for name in given if name.startswith('detect_')]):
            given.pop(name, None)
    if given.get('detect_effort') == 'high' and 'faces' not in str(given.get('detect', 'faces')):
        given.pop('detect_effort')
    if ':' in str(given.get('detect_threshold', '')):  # only of what `detect` names
        given['detect_threshold'] = '0.4'
    given.pop('frames', None)  # the pictures are no animations, and have one page
    given.pop('page', None)
    if 'except' in given:  # a place within each of the pictures
        given['except'] = ['1,1,8,8']
    if 'feather' in given or given.get('invert') in (True, 'true'):
        given.setdefault('region', [REGIONS[0]])
    if given.get('unit', 'px') != 'px':
        given['region'] = ['0.1,0.2,0.5,0.8', 'ellipse:0.1,10%,0.5,0.8']
    if path == '/redact':  # a plan needs a search, of which there is none here
        given.pop('plan', None)
    if given.get('mode') == 'redact' or path == '/redact':
        given.pop('metadata', None)
        given['region'] = [REGIONS[1]]
        given.pop('unit', None)
    if path in MOVING and given.get('region'):  # they act on the whole picture
        given.update(mode='redact', region=[REGIONS[1]])
    if path in MOVING or given.get('mode') == 'redact':
        given.pop('metadata', None)
    if given.get('mode') != 'redact' and path != '/redact':
        given.pop('fill', None)
    if path in MOVING:
        given.pop('feather', None)
        given.pop('lossless', None)  # the sides of the pictures cut blocks
    if path == '/convolve':
        fits_convolve(given)
    if path == '/resize':
        fits_resize(given)
    if path == '/crop':
        fits_crop(given)
    if path == '/series/{filter}':  # whose parameters depend on the path
        given.clear()
    if path == '/pipeline':
        given.setdefault('ops', STEPS[0])


@schemathesis.hook
def filter_case(context, case):
    """A target of more than 64 KiB is refused by the HTTP library, in its own words; see docs/api.md."""
    return len(str(case.query)) < 20000


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """The same said with a list: this version fails where `not` stands beside bytes."""
    for schema in raw_schema['components']['schemas'].values():
        if schema.pop('not', None):
            schema['enum'] = list(range(schema['minimum'], schema['maximum'] + 1, 2))


@functools.lru_cache(1)
def reported_by(url, authorization):
    """A form for /verify: a report cannot be made up."""
    body = pictures.small_png()
    answer = requests.post(f'{url}/redact?region=2,2,9,9&report=true', body, headers={'Authorization': authorization}, timeout=60)
    report, picture = evidence.parts(answer)
    return {'report': report, 'answer': picture, 'input': body}


def reported(case):
    """With and without the input."""
    form = dict(reported_by(case.operation.base_url.rstrip('/'), case.headers.get('Authorization') or 'Bearer a-token-for-these-tests-alone'))
    if not (isinstance(case.body, dict) and 'input' in case.body):
        del form['input']
    return form


@schemathesis.hook
def before_call(context, case, kwargs):
    """A request that is meant to be wrong stays as it is: one more mistake does no harm."""
    if case.method != 'POST' or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    if case.path == '/series/{filter}' and case.path_parameters.get('filter') in ('convolve', 'crop', 'pipeline', 'redact', 'resize'):
        case.path_parameters['filter'] = 'blur'  # which needs no parameter
    if case.path == '/verify':
        whole = all(part.mode == GenerationMode.POSITIVE for part in case.meta.components.values())
        case.body = reported(case) if whole else case.body
    elif isinstance(case.body, dict):  # a parameter is in the query or in the form
        case.body.update({name: value for name, value in (case.query or {}).items() if name not in case.body})
        if case.query:
            case.query.clear()
        fits(case.path, case.body)
    elif case.query:
        fits(case.path, case.query)
    else:
        case.query = {}
        fits(case.path, case.query)
    case._sync_validated_hashes()  # still as the schema has it: bytes cannot be judged again
