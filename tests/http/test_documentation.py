# SPDX-License-Identifier: MIT
"""Every curl line of the documentation works, every parameter is on its page, and other libraries are compared with as they are."""

import http.server
import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading

import numpy
import pytest
import requests
from PIL import Image

import anatomy
import daemon
import faces
import foreign
import pictures
import writing

PAGES = ('README.md', 'docs/api.md', *sorted(str(p.relative_to(daemon.ROOT)) for p in daemon.ROOT.glob('docs/api/*.md')),
         'docs/migrating.md', 'docs/faces.md', 'docs/text.md', 'docs/start/web.md', 'docs/start/privacy.md')
FILTERS = re.findall(r'^FILTER\(\w+, (\w+),', (daemon.ROOT / 'filters/filters.def').read_text(), re.M)
ENDPOINTS = (*FILTERS, 'pipeline')
PAGE = {name: f'docs/api/{name}.md' for name in ENDPOINTS} | {'erode': 'docs/api/dilate.md', 'detect': 'docs/faces.md'}
LINE = re.compile(r'^    (?=\S)(.*\bcurl .*)$', re.M)
# Errors are failures, and no progress is printed.
CURL = 'set -euo pipefail; curl() { command curl -fsS "$@"; }; '


def lines():
    return [(page, line) for page in PAGES for line in LINE.findall((daemon.ROOT / page).read_text())]


@pytest.fixture
def folder(tmp_path):
    pixels = pictures.photograph(640, 480)
    (tmp_path / 'photo.jpg').write_bytes(faces.encoded(faces.composed((640, 480), faces.PLACES)) if faces.FILE.exists() else pictures.jpeg(pixels))
    (tmp_path / 'photo.png').write_bytes(pictures.png(pixels))
    page, _ = writing.page((640, 480), [(20, 20 + 50 * i, line, 30) for i, line in enumerate(writing.LINES)])
    page.save(tmp_path / 'screenshot.png')
    page.save(tmp_path / 'letter.jpg')
    if shutil.which('cjxl'):
        (tmp_path / 'photo.jxl').write_bytes(foreign.convert(('cjxl', '--quiet'), (tmp_path / 'photo.jpg').read_bytes(), 'jpg', 'jxl'))
    (tmp_path / 'mask.png').write_bytes(pictures.png(pixels[:, :, 0]))
    (tmp_path / 'plan.json').write_text('{"doubtful": [], "regions": [{"x": 10, "y": 20, "width": 30, "height": 40, "origin": "found"}]}')
    (tmp_path / 'found.json').write_text('[{"box": [10, 20, 30, 40], "score": 0.9}]')
    (tmp_path / 'docs').symlink_to(daemon.ROOT / 'docs')  # lines of the README are for the folder of the clone
    return tmp_path


def check_file(path, line):
    if path.suffix == '.json':
        assert json.loads(path.read_bytes())
        return
    if path.suffix == '.jxl':
        assert foreign.kind_of(path.read_bytes()) == 'jxl'
        return
    wanted = {'.jpg': 'JPEG', '.png': 'PNG', '.webp': 'WEBP'}[path.suffix]
    name = re.search(r'@(\S+\.(?:jpg|png|jxl))\b', line)[1].replace('.jxl', '.jpg')  # repacked
    with Image.open(path.parent / name) as sent:
        size = sent.size
    with Image.open(io.BytesIO(path.read_bytes())) as picture:
        moved = re.search(r'\b(crop|resize|rotate)\b', line)
        assert picture.format == wanted and (moved or picture.size == size)
        picture.load()


@pytest.mark.skipif(not shutil.which('curl'), reason='no curl')
@pytest.mark.parametrize('page,line', lines())
def test_a_line(server, folder, page, line):
    if page == 'docs/text.md' and not writing.MODEL.exists() and os.environ.get('CI') != 'true':
        pytest.skip('no model: make models')
    if page == 'docs/faces.md' and not (faces.FILE.exists() and faces.MODEL.exists()) and os.environ.get('CI') != 'true':
        pytest.skip('no face: config/pypi.sh faces')
    if '.jxl' in line and not (folder / 'photo.jxl').exists():
        pytest.skip('cjxl is not installed')
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    line = line.replace('localhost:8080', f'127.0.0.1:{server.port}')
    done = subprocess.run(['bash', '-c', CURL + line], cwd=folder, capture_output=True, timeout=60 * daemon.SLOW, check=False)
    assert done.returncode == 0, done.stderr.decode()
    made = {path for path in folder.iterdir() if before.get(path) != path.stat().st_mtime_ns}
    for path in made:
        check_file(path, line)
    if not made:
        json.loads(done.stdout)


class Store(http.server.BaseHTTPRequestHandler):
    """Hands out the picture, and keeps what is put."""

    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Length', str(len(self.server.picture)))
        self.end_headers()
        self.wfile.write(self.server.picture)

    def do_PUT(self):
        data, left = b'', self.headers.get('Content-Length')
        if left:
            data = self.rfile.read(int(left))
        else:
            while size := int(self.rfile.readline(), 16):
                data += self.rfile.read(size + 2)[:-2]
            self.rfile.readline()
        self.server.kept.append(data)
        self.send_response(201)
        self.send_header('Content-Length', '0')
        self.end_headers()

    def log_message(self, *ignored):
        pass


@pytest.mark.skipif(not shutil.which('curl'), reason='no curl')
def test_the_lines_about_sources(server, tmp_path):
    store = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Store)
    store.picture, store.kept = pictures.jpeg(pictures.photograph(120, 90)), []
    threading.Thread(target=store.serve_forever, daemon=True).start()
    found = LINE.findall((daemon.ROOT / 'docs/sources.md').read_text())
    for line in found:
        line = line.replace('localhost:8080', f'127.0.0.1:{server.port}').replace('https://store.example.com', f'http://127.0.0.1:{store.server_port}')
        subprocess.run(['bash', '-c', CURL + line], cwd=tmp_path, capture_output=True, timeout=60 * daemon.SLOW, check=True)
    store.shutdown()
    kept = [*store.kept, (tmp_path / 'safe.jpg').read_bytes()]
    assert len(kept) == len(found) == 3
    for data in kept:
        with Image.open(io.BytesIO(data)) as picture:
            assert picture.size == (120, 90) and data != store.picture


def test_the_lines_of_the_readme_send_what_a_clone_has():
    tracked = subprocess.run(['git', 'ls-files'], cwd=daemon.ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not tracked:
        pytest.skip('no clone')
    sent = [name for page, line in lines() if page == 'README.md' for name in re.findall(r'@(\S+)', line)]
    assert len(sent) >= 4 and set(sent) <= set(tracked)


def test_there_are_lines_for_every_endpoint():
    text = '\n'.join(line for _, line in lines())
    for endpoint in ENDPOINTS:
        assert f'localhost:8080/{endpoint}' in text and any(where == PAGE[endpoint] for where, _ in lines())


@pytest.mark.parametrize('endpoint', ENDPOINTS)
def test_every_parameter_is_documented(server, endpoint):
    """The refusal of an unknown parameter lists the known ones."""
    sentence = server.post(f'/{endpoint}?nonsense=1', b'x').json()['detail']
    names = sentence.split(' takes ')[1].split(', ')
    text = ''.join((daemon.ROOT / page).read_text() for page in ('docs/api.md', PAGE[endpoint]))
    assert names and not [name for name in names if f'`{name}`' not in text]


def test_the_tables_are_current():
    done = subprocess.run([sys.executable, 'docs/generate/tables.py', '--check'], cwd=daemon.ROOT, env={**os.environ, 'BLURD': daemon.BINARY},
                          capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout.decode()


def test_the_index_names_every_endpoint(server):
    text = server.get('/').text
    for path in (*(f'/{endpoint}' for endpoint in ENDPOINTS), '/livez', '/readyz', '/metrics', '/version', '/openapi.json'):
        assert path in text


class Tensor(list):
    def tolist(self):
        return list(self)


class Made(dict):
    """Names as attributes."""
    __getattr__ = dict.__getitem__


def test_lists_of_detectors(server):
    """The functions of the page make lists that are taken, of answers as their makers document them."""
    blocks = re.findall(r'```python\n(.*?)```', (daemon.ROOT / 'docs/api/regions.md').read_text(), re.S)
    page = {}
    for block in blocks:
        exec(block.replace('localhost:8080', f'127.0.0.1:{server.port}'), page)  # pylint: disable=exec-used
    picture = pictures.png(pictures.photograph(640, 480))
    box = {'Width': 0.2, 'Height': 0.3, 'Left': -0.01, 'Top': 0.5}
    found = {'FaceDetails': [{'BoundingBox': box, 'Confidence': 99.9}, {'BoundingBox': box, 'Confidence': 10.0}]}
    people = {'Labels': [{'Name': 'Person', 'Instances': found['FaceDetails'][:1]}]}
    boxes = [Made(xyxy=[Tensor([10.5, 20.5, 60.0, 90.25])], conf=0.8, cls=0.0), Made(xyxy=[Tensor([1, 2, 3, 4])], conf=0.8, cls=1.0)]
    yolo = Made(orig_shape=(480, 640), names={0: 'face', 1: 'cat'}, boxes=boxes)
    yunet = [[10.5, 20.0, 30.0, 40.0, *range(10), 0.93]]
    cascade = [(10, 20, 30, 40), (100, 20, 30, 40)]
    for regions, count in ((page['from_rekognition'](found), 1), (page['from_rekognition'](people), 1), (page['from_yolo'](yolo, ['face']), 1),
                           (page['from_opencv'](yunet), 1), (page['from_opencv'](cascade), 2), (page['from_opencv'](None), 0)):
        answer = server.post('/blur', files={'image': ('p', picture), 'regions': (None, json.dumps(regions))})
        assert answer.status_code == 200 and answer.headers['X-Regions'] == str(count), answer.text
        if count:
            assert page['hide'](picture, regions)
        else:
            with pytest.raises(requests.HTTPError, match='422'):
                page['hide'](picture, regions)


# --- docs/migrating.md ----------------------------------------------------------------------
MIGRATING = (daemon.ROOT / 'docs/migrating.md').read_text()
SHAPES = re.findall(r'^\| `\.(dilate|erode)\(\w+\)` \| (black|white) shapes grow\b.*?\| `/(\w+)\?radius=`', MIGRATING, re.M)
GREYS = re.findall(r'^\| \w+, (\d+,\d+,\d+) \| (\d+) \| (\d+) \| (\d+) \|$', MIGRATING, re.M)


def test_shapes_that_grow(server):
    """What sharp's dilate and erode let grow; here the names are the other way round."""
    assert [name for name, *_ in SHAPES] == ['dilate', 'erode']
    for _, colour, route in SHAPES:
        shape = {'black': 0, 'white': 255}[colour]
        picture = numpy.full((40, 40, 1), 255 - shape, numpy.uint8)
        picture[15:25, 15:25] = shape
        answer = server.post(f'/{route}?radius=2', pictures.png(picture))
        assert (anatomy.pixels(answer.content) == shape).sum() == 14 * 14, f'{colour} shapes by /{route}'


def linear_luminance(colour):
    """The grey of sRGB with the luminance of BT.709, which is libvips's."""
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in (sample / 255 for sample in colour)]
    luminance = sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear))
    return 255 * (12.92 * luminance if luminance <= 0.0031308 else 1.055 * luminance ** (1 / 2.4) - 0.055)


@pytest.mark.parametrize('colour,other,own,linear', GREYS)
def test_greys(server, colour, other, own, linear):
    samples = tuple(map(int, colour.split(',')))
    body = pictures.png(numpy.full((9, 9, 3), samples, numpy.uint8))
    for query, wanted in (('grayscale=true', own), ('grayscale=true&colorspace=linear', linear)):
        assert set(anatomy.pixels(server.post(f'/adjust?{query}', body).content).flat) == {int(wanted)}, query
    assert abs(linear_luminance(samples) - int(other)) < 1


def test_greys_are_on_the_page():
    assert len(GREYS) >= 4
