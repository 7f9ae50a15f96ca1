# SPDX-License-Identifier: MIT
"""Clients that two generators make from the description: no part of it may be dropped, and the clients must
work."""

import importlib
import importlib.resources
import io
import json
import os
import re
import subprocess
import sys

import foreign
import pictures
from PIL import Image

# Warnings that openapi-generator prints for any input, and of `except`, which is a word of Python: its class gets another name.
USUAL = ('OpenAPI 3.1 support is still in beta', 'Failed to get the schema name: null', 'Except (reserved word) cannot be used as model name')
# The other generator knows pictures as bytes only when it is told so; docs/api.md has the same lines.
CONFIGURATION = {'content_type_overrides': {kind: 'application/octet-stream' for kind in (*(f'image/{one}' for one in foreign.READS), 'video/x-mjpeg')}, 'post_hooks': []}
JPEG = pictures.jpeg(pictures.photograph(160, 120))


def run(command, packages):
    done = subprocess.run(command, env={**os.environ, 'PYTHONPATH': str(packages)}, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout + done.stderr


def operations(document):
    return {method['operationId'] for item in document['paths'].values() for method in item.values()}


def generate(document, folder, packages):
    """Makes both clients. Returns the errors."""
    description, configuration = folder / 'openapi.json', folder / 'configuration.json'
    description.write_text(json.dumps(document))
    configuration.write_text(json.dumps(CONFIGURATION))
    code, said = run([sys.executable, '-m', 'openapi_python_client', 'generate', '--path', description, '--meta', 'none', '--output-path',
                      folder / 'attrs_client', '--config', configuration], packages)
    wrong = [said] if code or re.search('warning|error', said, re.I) else []
    made = {path.stem for path in (folder / 'attrs_client/api').glob('*/[a-z]*.py')}
    wrong += [f'openapi-python-client left out {name}' for name in operations(document) - made]
    code, said = run([sys.executable, '-c', 'import sys, openapi_generator_cli as g; sys.exit(g.run(sys.argv[1:]).returncode)', 'generate', '-i',
                      description, '-g', 'python', '-o', folder / 'other', '--package-name', 'pydantic_client'], packages)
    wrong += [line for line in said.splitlines() if re.search(r'\b(WARN|ERROR)\b', line) and not any(usual in line for usual in USUAL)]
    wrong += [said] if code else []
    text = ''.join(path.read_text() for path in (folder / 'other/pydantic_client/api').glob('*.py'))
    wrong += [f'openapi-generator left out {name}' for name in operations(document) if f'def {name}(' not in text]
    return wrong


def size(content, kind):
    with Image.open(io.BytesIO(bytes(content))) as picture:
        assert picture.format == kind
        return picture.size


def check_numbers(numbers):
    assert (numbers.width, numbers.height, numbers.pixels) == (160, 120, 160 * 120)
    assert [channel.name for channel in numbers.channels] == ['red', 'green', 'blue'] and len(numbers.channels[0].histogram) == 256
    assert 0 < numbers.channels[1].mean < 255


def use_attrs(url, token, own):
    """openapi-python-client: httpx and attrs."""
    package = importlib.import_module('attrs_client')
    api = {name: importlib.import_module(f'attrs_client.api.filters.{name}') for name in ('blur', 'pipeline', 'stats')}
    models, types = importlib.import_module('attrs_client.models'), importlib.import_module('attrs_client.types')
    client = package.AuthenticatedClient(base_url=url, token=token, raise_on_unexpected_status=True)
    picture = lambda: types.File(payload=io.BytesIO(JPEG), file_name='picture.jpg', mime_type='image/jpeg')  # noqa: E731
    given = {'sigma': 3.5, 'region': ['10,10,50,50', 'ellipse:80,40,40,40'], 'edge': models.BlurEdge.MIRROR, 'autorotate': False}
    answer = api['blur'].sync_detailed(client=client, body=picture(), **given, x_request_id='a-client')
    content = answer.parsed.payload.read()
    assert answer.headers['X-Request-Id'] == 'a-client' and size(content, 'JPEG') == (160, 120)
    assert content == own('/blur?sigma=3.5&region=10,10,50,50&region=ellipse:80,40,40,40&edge=mirror&autorotate=false').content
    form = models.BlurFilesBody(image=picture(), sigma=3.5, format_=models.Format.PNG, region=given['region'])
    content = api['blur'].sync(client=client, body=form).payload.read()
    assert size(content, 'PNG') == (160, 120)
    form = models.BlurFilesBody(image=picture(), sigma=3.5, progressive=True)  # which it writes as "True"
    assert api['blur'].sync(client=client, body=form).payload.read() == own('/blur?sigma=3.5&progressive=true').content
    assert content == own('/blur?sigma=3.5&format=png&region=10,10,50,50&region=ellipse:80,40,40,40').content
    content = api['pipeline'].sync(client=client, body=picture(), ops='blur:sigma=2|sharpen:amount=0.5').payload.read()
    assert content == own('/pipeline?ops=blur:sigma=2|sharpen:amount=0.5').content
    check_numbers(api['stats'].sync(client=client, body=picture()))
    problem = api['blur'].sync(client=client, body=picture(), sigma=1000)
    assert isinstance(problem, models.Problem) and (problem.status, problem.parameter) == (400, 'sigma')
    assert problem.type_ == models.ProblemType.URNBLURDPROBLEMBAD_PARAMETER
    problem = api['blur'].sync(client=package.Client(base_url=url), body=picture())
    assert isinstance(problem, models.Problem) and problem.status == 401
    assert importlib.import_module('attrs_client.api.operations.readyz').sync(client=client).status == 'ready'


def use_pydantic(url, token, own):
    """openapi-generator: urllib3 and pydantic."""
    package = importlib.import_module('pydantic_client')
    configuration = package.Configuration(host=url, access_token=token)
    filters = package.FiltersApi(package.ApiClient(configuration))
    regions = ['10,10,50,50', 'ellipse:80,40,40,40']
    answer = filters.blur_with_http_info(JPEG, sigma=3.5, region=regions, edge=package.BlurEdge.MIRROR, autorotate=False, x_request_id='a-client')
    assert answer.headers['X-Request-Id'] == 'a-client' and size(answer.data, 'JPEG') == (160, 120)
    assert bytes(answer.data) == own('/blur?sigma=3.5&region=10,10,50,50&region=ellipse:80,40,40,40&edge=mirror&autorotate=false').content
    answer = filters.pipeline(JPEG, ops='blur:sigma=2|sharpen:amount=0.5', format=package.Format.PNG)
    assert bytes(answer) == own('/pipeline?ops=blur:sigma=2|sharpen:amount=0.5&format=png').content
    check_numbers(filters.stats(JPEG))
    try:
        filters.convolve(JPEG, preset=package.ConvolvePreset.EDGE, kernel='1')
        raise AssertionError('no exception')
    except package.exceptions.BadRequestException as error:
        assert isinstance(error.data, package.Problem) and error.data.status == 400 and error.data.type == 'urn:blurd:problem:bad-parameter'
    assert package.OperationsApi(package.ApiClient(configuration)).version().name == 'blurd'


def check(running, token, folder, packages):
    """Makes the clients and uses them. Prints errors and returns whether there were none."""
    wrong = generate(running.get('/openapi.json').json(), folder, packages)
    for text in wrong:
        print('   ', text[:2000])
    if wrong:
        return False
    sys.path[:0] = [str(folder), str(folder / 'other')]
    own = lambda target: running.post(target, JPEG, headers={'Authorization': f'Bearer {token}'})  # noqa: E731
    use_attrs(running.url(''), token, own)
    use_pydantic(running.url(''), token, own)
    return True
