# SPDX-License-Identifier: MIT
"""P1 and P2: answers contain only the pixels of a picture, and no data of other requests."""

import collections
import hashlib
import io
import re

import numpy
from PIL import Image

import anatomy
import gainmaps
import lab
import metadata_kinds
import newer
import newest
import pictures
import rows_pictures
from lab import row

QUERIES = ('/blur?sigma=2', '/blur?sigma=9&region=2,2,20,20', '/pixelate?block=5&mode=redact&region=20%25,20%25,40%25,40%25', '/stats', '/placeholder',
           '/sharpen?format=png', '/pipeline?ops=blur:sigma=1|convolve:kernel=1,2,1&colorspace=linear')


# --- P1 ------------------------------------------------------------------------------------------
def tagged_files():
    """Every kind of metadata with the canary in it, over all formats."""
    photo = pictures.photograph(64, 48)
    canary = pictures.CANARY
    segments = {'EXIF': pictures.exif_segment(1), 'EXIF big-endian': pictures.exif_segment(6, '>'),
                'XMP': (0xE1, pictures.XMP), 'comment': (0xFE, canary * 9), 'Photoshop': (0xED, b'Photoshop 3.0\0' + canary),
                'APP9': (0xE9, canary * 40)}
    for progressive in (False, True):
        plain = pictures.jpeg(photo, progressive=progressive)
        for segment in segments.values():
            yield pictures.with_segments(plain, segment)
        yield pictures.with_segments(plain, *segments.values())
        yield plain + canary * 10
    chunks = {'tEXt': canary + b'\0' + canary, 'iTXt': b'k\0\0\0\0\0' + canary, 'eXIf': pictures.exif(3), 'juNk': canary * 9,
              'tIME': b'\x07\xe8\1\1\1\1\1'}
    for before in True, False:
        for tag, payload in chunks.items():
            yield pictures.png(photo, **{'before' if before else 'after': [(tag, payload)]})
    yield pictures.png(photo) + canary * 10
    yield from newer.tagged(pictures.exif(1), pictures.XMP[len(pictures.XMP_NAME):]).values()


def is_bare(data):
    """Only segments that are needed to show the pixels: no tags, no text, no unknown segment."""
    if data[4:8] == b'ftyp':
        return b'Exif' not in data and b'mime' not in data
    with Image.open(io.BytesIO(data)) as picture:
        picture.load()
        left = set(picture.info) - {'jfif', 'jfif_version', 'jfif_unit', 'jfif_density', 'dpi', 'icc_profile', 'gamma', 'srgb',
                                    'progressive', 'progression', 'chromaticity', 'loop', 'background', 'timestamp', 'duration'}
        return not left and not picture.getexif()


@row('P1', 'metadata that tells more than the picture', '0 tags, 0 canaries in 200 answers')
def metadata():
    files = list(tagged_files())
    files += [r['data'] for r in lab.manifest('formats/exif/', 'ok')]
    leaks, bare, answers = 0, 0, 0
    with lab.start() as own:
        for target in ('/blur?sigma=2', '/blur?sigma=2&format=png', '/blur?sigma=2&format=jpeg', '/blur?sigma=2&format=webp',
                       '/blur?sigma=2&format=avif&effort=0', '/blur?sigma=2&region=1,1,9,9', '/pixelate?block=8&mode=redact&region=1,1,30,30'):
            for answer in lab.ask_all(own, files, target, look=lambda body, answer: answer):
                if answer and answer.status == 200:
                    answers += 1
                    leaks += pictures.CANARY in answer.body
                    bare += is_bare(answer.body)
    return f'{answers} answers: {leaks} canaries, {answers - bare} with tags', answers >= 200 and leaks == 0 and bare == answers


# --- P1b -----------------------------------------------------------------------------------------
def shows_a_picture(data):
    """Whether the start of another JPEG is in the file, as bytes or in base64."""
    beside = b''.join(p for tag, p in anatomy.chunks(data) if tag != 'IDAT') if data[:1] == b'\x89' else data[2:]
    return re.search(rb'\xff\xd8\xff[\xc0-\xfe]\0', beside) or b'/9j/4' in beside or pictures.CANARY in beside


PROFILES = 'ICC profile: all but colours and name'  # written anew with all that can be shown: nothing to say


@row('P1b', 'thumbnails of the unfiltered picture with metadata=keep', '0 in all answers; what is dropped is said in each')
def kept():
    hidden = [body for kind, bodies in metadata_kinds.KINDS.items() if kind in metadata_kinds.HIDDEN and kind != PROFILES for group in bodies.values() for body in group]
    files = [r['data'] for folder in ('formats/exif/', 'formats/jpeg/', 'photos/') for r in lab.manifest(folder, 'ok') if len(r['data']) < 200 << 10]
    files += [body for group in metadata_kinds.KINDS[PROFILES].values() for body in group]
    hidden += newer.tagged(pictures.exif(1).replace(b'Maker ' + pictures.CANARY, bytes(6 + len(pictures.CANARY))), b'').values()
    shown, said, answers = 0, 0, 0
    with lab.start() as own:
        for target in ('/blur?sigma=2', '/blur?sigma=2&format=png', '/blur?sigma=2&format=jpeg', '/blur?sigma=2&region=1,1,9,9',
                       '/blur?sigma=2&format=webp'):
            for answer in lab.ask_all(own, hidden + files, target + '&metadata=keep', look=lambda body, answer: answer):
                if answer and answer.status == 200:
                    answers += 1
                    kept = answer.header('X-HDR') == 'kept'  # a map that was filtered as the base was
                    shown += bool(shows_a_picture(gainmaps.take_apart(answer.body).base if kept else answer.body))
                    said += bool(answer.header('X-Metadata-Dropped'))
    return f'{answers} answers ({5 * len(hidden)} with a hidden picture): {shown} show one; {said} say what was dropped', \
        answers >= 5 * len(hidden) and shown == 0 and said >= 5 * len(hidden)


# --- P2 ------------------------------------------------------------------------------------------
def digest(_, answer):
    return (lab.status_of(answer), hashlib.sha256(answer.body).hexdigest() if answer else None)


def inputs():
    """Good and damaged files, sizes shuffled."""
    bodies = lab.small_corpus(16 << 10, 300) + list(rows_pictures.victims().values())
    bodies += [pictures.png(pictures.noise(3 + 7 * i % 90, 2 + 11 * i % 70)) for i in range(40)]
    bodies += rows_pictures.mutants(bodies, lab.Options.mutants // 2, lab.Options.seed + 1)
    order = numpy.random.default_rng(lab.Options.seed).permutation(len(bodies))
    return [bodies[i] for i in order]


def poisoned(byte, bodies, targets, *options, **environment):
    settings = lab.daemon.clean_environment(POISON_MEMORY=hex(byte), MALLOC_PERTURB_=str(byte), **environment)
    found = []
    with lab.start(*options, config='asan', environment=settings) as own:
        if '--cuda-library' in options:
            lab.daemon.eventually(lambda: own.metrics()['blurd_gpu_state'] == 1, 30)
        for target in targets:
            found += lab.ask_all(own, bodies, target, look=digest)
        runs = {name: value for name, value in own.metrics().items() if name.startswith('blurd_requests_total')}
    gpu = sum(value for name, value in runs.items() if 'backend="cuda' in name)
    return found, gpu


def differences(one, two):
    """The number of answers that differ; prints them."""
    pairs = collections.Counter(f'{a[0]} and {b[0]}' for a, b in zip(one, two) if a != b)
    for pair, count in pairs.items():
        print(f'     differ: {pair} x {count}', flush=True)
    return pairs.total()


@row('P2', "memory that shows another request's picture",
     '0 answers differ when all memory was filled with A5 or 5A, CPU and GPU backend; both give the same bytes')
def dual_poison():
    bodies = inputs()
    differ = count = 0
    for some, targets in (bodies, QUERIES[:1]), (bodies[:len(bodies) // 8], QUERIES[1:]):
        one, two = (poisoned(byte, some, targets)[0] for byte in (0xA5, 0x5A))
        differ, count = differ + differences(one, two), count + len(one)
    measured = f'CPU: {differ} of {count} answers differ'
    library = lab.BUILD['asan'].parent / lab.FAKE_CUDA
    if not library.exists():
        return measured, 'built without CUDA headers, so the GPU backend was not tried'
    options = ('--gpus', 'all', '--gpu-timeout', '60s', '--cuda-library', str(library))
    (one, runs), (two, _) = (poisoned(byte, bodies[:150], QUERIES, *options) for byte in (0xA5, 0x5A))
    gpu = differences(one, two)
    other = differences(one, poisoned(0xA5, bodies[:150], QUERIES)[0])
    measured += f'; GPU backend on the fake driver: {gpu} of {len(one)} ({runs:.0f} run by it), {other} unlike the CPU'
    return measured, differ == 0 and gpu == 0 and other == 0 and runs > 0


@row('P2b', "a canary picture before each other picture", '0 bytes of it in the answers')
def canary():
    """Noise fills every buffer, then small and damaged pictures are requested: the answers must equal those
    of a fresh daemon."""
    bodies = lab.small_corpus(6 << 10, 150) + list(newer.samples(24 << 10).values()) + [*newer.good().values(), *newest.good().values()]
    noise = pictures.noise(700, 500)
    loud = [pictures.png(noise), newer.webp(noise[:, :, :3], lossless=True)]
    with lab.start('--workers', 1) as own:
        quiet = lab.ask_all(own, bodies, clients=1, look=digest)
    with lab.start('--workers', 1) as own, lab.Client(own) as client:
        after = []
        for body in bodies:
            for noisy in loud:
                client.ask(noisy)
            after.append(digest(body, client.ask(body)))
    differ = sum(a != b for a, b in zip(quiet, after))
    return f'{differ} of {len(bodies)} answers differ', differ == 0


