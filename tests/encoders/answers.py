# SPDX-License-Identifier: MIT
"""The daemon's answers in each format, seen by all decoders that read them, which have to see the same; of answers without losses, and of the
first frames of animations, also what was sent.

Samples of lossy answers are in 4:4:4, since decoders interpolate chroma in different ways. ffmpeg's conversion of planes is not exact: LOOSE
says how much."""

import collections

import numpy

import animated
import decoders
import files_animated
import pictures
import truth
from case import FORMS, deep

KEEP = '/blur?sigma=1&region=999999,999999,1,1'
# (format, parameters, whether nothing is lost)
STILL = (('jpeg', 'quality=90&subsampling=444', False), ('jpeg', 'quality=90&subsampling=444&progressive=true', False), ('png', '', True), ('png', 'effort=9', True),
         ('webp', 'lossless=true', True), ('webp', 'quality=85', False), ('avif', 'quality=80&subsampling=444', False), ('jxl', 'lossless=true', True),
         ('jxl', 'effort=3', False), ('jxl', 'subsampling=444', False), ('gif', '', False))
# (format, decoder, a word of the answer's name, why it is not asked)
NOT = (
    ('png', 'libvips', 'animated', 'the still picture alone'), ('webp', 'imagecodecs', 'animated', 'the first frame alone'),
    ('webp', 'PyAV', '', 'chroma by swscale, up to 70 at edges'), ('webp', 'ffmpeg', '', 'chroma by swscale, up to 70 at edges'),
    ('png', 'Pillow', 'animated', 'makes half-opaque pixels see-through'), ('png', 'imagecodecs', 'animated', 'makes half-opaque pixels see-through'),
    ('avif', 'PyAV', 'rgba', 'ffmpeg reads no alpha of AVIF'), ('avif', 'ffmpeg', 'rgba', 'ffmpeg reads no alpha of AVIF'),
)
# What is not exact, in 255ths: planes by swscale, and AVIF of 10 bits in Pillow, which rounds to 8 bits before it converts.
LOOSE = {('jpeg', 'PyAV'): 8, ('jpeg', 'ffmpeg'): 8, ('avif', 'PyAV'): 8, ('avif', 'ffmpeg'): 8, ('avif', 'Pillow'): 3}


def see(data, kind, what):
    """{decoder: frames, or a text that says what it says}"""
    found = {}
    for name, decode in decoders.ALL.items():
        if name == 'restored' or any((kind, name) == entry[:2] and entry[2] in what for entry in NOT):
            continue
        try:
            found[name] = decode(data, kind).frames
        except decoders.Unable:
            pass
        except Exception as error:  # pylint: disable=broad-except  # each library has errors of its own
            found[name] = f'{type(error).__name__}: {str(error).strip()[-80:]}'
    return found


def most(frames, others):
    """By how much of 255 visible samples differ; infinite where shapes do."""
    worst = 0.
    for one, other in zip(frames, others):
        if one.shape[:2] != other.shape[:2]:
            return float('inf')
        (colour, alpha), (its, its_alpha) = truth.split(one), truth.split(other)
        opaque = numpy.full(one.shape[:2], 65535)
        alpha, its_alpha = (opaque if each is None else each for each in (alpha, its_alpha))
        seen = ((alpha > 0) | (its_alpha > 0))[..., None]
        worst = max(worst, (abs(colour - its) * seen).max() / 257, abs(alpha - its_alpha).max() / 257)
    return worst


class Row:
    """One answer and what decoders see: complaints, and how far each is from the first."""

    def __init__(self, kind, name, data, sent=None, animation=False):
        self.kind, self.name, self.complaints, self.off = kind, name, [], {}
        seen = see(data, kind, name)
        for decoder, frames in seen.items():
            if isinstance(frames, str):
                self.complaints.append(f'{decoder}: {frames}')
        seen = {decoder: frames for decoder, frames in seen.items() if not isinstance(frames, str)}
        names = sorted(seen, key=lambda name: name != 'program')
        first = sent if sent is not None else seen[names[0]]
        for decoder, frames in seen.items():
            alone = decoder in ('program', 'ffmpeg') or not animation
            if len(frames) != (1 if alone else len(first)):
                self.complaints.append(f'{decoder}: {len(frames)} frames, not {len(first)}')
            self.off[decoder] = most(first, frames)
            if self.off[decoder] > LOOSE.get((kind, decoder), 1):
                self.complaints.append(f'{decoder}: {self.off[decoder]:.1f} of 255 from {"what was sent" if sent is not None else names[0]}')


def stills(server, writes):
    for form, samples in FORMS.items():
        for depth, stored in ((8, samples), (16, deep(samples))):
            for kind, parameters, exact in STILL:
                if kind not in writes:
                    continue
                answer = server.post(f'{KEEP}&format={kind}&{parameters}', pictures.png(stored, depth=depth))
                keeps = exact and (depth == 8 or kind in ('png', 'jxl'))
                yield Row(kind, f'{form} {depth} {parameters}', answer.content, [stored] if keeps else None)


def animations(server):
    for form in ('rgb', 'rgba'):
        frames = [animated.Frame(numpy.dstack([f, numpy.full(f.shape[:2], 255, numpy.uint8)]) if f.shape[2] == 3 else f, delay=70, disposal=animated.CLEAR, blends=False)
                  for f in files_animated.scene(form == 'rgba')]
        height, width = frames[0].pixels.shape[:2]
        body = animated.png(frames, width, height)
        for kind, parameters in (('gif', ''), ('png', ''), ('webp', 'lossless=true'), ('webp', 'quality=80')):
            answer = server.post(f'{KEEP}&format={kind}&{parameters}', body)
            exact = kind == 'png' or 'lossless' in parameters
            yield Row(kind, f'animated, {form} {parameters}', answer.content, [f.pixels for f in frames] if exact else None, True)


def judge(server, words):
    """Prints a table; the failures."""
    writes = server.get('/version').json()['formats']['writes']
    rows = [row for row in (*stills(server, writes), *animations(server)) if any(word in f'{row.kind} {row.name}' for word in words)] if words else []
    grouped = collections.defaultdict(list)
    for row in rows:
        grouped[row.kind, 'animated' if 'animated' in row.name else 'still'].append(row)
    print('| answers | files | decoders, and how far they are from what was sent or from the first | failures |')
    print('|---|---|---|---|')
    for (kind, what), some in sorted(grouped.items()):
        names = list(dict.fromkeys(name for row in some for name in row.off))
        off = ', '.join(f'{name} {max(row.off[name] for row in some if name in row.off):.1f}' for name in names)
        print(f'| {kind}, {what} | {len(some)} | {off} | {sum(bool(row.complaints) for row in some)} |')
    return [f'answer in {row.kind}, {row.name}: {complaint}' for row in rows for complaint in row.complaints]
