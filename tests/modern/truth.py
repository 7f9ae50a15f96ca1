# SPDX-License-Identifier: MIT
"""The pixels that independent decoders make of WebP, AVIF and HEIC files: dwebp, avifdec, heif-convert.

dwebp turns no picture by its EXIF orientation and avifdec turns none by its properties `irot` and `imir`, nor
does it cut by `clap`. Here their answers are turned and cut as these say. heif-convert does it by itself; but it
repeats chroma, which is interpolated here from the planes that it writes as well. What
the decoders wrote is kept in build/modern, so that a second run is fast."""

import collections
import fractions
import hashlib
import io
import json
import math
import pathlib
import re
import shutil
import subprocess

import numpy
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / 'build/modern'
PROGRAMS = {'webp': ('dwebp', 'webpmux'), 'avif': ('avifdec', 'avifenc'), 'heic': ('heif-convert',)}
SECONDS = 60

# samples: height x width x channels, upright, or None with a complaint. frames: 1, or those of an animation.
# grey: the file has no colour planes, whatever the decoder makes of it.
Truth = collections.namedtuple('Truth', 'samples complaint frames grey')


def missing():
    """The decoders that are not installed."""
    return sorted(program for programs in PROGRAMS.values() for program in programs if not shutil.which(program))


def kind(body):
    """'webp', 'avif' or 'heic'. A file of a HEIF brand that is not AVIF's is a matter of libheif, broken ones
    too."""
    if body[:4] == b'RIFF':
        return 'webp'
    size = int.from_bytes(body[:4], 'big')
    brands = [body[8:12]] + [body[at:at + 4] for at in range(16, min(size, len(body), 256), 4)]
    return 'avif' if body[4:8] == b'ftyp' and {b'avif', b'avis'} & set(brands) else 'heic'


def depth(samples):
    return 8 * samples.dtype.itemsize


def digest(samples):
    """Twelve hexadecimal digits for the samples, which are big-endian in it."""
    packed = samples.astype('>u2') if depth(samples) == 16 else samples
    return hashlib.sha256(repr(samples.shape).encode() + packed.tobytes()).hexdigest()[:12]


def read_png(path):
    """All samples of a PNG, with libpng. ValueError says what is wrong with the file."""
    configs = (ROOT / 'build' / config / 'tests/modern/samples' for config in ('release', 'debug', 'asan'))
    program = next((path for path in configs if path.exists()), None)
    if not program:
        raise FileNotFoundError('tests/modern/samples is not built: run make tools')
    done = subprocess.run([program, path], capture_output=True, check=False, timeout=SECONDS)
    if done.returncode:
        raise ValueError(done.stderr.decode().strip())
    head, _, body = done.stdout.partition(b'ENDHDR\n')
    fields = dict(line.split() for line in head.decode().splitlines()[1:])
    height, width, channels, most = (int(fields[name]) for name in ('HEIGHT', 'WIDTH', 'DEPTH', 'MAXVAL'))
    samples = numpy.frombuffer(body, '>u2' if most > 255 else numpy.uint8).reshape(height, width, channels)
    return samples.astype(numpy.uint16) if most > 255 else samples


def upright(samples, orientation):
    """Turned as an EXIF orientation says."""
    if orientation >= 5:
        samples = samples.transpose(1, 0, 2)
    if orientation in (3, 4, 7, 8):
        samples = samples[::-1]
    if orientation in (2, 3, 6, 7):
        samples = samples[:, ::-1]
    return samples


def turned(samples, said):
    """Cut and turned as avifdec tells that the properties say: clap, of which whole pixels are left, irot and imir, in this order."""
    cut = re.search(r'clap \(Clean Aperture\): W: (\S+), H: (\S+), hOff: (\S+), vOff: (\S+)', said)
    if cut:
        width, height, right, down = map(fractions.Fraction, cut.groups())
        x, y = (samples.shape[1] - width) / 2 + right, (samples.shape[0] - height) / 2 + down
        samples = samples[math.ceil(y):math.floor(y + height), math.ceil(x):math.floor(x + width)]
    quarters = re.search(r'irot \(Rotation\)\s*: (\d)', said)
    if quarters:
        samples = numpy.rot90(samples, int(quarters.group(1)))
    mirror = re.search(r'imir \(Mirror\)\s*: (?:Mode|Axis) (\d)', said)
    if mirror:
        samples = samples[:, ::-1] if mirror.group(1) == '1' else samples[::-1]
    return samples


def enlarged(plane, size):
    """Chroma at twice the size, with three quarters of the near sample and one of the far one, for each axis; times 16."""
    for axis in (0, 1):
        edged = numpy.pad(plane, [(1, 1) if one == axis else (0, 0) for one in (0, 1)], mode='edge')
        low, high = (numpy.take(edged, range(at, at + plane.shape[axis]), axis) for at in (0, 2))
        plane = numpy.stack([3 * plane + low, 3 * plane + high], axis + 1).reshape(*(side << (one == axis) for one, side in enumerate(plane.shape)))
    return plane[:size[0], :size[1]]


def interpolated(samples, y4m):
    """The samples with colours from planes that heif-convert wrote: 4:2:0, BT.601, full range."""
    head, _, rest = y4m.read_bytes().partition(b'\n')
    height, width = samples.shape[:2]
    small = ((height + 1) // 2, (width + 1) // 2)
    if head.split()[1:3] != [b'W%d' % width, b'H%d' % height] or depth(samples) != 8 or samples.shape[2] < 3:
        return samples
    stored = numpy.frombuffer(rest, numpy.uint8, height * width + 2 * small[0] * small[1], len(b'FRAME\n')).astype(numpy.int32)
    luma, chroma = stored[:height * width].reshape(height, width), stored[height * width:].reshape(2, *small)
    blue, red = (enlarged(plane, (height, width)) / 16 - 128 for plane in chroma)
    colours = numpy.dstack([luma + 1.402 * red, luma - .344136 * blue - .714136 * red, luma + 1.772 * blue])
    return numpy.dstack([colours.round().clip(0, 255).astype(numpy.uint8), samples[..., 3:]])


class Failed(Exception):
    """A decoder refused a file."""


def call(*command):
    """What the program said. Failed with its last words if it ends in another way than well."""
    try:
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Failed(f'{command[0]} takes more than {SECONDS} s') from None
    said = done.stdout.decode('utf-8', 'replace')
    if done.returncode:
        lines = [line.strip(' *') for line in said.splitlines() if line.strip()] or [f'ended with {done.returncode}']
        raise Failed(f'{command[0]}: {lines[-1]}')
    return said


def told(*command):
    try:
        return call(*command)
    except Failed:
        return ''


def decode_webp(path, png):
    frames = re.search(r'Number of frames: (\d+)', told('webpmux', '-info', path))
    source = path
    if frames:
        source = png.with_suffix('.frame.webp')
        call('webpmux', '-get', 'frame', '1', path, '-o', source)
    call('dwebp', '-quiet', '-nodither', source, '-o', png)
    return {'frames': int(frames.group(1)) if frames else 1}


def decode_avif(path, png):
    """Not strictly: files without `pixi`, for example those of old versions of libheif, are read."""
    options = ['--no-strict', '--ignore-icc', '--png-compress', '1']
    said = call('avifdec', *options, path, png)
    grey = 'YUV400' in said
    if grey:  # else samples of 8 bits and limited range would be written as they are
        call('avifdec', *options, '--depth', '16', path, png)
    frames = re.search(r'(\d+) expected frames', told('avifdec', '--no-strict', '--info', path))
    return {'frames': int(frames.group(1)) if frames else 1, 'grey': grey, 'said': said,
            'eight': grey and re.search(r'Bit Depth\s*: 8\b', said) is not None}


def shares_chroma(body):
    """Whether all pictures of a HEIC file with colours are 4:2:0, as their boxes `hvcC` say, and none is put over another."""
    formats = {body[found.end() + 16] & 3 for found in re.finditer(b'hvcC', body) if found.end() + 16 < len(body)} - {0}
    return formats == {1} and b'iovl' not in body


def decode_heic(path, png):
    """heif-convert repeats chroma in a PNG. Where pixels share chroma, it is asked for the planes, too."""
    call('heif-convert', path, png)
    if shares_chroma(path.read_bytes()):
        told('heif-convert', path, png.with_suffix('.y4m'))
    several = png.with_name(f'{png.stem}-1.png')
    if not png.exists() and several.exists():
        several.rename(png)
    return {'frames': 1}


DECODERS = {'webp': decode_webp, 'avif': decode_avif, 'heic': decode_heic}


def prepare(path, decoder=None):
    """Runs the decoder, unless it ran on the same bytes before. Returns what it found, and the PNG."""
    body = path.read_bytes()
    decoder = decoder or kind(body)
    stem = f'{path.name}-{hashlib.sha256(body).hexdigest()[:12]}-{decoder}'.replace('.', '-')
    png, found = FOLDER / f'{stem}.png', FOLDER / f'{stem}.json'
    if not found.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        try:
            facts = DECODERS[decoder](path, png)
        except Failed as failure:
            png.unlink(missing_ok=True)
            facts = {'frames': 1, 'complaint': str(failure).replace(str(path), path.name).replace('\t', ' ')}
        if decoder == 'webp':
            facts['orientation'] = exif_orientation(body)
        for extra in FOLDER.glob(f'{stem}-*.png'):
            extra.unlink()
        found.write_text(json.dumps(facts))
    return json.loads(found.read_text()), png


def exif_orientation(body):
    try:
        with Image.open(io.BytesIO(body)) as picture:
            value = picture.getexif().get(0x0112)
    except (OSError, SyntaxError, ValueError):
        value = None
    return value if value in range(1, 9) else 1


def decode(path, decoder=None):
    """The Truth about a file, or what another decoder than its own says."""
    facts, png = prepare(path, decoder)
    grey = facts.get('grey', False)
    if 'complaint' in facts:
        return Truth(None, facts['complaint'], facts['frames'], grey)
    try:
        samples = upright(turned(read_png(png), facts.get('said', '')), facts.get('orientation', 1))
        y4m = png.with_suffix('.y4m')
        samples = interpolated(samples, y4m) if y4m.exists() else samples
    except ValueError as error:
        return Truth(None, f'the decoder writes no whole PNG: {error}', facts['frames'], grey)
    if facts.get('eight'):
        samples = ((samples.astype(numpy.uint32) + 128) // 257).astype(numpy.uint8)
    return Truth(samples, None, facts['frames'], grey)


def split(samples):
    """(red, green and blue, alpha or None) as 64-bit integers of 16-bit steps."""
    steps = samples.astype(numpy.int64) * (257 if depth(samples) == 8 else 1)
    channels = steps.shape[2]
    colour = steps[..., :channels - 1 + channels % 2]
    return numpy.broadcast_to(colour, (*steps.shape[:2], 3)), steps[..., -1] if channels % 2 == 0 else None


def difference(truth, answer):
    """What is wrong with the answer, or None: samples differ by more than 1 of 255. Invisible colours do not count,
    and a picture without alpha is the same as an opaque one."""
    if truth.shape[:2] != answer.shape[:2]:
        return f'the answer is {answer.shape[1]} x {answer.shape[0]}, not {truth.shape[1]} x {truth.shape[0]}'
    (colour, alpha), (other, other_alpha) = split(truth), split(answer)
    opaque = numpy.int64(65535)
    alpha = opaque if alpha is None else alpha
    other_alpha = opaque if other_alpha is None else other_alpha
    apart = abs(alpha - other_alpha)
    if apart.max() > 257:
        return f'alpha differs by up to {apart.max() / 257:.1f} of 255'
    visible = numpy.broadcast_to((alpha > 0) | (other_alpha > 0), colour.shape[:2])
    apart = abs(colour - other) * visible[..., None]
    if apart.max() > 257:
        wrong = (apart > 257).any(axis=2)
        y, x = numpy.argwhere(wrong)[0]
        return (f'colours differ by up to {apart.max() / 257:.1f} of 255, in {wrong.mean():.2%} of the pixels; the first is at {x},{y}: '
                f'{(other[y, x] / 257).round(1).tolist()}, not {(colour[y, x] / 257).round(1).tolist()}')
    return None
