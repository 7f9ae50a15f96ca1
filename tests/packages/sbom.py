# SPDX-License-Identifier: MIT
"""Checks the list of what is packed (docker/sbom.py) against the packed folder:

    tests/python.sh tests/packages/sbom.py ROOT PATH      PATH of the list below ROOT

It names each file with its checksums, and nothing else; its references lead somewhere; and the validator of spdx-tools
finds nothing, where `config/pypi.sh packages` has installed that."""

import hashlib
import json
import pathlib
import re
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]
VALIDATOR = TREE / 'build/packages/python'
IDENTIFIER = re.compile(r'SPDXRef-[A-Za-z0-9.-]+')


def check_files(root, own, made):
    packed = {path.relative_to(root).as_posix(): path for path in root.rglob('*') if path.is_file() and not path.is_symlink()}
    del packed[own]
    assert {file['fileName'] for file in made['files']} == {'./' + name for name in packed}
    for file in made['files']:
        data = packed[file['fileName'][2:]].read_bytes()
        for sum_ in file['checksums']:
            assert hashlib.new(sum_['algorithm'].lower(), data).hexdigest() == sum_['checksumValue'], file['fileName']


def check_references(made):
    identifiers = [item['SPDXID'] for item in (made, *made['packages'], *made['files'])]
    assert len(identifiers) == len(set(identifiers))
    assert all(IDENTIFIER.fullmatch(identifier) for identifier in identifiers)
    for relationship in made['relationships']:
        assert {relationship['spdxElementId'], relationship['relatedSpdxElement']} <= set(identifiers), relationship
    contained = [each['relatedSpdxElement'] for each in made['relationships'] if each['relationshipType'] == 'CONTAINS']
    assert all(contained.count(file['SPDXID']) == 1 for file in made['files'])
    defined = {each['licenseId'] for each in made['hasExtractedLicensingInfos']}
    named = set(re.findall(r'LicenseRef-[A-Za-z0-9.-]+', ' '.join(package['licenseDeclared'] for package in made['packages'])))
    assert named == defined


def check_packages(made):
    packages = {package['name']: package for package in made['packages']}
    assert packages['blurd']['licenseDeclared'] == 'MIT' and packages['blurd']['versionInfo']
    assert 'libjpeg62-turbo' in packages
    for package in packages.values():
        assert package.get('versionInfo') or package['name'] == 'nvrtc', package['name']
    for model, licence, onnx, holder in (('centerface.face', 'MIT', 'centerface.onnx', 'StarClouds'),
                                         ('ppocr.text', 'Apache-2.0', 'PP-OCRv6_det_small.onnx', 'PaddlePaddle'),
                                         ('ssdlite.persons', 'MIT', 'frozen_inference_graph.pb', 'cftang')):
        if any(file['fileName'].endswith(f'/share/blurd/{model}') for file in made['files']):
            package = packages[model.split('.')[0]]
            assert package['licenseDeclared'] == licence and holder in package['copyrightText']
            assert re.fullmatch('[0-9a-f]{64}', packages[onnx]['checksums'][0]['checksumValue'])


def validate(path):
    """What the project of the format says of it; None without its package."""
    if not VALIDATOR.is_dir():
        return None
    sys.path.insert(0, str(VALIDATOR))
    from spdx_tools.spdx.parser.parse_anything import parse_file
    from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
    return [message.validation_message for message in validate_full_spdx_document(parse_file(str(path)))]


def check(root, own):
    """Returns how many packages and files it lists, and whether the validator was there."""
    made = json.loads((root / own).read_text(encoding='utf-8'))
    check_files(root, own, made)
    check_references(made)
    check_packages(made)
    said = validate(root / own)
    assert not said, '\n'.join(said[:10])
    return len(made['packages']), len(made['files']), said is not None


if __name__ == '__main__':
    packages, files, validated = check(pathlib.Path(sys.argv[1]), sys.argv[2])
    print(f'sbom: {packages} packages, {files} files', '' if validated else '; spdx-tools was not there', sep='')
