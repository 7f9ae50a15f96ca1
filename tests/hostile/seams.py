#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random pictures with random requests, where features meet: alpha, 16 bits, metadata, regions, redaction, pipelines,
restart markers, damage.

    tests/python.sh tests/hostile/seams.py [--seconds 60] [--seed N] [--config asan]

Each request goes to two daemons: one of the build that is tested, and one of the release build that filters on the
fake GPU (or, where there is none, at another instruction level). These conditions must hold for each:

* the status is 200, 400, 415 or 422, and the same from both, and so are the bytes of the answer;
* a 200 carries a picture that decodes, of the size that the upright picture has;
* with strip no canary of the metadata comes back;
* two PNGs that differ only inside of a redacted region, with fill=mean in the order of its pixels, give the same bytes;
* outside of a region a PNG that becomes a PNG keeps its samples;
* in the end no sanitizer has reported anything, and the memory for requests is what it was at the start.

A failure is printed with the seed that repeats it, and its picture is kept in build/seams."""

import argparse
import io
import pathlib
import random
import struct
import sys
import time
import zlib

import numpy
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import lab  # noqa: E402
import areas  # noqa: E402, beside the HTTP tests
import fake_gpu  # noqa: E402
import foreign  # noqa: E402
import newer  # noqa: E402
import pictures  # noqa: E402
import wire  # noqa: E402
from lab import row  # noqa: E402

GOOD = {200, 400, 415, 422}
KEEP = lab.ROOT / 'build/seams'
PIXEL_KINDS = ('gray8', 'gray16', 'graya8', 'graya16', 'rgb8', 'rgb16', 'rgba8', 'rgba16', 'palette', 'interlaced16', 'interlaced8a')
JPEG_KINDS = ('jpeg444', 'jpeg422', 'jpeg420', 'jpeggray', 'progressive', 'cmyk', 'restarts')
NEWER_KINDS = ('webp', 'webp lossless', 'webp alpha', 'avif', 'heic')
STEPS = ('blur:sigma={s}', 'blur:sigma={s}:edge=mirror', 'blur:sigma={s}:edge=wrap', 'blur:sigma={s}:edge=zero', 'sharpen:sigma={s}:amount=0.8',
         'pixelate:block={b}', 'dilate:radius=5', 'median:radius=2', 'median:radius=7:edge=mirror', 'erode:radius=2:edge=wrap', 'convolve:preset=edge', 'convolve:preset=emboss', 'blur:sigma=1.5:kernel_size=7')


# --- pictures ------------------------------------------------------------------------------------------------
def samples_of(rng, kind, width, height):
    """Samples of a PNG, and its depth."""
    deep = kind.endswith('16')
    channels = 4 if 'rgba' in kind or kind == 'interlaced8a' else 2 if 'graya' in kind else 1 if 'gray' in kind else 3
    made = numpy.random.default_rng(rng.getrandbits(32)).integers(0, 65536 if deep else 256, (height, width, channels))
    if rng.random() < 0.5:
        made = made // 64 * 3 + 20
    if channels in (2, 4) and rng.random() < 0.6:
        made[:, : width // 2, -1] = 0
    return made, 16 if deep else 8


def metadata_chunks(rng):
    chunks = []
    if rng.random() < 0.3:
        chunks.append(('eXIf', pictures.exif(rng.randrange(1, 9), rng.choice('<>'))))
    if rng.random() < 0.2:
        chunks.append(('iTXt', b'XML:com.adobe.xmp\0\0\0\0\0' + pictures.XMP[len(pictures.XMP_NAME):]))
    if rng.random() < 0.2:
        chunks.append(('iCCP', b'p\0\0' + zlib.compress(pictures.icc())))
    if rng.random() < 0.2:
        chunks.append(('pHYs', struct.pack('>IIB', rng.choice((0, 1, 2835, 2 ** 31 - 1)), 2835, rng.randrange(2))))
    return chunks


def make_png(kind, made, depth, chunks):
    if kind == 'palette':
        table = numpy.arange(768).reshape(256, 3) * 37 % 256
        return pictures.png(made[:, :, 0] % 256, pictures.PALETTE, palette=table, before=chunks, after=())
    return pictures.png(made, depth=depth, interlaced='interlaced' in kind, before=chunks)


def make_jpeg(rng, kind, width, height, files):
    if kind == 'restarts' and files:
        data = rng.choice(files)
    elif kind == 'restarts':
        data = pictures.mosaic_jpeg(pictures.photograph(width, height, 1)[:, :, 0] // 2, rng.randrange(1, 9))
    else:
        channels = {'jpeggray': 1, 'cmyk': 4}.get(kind, 3)
        photo = pictures.photograph(width, height, channels, rng.randrange(4))
        more = {'progressive': True} if kind == 'progressive' else {}
        data = pictures.jpeg(photo, rng.choice((5, 60, 92, 100)), kind[4:] if kind[4:].isdigit() else rng.choice(('420', '444')), **more)
    segments = [pictures.exif_segment(rng.randrange(1, 9), rng.choice('<>'))] * (rng.random() < 0.4)
    segments += [(0xE1, pictures.XMP)] * (rng.random() < 0.2)
    segments += [(0xE2, b'ICC_PROFILE\0\1\1' + pictures.icc())] * (rng.random() < 0.2)
    return pictures.with_segments(data, *segments)


def make_newer(rng, kind, width, height):
    """WebP of that size; AVIF and HEIC of 64 x 64, if they can be written here."""
    exif, xmp = pictures.exif(rng.randrange(1, 9), rng.choice('<>')), pictures.XMP[len(pictures.XMP_NAME):]
    if kind in ('avif', 'heic'):
        return newer.tagged(exif, xmp).get(kind, pictures.small_png())
    photo = pictures.photograph(width, height, 4 if kind.endswith('alpha') else 3, rng.randrange(4))
    tags = {'exif': exif, 'xmp': xmp} if rng.random() < 0.5 else {}
    return newer.webp(photo, lossless=kind.endswith('lossless'), **tags)


def damage(rng, data):
    """A few bytes changed, 64 overwritten, a piece cut out or repeated; the sums of PNG chunks are put right half of the time."""
    out = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(out))
        how = rng.random()
        if how < 0.5:
            out[at] = rng.choice((0, 255, 0xD0 + rng.randrange(8), out[at] ^ 1 << rng.randrange(8)))
        elif how < 0.7:
            out[at:at + 64] = rng.randbytes(64)
        elif how < 0.85:
            del out[at:at + rng.randrange(1, 40)]
        else:
            out[at:at] = out[at:at + rng.randrange(1, 40)]
    return repaired(bytes(out)) if rng.random() < 0.5 else bytes(out)


def repaired(data):
    if data[:4] != b'\x89PNG':
        return data
    out, at = bytearray(data), 8
    while at + 12 <= len(out):
        size = struct.unpack_from('>I', out, at)[0]
        if at + 12 + size > len(out):
            break
        struct.pack_into('>I', out, at + 8 + size, zlib.crc32(out[at + 4:at + 8 + size]))
        at += 12 + size
    return bytes(out)


# --- requests ------------------------------------------------------------------------------------------------
def operations(rng):
    def one():
        return rng.choice(STEPS).format(s=rng.choice((0.3, 1.5, 5, 20, 100, 500)), b=rng.choice((1, 2, 7, 64)))

    count = rng.choice((1, 1, 1, 2, 3, 8))
    return '|'.join(one() for _ in range(count))


def region_of(rng, width, height):
    x, y = rng.randrange(width), rng.randrange(height)
    w, h = rng.randrange(1, width - x + 1), rng.randrange(1, height - y + 1)
    shape = rng.choice(('{},{},{},{}', 'ellipse:{},{},{},{}', 'polygon:{},{},{},{},{},{}'))
    return shape.format(x, y, w, h, rng.randrange(width), rng.randrange(height)), (x, y, w, h)


def options_of(rng):
    more = {}
    for name, values, share in (('format', ('jpeg', 'png', 'auto', 'webp', 'avif'), 0.6), ('metadata', ('keep', 'strip'), 0.5), ('quality', (1, 50, 85, 100), 0.3),
                                ('subsampling', ('420', '422', '444', 'auto'), 0.3), ('progressive', ('true', 'false'), 0.2),
                                ('effort', (0, 1, 5, 9), 0.3), ('autorotate', ('true', 'false'), 0.3), ('colorspace', ('native', 'rgb', 'linear'), 0.4)):
        if rng.random() < share:
            more[name] = rng.choice(values)
    return more


class Trial:
    """One picture and one request, made from a number alone."""

    def __init__(self, seed, files):
        rng = self.rng = random.Random(seed)
        self.seed = seed
        self.width, self.height = (rng.choice((1, 2, 3, 7, 8, 16, 17, 33, 64, rng.randrange(1, 120))) for _ in 'xy')
        self.kind = rng.choice(PIXEL_KINDS + JPEG_KINDS + NEWER_KINDS)
        self.samples = None
        if self.kind in PIXEL_KINDS:
            self.chunks = metadata_chunks(rng)
            self.samples, self.depth = samples_of(rng, self.kind, self.width, self.height)
            self.body = make_png(self.kind, self.samples, self.depth, self.chunks)
        elif self.kind in NEWER_KINDS:
            self.body = make_newer(rng, self.kind, self.width, self.height)
        else:
            self.body = make_jpeg(rng, self.kind, self.width, self.height, files)
        self.damaged = rng.random() < 0.4
        if self.damaged:
            self.body = damage(rng, self.body)
        self.options, self.regions, self.boxes = options_of(rng), [], []
        for _ in range(rng.choice((0, 0, 1, 1, 3))):
            text, box = region_of(rng, self.width, self.height)
            self.regions.append(text)
            self.boxes.append(box)
        self.redacts = bool(self.regions) and rng.random() < 0.4
        if self.redacts:
            self.options['mode'] = 'redact'
            self.options['fill'] = rng.choice(('mean', 'ring', '000000', '#c0801f60'))
        if self.regions and rng.random() < 0.3:
            self.options['invert'] = 'true'
        if self.regions and rng.random() < 0.3:
            self.options['feather'] = rng.choice((0.5, 3, 20))
        self.options['ops'] = operations(rng)
        self.target = '/pipeline?' + areas.query(*self.regions, **self.options)

    @property
    def rectangle(self):
        """The one hard rectangle in stored coordinates that the request has, or None."""
        plain = len(self.regions) == 1 and self.regions[0][0].isdigit() and 'invert' not in self.options and 'feather' not in self.options
        turned = self.samples is None or any(name == 'eXIf' for name, _ in self.chunks)
        return self.boxes[0] if plain and not turned and not self.damaged and self.kind != 'palette' else None

    def twin(self):
        """The same picture with other content of the rectangle: with the pixels in another order where redaction keeps 16 levels of
        their mean (cpu/mask/redact.h), else with noise."""
        x, y, w, h = self.rectangle
        other = self.samples.copy()
        inside = other[y:y + h, x:x + w]
        chance = numpy.random.default_rng(1)
        other[y:y + h, x:x + w] = (chance.permutation(inside.reshape(w * h, -1)).reshape(inside.shape) if self.options['fill'] == 'mean'
                                   else chance.integers(0, 1 << self.depth, inside.shape))
        return make_png(self.kind, other, self.depth, self.chunks)


# --- conditions ----------------------------------------------------------------------------------------------
def samples_in(body):
    if body[4:8] == b'ftyp':
        png = foreign.convert(('avifdec', '--ignore-icc'), body, 'avif', 'png')  # it refuses damaged profiles
        return numpy.asarray(Image.open(io.BytesIO(png)))
    return numpy.asarray(Image.open(io.BytesIO(body)))


def broken_promise(trial, ask, other):
    """A sentence about the first promise that does not hold, or None."""
    answer, second = ask(trial.body, trial.target), other(trial.body, trial.target)
    if answer is None or second is None or answer.status not in GOOD:
        return f'statuses {lab.status_of(answer)}, {lab.status_of(second)}'
    if answer.status != second.status:
        return f'statuses {answer.status} and {second.status}: {second.body[:200] if answer.status == 200 else answer.body[:200]}'
    if answer.status != 200:
        return None
    if answer.body != second.body:
        return 'the daemons answer with different bytes'
    if trial.options.get('metadata') != 'keep' and pictures.CANARY in answer.body:
        return 'metadata came back with strip'
    try:
        seen = samples_in(answer.body)
    except Exception as error:  # for any exception of Pillow
        return f'the answer does not decode: {error}'
    if not trial.damaged and trial.kind not in ('restarts', 'avif', 'heic') and sorted(seen.shape[:2]) != sorted((trial.width, trial.height)):
        return f'the answer has {seen.shape[:2]} samples'
    return promise_of_regions(trial, answer, ask)


def promise_of_regions(trial, answer, ask):
    if not trial.rectangle:
        return None
    if trial.redacts:
        same = ask(trial.twin(), trial.target)
        return None if same and same.body == answer.body else 'pictures that differ only inside of a redacted region differ in the answer'
    if trial.depth == 8 and trial.options.get('format') in (None, 'png', 'auto') and not any(name == 'iCCP' for name, _ in trial.chunks):
        x, y, w, h = trial.rectangle
        before, after = samples_in(trial.body), samples_in(answer.body)
        outside = numpy.ones(before.shape[:2], bool)
        outside[y:y + h, x:x + w] = False
        if before.shape == after.shape and (before[outside] != after[outside]).any():
            return 'samples outside of the region changed'
    return None


def restart_files():
    """JPEGs of the corpus with restart markers, small ones."""
    folder = lab.CORPUS / 'formats/jpeg'
    found = [p.read_bytes() for p in sorted(folder.glob('*.jp*g')) if p.stat().st_size < 40000] if folder.is_dir() else []
    return [data for data in found if b'\xff\xdd\x00\x04' in data]


def campaign(seconds, seed, config, say=lambda text: None):
    """(requests sent, seconds, sentences about violations)"""
    library = lab.BUILD['release'].parent / lab.FAKE_CUDA
    second = ['--gpus', 'all', '--cuda-library', str(library)] if library.exists() else ['--cpu-level', 'baseline']
    files, broken, count, begin = restart_files(), [], 0, time.monotonic()
    with lab.start('--workers', '1', config=config) as one, lab.start('--workers', '1', *second, config='release') as two:
        if library.exists():
            fake_gpu.await_state(two, 'serving')
        with lab.Client(one) as first, lab.Client(two) as other:
            first.ask(pictures.small_png())
            baseline = one.metrics()['blurd_slot_bytes']
            while time.monotonic() - begin < seconds and len(broken) < 20:
                trial = Trial(seed + count, files)
                sentence = broken_promise(trial, first.ask, other.ask)
                count += 1
                if sentence:
                    KEEP.mkdir(parents=True, exist_ok=True)
                    (KEEP / f'{trial.seed}').write_bytes(trial.body)
                    broken.append(f'seed {trial.seed} ({trial.kind}, {trial.width}x{trial.height}{", damaged" * trial.damaged}) {trial.target}: {sentence}')
                    say(broken[-1])
        left = lab.daemon.eventually(lambda: one.metrics()['blurd_slot_bytes'] <= baseline + (1 << 20), 30)
        if not left:
            broken.append(f'{one.metrics()["blurd_slot_bytes"]:.0f} bytes are held at the end, {baseline:.0f} at the start')
            say(broken[-1])
    return count, time.monotonic() - begin, broken


@row('I12', 'random requests where features meet, damaged pictures among them',
     'the same bytes and statuses on two backends; redaction, regions and strip hold; 0 sanitizer reports (ASan build)')
def seams():
    count, seconds, broken = campaign(lab.Options.fuzz_seconds or 60, lab.Options.seed * 1000003, 'asan')
    return f'{count} requests in {seconds:.0f} s: {len(broken)} broke a promise{"; " + broken[0] if broken else ""}', not broken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seconds', type=float, default=60)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--config', default='release')
    options = parser.parse_args()
    count, seconds, broken = campaign(options.seconds, options.seed, options.config, lambda text: print(text, flush=True))
    print(f'{count} requests in {seconds:.0f} s, {len(broken)} broke a promise')
    sys.exit(1 if broken else 0)


if __name__ == '__main__':
    main()
