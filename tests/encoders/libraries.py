# SPDX-License-Identifier: MIT
"""The packages of requirements.txt beside this file, which come before those of the host: to be imported first. config/pypi.sh encoders
brings them; without them what imports this ends with 77."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / 'build/encoders/python'
SKIPPED = 77

sys.path[:0] = [str(FOLDER), str(ROOT / 'tests/http'), str(ROOT / 'tests/modern')]

try:
    import av
    import imagecodecs
    import PIL
    import pyvips
    import tifffile
except ImportError as error:
    print(f'{error}: the files of the newest encoders were not tried. config/pypi.sh encoders')
    sys.exit(SKIPPED)

# {program: arguments for the first line of its version}; those of this host's Debian.
PROGRAMS = {'cjxl': '--version', 'djxl': '--version', 'avifdec': '--version', 'dwebp': '-version', 'gif2webp': '-version', 'tiffcp': '-h', 'ffmpeg': '-version'}


def said(program):
    """The first line that a program says of its version; None where it is missing."""
    try:
        done = subprocess.run([program, PROGRAMS[program]], capture_output=True, text=True, check=False, timeout=60)
    except FileNotFoundError:
        return None
    lines = (done.stdout + done.stderr).strip().splitlines()
    return ' '.join(lines[0].split(' Copyright')[0].split()) if lines else 'unknown'


def versions():
    """Lines that say what took part."""
    inner = imagecodecs.version(dict)
    yield f'Pillow {PIL.__version__}'
    yield 'imagecodecs ' + imagecodecs.__version__ + ': ' + ', '.join(f'{name} {inner[name]}' for name in ('libjxl', 'libtiff', 'libavif', 'libwebp', 'giflib'))
    yield f'libvips {pyvips.version(0)}.{pyvips.version(1)}.{pyvips.version(2)}'
    yield f'PyAV {av.__version__}: libavcodec {".".join(map(str, av.library_versions["libavcodec"]))} ({av.ffmpeg_version_info})'
    yield f'tifffile {tifffile.__version__}'
    for program in PROGRAMS:
        yield f'{program}: {said(program) or "not installed"}'
