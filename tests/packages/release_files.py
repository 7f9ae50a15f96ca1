#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks files of a release (docker/release/release.sh):

    tests/python.sh tests/packages/release_files.py provenance FOLDER COMMIT   each file is a subject of the statement, with its checksum
    tests/python.sh tests/packages/release_files.py deploy FILE                each file that Compose and Swarm name is in the archive
    tests/python.sh tests/packages/release_files.py chart FILE                 Helm takes the packed chart, as it does the folder's
    python3 tests/packages/release_files.py post PICTURE PORT                  the installed client blurs a picture

Those of the chart and of deploy need what `config/pypi.sh helm` brings."""

import hashlib
import json
import pathlib
import re
import sys
import tarfile
import tempfile

TREE = pathlib.Path()  # called there


def provenance(folder, commit):
    folder = pathlib.Path(folder)
    path, = folder.glob('*.intoto.json')
    made = json.loads(path.read_text())
    assert made['_type'] == 'https://in-toto.io/Statement/v1' and made['predicateType'] == 'https://slsa.dev/provenance/v1'
    subjects = {each['name']: each['digest']['sha256'] for each in made['subject']}
    later = re.compile(r'SHA256SUMS|InRelease|.*\.intoto\.json|.*\.asc')
    files = {file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
             for file in folder.rglob('*') if file.is_file() and not later.fullmatch(file.name)}
    assert subjects == files, subjects.keys() ^ files.keys()
    build, run = made['predicate']['buildDefinition'], made['predicate']['runDetails']
    assert ':' in build['buildType'] and ':' in run['builder']['id']
    assert build['externalParameters']['source']['digest'] == {'gitCommit': commit}
    materials = {each['uri']: each.get('digest') for each in build['resolvedDependencies']}
    for name in ('detect/models.txt', 'detect/codes/zxing.txt', 'gpu/cuda/cuda_headers.txt'):
        wheels = re.findall(r'^[^#\n]*?([\w.-]+)==(\S+) --hash=sha256:(\w+)', (TREE / name).read_text(), re.MULTILINE)
        assert wheels
        for package, release, digest in wheels:
            assert materials[f'pkg:pypi/{package}@{release}'] == {'sha256': digest}
    assert all(digest or uri.startswith('pkg:deb/debian/') for uri, digest in materials.items())
    assert {uri.rpartition('=')[2] for uri in materials if uri.startswith('pkg:deb/debian/gcc@')} == {'bookworm', 'trixie'}
    print(f'{len(subjects)} files are subjects of the provenance, which names {len(materials)} materials')


def deploy(path):
    import yaml  # pylint: disable=import-outside-toplevel
    with tarfile.open(path) as archive, tempfile.TemporaryDirectory() as folder:
        archive.extractall(folder)
        top, = pathlib.Path(folder).iterdir()
        root = top / 'docker'
        for name in ('compose.yaml', 'swarm.yaml'):
            read = yaml.safe_load((root / name).read_text())
            named = [place.split(':')[0] for service in read['services'].values() for place in service.get('volumes', ()) if isinstance(place, str)]
            named += [config['file'] for config in read.get('configs', {}).values()]
            assert any(place.startswith('./') for place in named), name
            assert not [place for place in named if place.startswith('.') and not (root / place).exists()], name
        assert (root / 'prometheus/alerts.yml').exists() and (root / 'kubernetes/base/kustomization.yaml').exists()


def chart(path):
    sys.path.append(str(TREE / 'tests/http'))
    import helm_python as helm
    import yaml
    report = helm.lint(path, {}, strict=True, kube_version='v1.31.0')
    assert not report['errors'] and {message['error'] for message in report['messages']} <= {'icon is recommended'}, report
    for values in ({}, {'gpu': True, 'tokens': 'some', 'monitoring': True, 'ingress': {'host': 'a.example'}}):
        texts = helm.Chart.load(path).render(values, name='any', namespace='blurd')
        objects = [each for name, text in texts.items() if name.endswith('.yaml') for each in yaml.safe_load_all(text) if each]
        kinds = {each['kind'] for each in objects}
        assert {'Deployment', 'Service', 'PodDisruptionBudget'} <= kinds, kinds
        image, = {each['image'] for one in objects if one['kind'] == 'Deployment' for each in one['spec']['template']['spec']['containers']}
        print(f'{len(objects)} objects, {image}')
        assert image.endswith(':' + re.search(r'-(\d[^/]*)\.tgz$', str(path))[1])


def post(picture, port):
    import blurd
    with blurd.Client(f'http://127.0.0.1:{port}') as client:
        made = client.blur(picture, sigma=8)
        assert made.media_type == 'image/jpeg' and made.content.startswith(b'\xff\xd8') and len(made.content) > 1000
        print(f'blurd {client.version().version} answers the client with {len(made.content)} bytes')


if __name__ == '__main__':
    {'provenance': provenance, 'chart': chart, 'deploy': deploy, 'post': post}[sys.argv[1]](*sys.argv[2:])
