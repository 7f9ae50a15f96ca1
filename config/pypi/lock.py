# SPDX-License-Identifier: MIT
"""Writes which files of PyPI pip takes for a list of requirements, with their hashes, on all hosts that tests run on:

    config/pypi/lock.py REQUIREMENTS LOCK [ARGUMENTS FOR PIP]

Those are Python 3.11 and 3.13, which Debian 12 and 13 have, or what a line `# for Python 3.9 3.10` of the requirements says."""

import collections
import itertools
import json
import pathlib
import re
import subprocess
import sys

USUAL = '3.11 3.13'  # of Debian 12 and 13
PROCESSORS = ('x86_64', 'aarch64')
PLATFORMS = ('manylinux2014', 'manylinux_2_17', 'manylinux_2_24', 'manylinux_2_28')
HEAD = '# Made by `config/pypi.sh lock` from requirements.txt beside this file, for Python {} on {}.\n'


def chosen(requirements, python, processor, more):
    """(name, version, hash) of each file that pip takes there."""
    platforms = [word for name in PLATFORMS for word in ('--platform', f'{name}_{processor}')]
    report = subprocess.run([sys.executable, '-m', 'pip', 'install', '--quiet', '--dry-run', '--ignore-installed', '--report', '-',
                             '--target', 'unused', '--only-binary', ':all:', '--python-version', python, *platforms,
                             *more, '--requirement', requirements], stdout=subprocess.PIPE, check=True).stdout
    for item in json.loads(report)['install']:
        yield item['metadata']['name'], item['metadata']['version'], item['download_info']['archive_info']['hash'].replace('=', ':')


def main():
    requirements, lock, *more = sys.argv[1:]
    told = re.search(r'^# for Python (.*)$', pathlib.Path(requirements).read_text(), re.M)
    every = (told.group(1) if told else USUAL).split()
    hashes = collections.defaultdict(set)
    pythons = collections.defaultdict(set)
    for python, processor in itertools.product(every, PROCESSORS):
        for name, version, digest in chosen(requirements, python, processor, more):
            hashes[name.lower(), version].add(digest)
            pythons[name.lower(), version].add(python)
    with open(lock, 'w', encoding='utf-8') as out:
        out.write(HEAD.format(' and '.join(every), ' and '.join(PROCESSORS)))
        for (name, version), digests in sorted(hashes.items()):
            only = [one for one in every if one in pythons[name, version]]
            marker = '' if only == every else ' ; ' + ' or '.join(f'python_version == "{one}"' for one in only)
            out.write(f'{name}=={version}{marker}' + ''.join(f' \\\n    --hash={digest}' for digest in sorted(digests)) + '\n')


main()
