# SPDX-License-Identifier: MIT
"""What tests of batches with faults share: the command, and small inputs."""

import subprocess
import tarfile

import daemon
import pictures

JOB = 'blur?sigma=2'
OWN = ('--gpus', 'none', '--workers', '1')


def command(*words, own=True):
    return [daemon.BINARY, 'run', JOB, *map(str, words), *(OWN if own else ())]


def run(*words, own=True, wait=60, **more):
    """The finished command; its texts are bytes."""
    if 'input' not in more:
        more.setdefault('stdin', subprocess.DEVNULL)
    return subprocess.run(command(*words, own=own), stdout=more.pop('stdout', subprocess.PIPE), stderr=subprocess.PIPE,
                          timeout=wait * daemon.SLOW, env=daemon.clean_environment(), check=False, **more)


def photo(path, seed=1):
    """Writes a picture, and returns its bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = pictures.jpeg(pictures.photograph(24, 16, 3, seed))
    path.write_bytes(data)
    return data


def tar_of(path, *names):
    with tarfile.open(path, 'w') as tar:
        for number, name in enumerate(names):
            photo(path.with_suffix('.member'), number)
            tar.add(path.with_suffix('.member'), name)
    return path


def many(tmp_path, count):
    data = photo(tmp_path / 'in/000.jpg')
    for number in range(1, count):
        (tmp_path / f'in/{number:03}.jpg').write_bytes(data)
