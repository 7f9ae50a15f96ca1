# SPDX-License-Identifier: MIT
"""Makes build/python, the environment in which tests run (tests/python.sh), unless it is there and current.

In it are Python's own library; the Debian packages that config/packages.sh asks for and the packages that these need,
by links to their modules; and before them the packages that `config/pypi.sh kubernetes` and `helm` install. A virtual
environment that sees all packages of the host would find the same modules, but also plugins of pytest that
other packages bring, and modules that this project forgot to ask for."""

import fcntl
import pathlib
import re
import shutil
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDER = ROOT / 'build/python'
PYPI = ('kubernetes', 'helm')  # of config/pypi.sh
MODULES = pathlib.Path('/usr/lib/python3/dist-packages')
FORMAT = '${Package}\t${Version}\t${Depends}\t${db:Status-Status}\n'


def output(*command):
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def installed():
    """{package: (its version, the Python packages that it depends on)}"""
    rows = (line.split('\t') for line in output('dpkg-query', '--show', f'--showformat={FORMAT}', 'python3-*').splitlines())
    return {name: (version, re.findall(r'python3-[\w.+-]+', needs)) for name, version, needs, status in rows if status == 'installed'}


def wanted():
    """{package: version} of all packages that belong into the environment."""
    known = installed()
    found = {}
    left = output('config/packages.sh', 'python').split()
    while left:
        name = left.pop()
        if name in known and name not in found:
            found[name], needs = known[name]
            left += needs
    return found


def make(packages):
    shutil.rmtree(FOLDER, ignore_errors=True)
    venv.create(FOLDER, symlinks=True)
    links = FOLDER / 'debian'
    links.mkdir()
    paths = map(pathlib.Path, output('dpkg-query', '--listfiles', *packages).splitlines() if packages else ())
    for path in {path for path in paths if path.parent == MODULES}:
        (links / path.name).symlink_to(path)
    site, = FOLDER.glob('lib/python3*/site-packages')
    for number, folder in enumerate((*(ROOT / 'build' / name / 'python' for name in PYPI), links)):
        (site / f'{number}.pth').write_text(f'{folder}\n')


def main():
    packages = wanted()
    stamp = '\n'.join([sys.version, str(ROOT), *PYPI, *(f'{name} {packages[name]}' for name in sorted(packages))])
    FOLDER.parent.mkdir(exist_ok=True)
    with open(FOLDER.parent / 'python.lock', 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # stages run side by side
        made = FOLDER / 'made-of'
        if not made.exists() or made.read_text() != stamp:
            make(packages)
            made.write_text(stamp)


main()
