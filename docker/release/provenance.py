#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints where the files of a release are from: a statement of in-toto with SLSA's predicate, provenance v1, in JSON.

    docker/release/provenance.py TREE FOLDER PACKAGES COMMIT [NAME=VALUE]...

TREE is the folder of the exported tree, FOLDER the release; each file in it is a subject, with its SHA-256. PACKAGES
is a folder with a file for each Debian that was built on: lines of a package's name, version and architecture, which apt has verified.
The values are what was asked of the build. BUILDER, in the environment, is an address that tells who built. There are no
times in it, so that two builds of a commit give the same bytes."""

import hashlib
import json
import os
import pathlib
import re
import sys
import urllib.parse

PINNED = re.compile(r'([\w.-]+)==([\w.]+) --hash=sha256:([0-9a-f]{64})\b(?! --hash)')
LISTS = ('detect/models.txt', 'detect/codes/zxing.txt', 'gpu/cuda/cuda_headers.txt', 'tests/clients/requirements.lock')
SIGNATURES = ('InRelease', '.asc')


def subjects(folder):
    files = sorted(path for path in folder.rglob('*') if path.is_file() and not path.name.endswith(SIGNATURES))
    return [{'name': path.relative_to(folder).as_posix(), 'digest': {'sha256': hashlib.sha256(path.read_bytes()).hexdigest()}} for path in files]


def pinned(tree):
    """Files of PyPI that the build takes: those lists of hashes that have one for each package."""
    for name in LISTS:
        text = (tree / name).read_text().replace('\\\n', ' ')
        for package, release, digest in PINNED.findall(re.sub(r' +', ' ', text)):
            yield {'uri': f'pkg:pypi/{package}@{release}', 'digest': {'sha256': digest}, 'annotations': {'named in': name}}


def debian(packages):
    for path in sorted(packages.iterdir()):
        for name, version, architecture in (line.split() for line in path.read_text().splitlines()):
            quoted = [urllib.parse.quote(each, safe=':~') for each in (name, version)]
            yield {'uri': f'pkg:deb/debian/{quoted[0]}@{quoted[1]}?arch={architecture}&distro={path.stem}'}


def main():
    tree, folder, packages = (pathlib.Path(each) for each in sys.argv[1:4])
    commit = sys.argv[4]
    home = re.search('#define BLURD_HOME_URL "(.*)"', (tree / 'core/version.h').read_text())[1]
    source = {'uri': f'git+{home}', 'digest': {'gitCommit': commit}}
    statement = {
        '_type': 'https://in-toto.io/Statement/v1', 'subject': subjects(folder), 'predicateType': 'https://slsa.dev/provenance/v1',
        'predicate': {
            'buildDefinition': {
                'buildType': f'{home}/blob/{commit}/docker/release/release.sh',
                'externalParameters': {'source': source, **dict(each.split('=', 1) for each in sys.argv[5:])},
                'resolvedDependencies': [source, *pinned(tree), *debian(packages)]},
            'runDetails': {'builder': {'id': os.environ.get('BUILDER') or 'urn:blurd:make-release'}}}}
    print(json.dumps(statement, indent=1))


if __name__ == '__main__':
    main()
