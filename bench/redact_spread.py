#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How far the lossy coding of an input has carried what is redacted beyond the redacted pixels, as a table in Markdown.

    tests/python.sh bench/redact_spread.py

A page of text has a digit under the region. Each of the ten pages is encoded with each program and redacted to a PNG, and the
45 pairs of answers are compared outside of all that mode=redact replaces. There the pages were equal, so that each difference tells
something about the digit. Needs cwebp, avifenc and heif-enc; what is absent is left out."""

import io
import itertools
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy
from PIL import Image, ImageDraw, ImageFont

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'tests' / 'http'))

import daemon  # noqa: E402

SIZE, REGION = (480, 320), (212, 132, 36, 44)  # width, height; left, top, width, height
MARGINS = (16, 32, 64, 128, 192)
INPUTS = {  # name: suffix and command, whose last two words are input and output
    'JPEG 4:2:0, quality 75': ('.jpg', None),
    'WebP, quality 75': ('.webp', ['cwebp', '-quiet', '-q', '75', '{in}', '-o', '{out}']),
    'WebP, quality 95': ('.webp', ['cwebp', '-quiet', '-q', '95', '{in}', '-o', '{out}']),
    'WebP, lossless': ('.webp', ['cwebp', '-quiet', '-lossless', '{in}', '-o', '{out}']),
    'AVIF, quantizer 24': ('.avif', ['avifenc', '-s', '6', '--min', '24', '--max', '24', '{in}', '{out}']),
    'AVIF, quantizer 40': ('.avif', ['avifenc', '-s', '6', '--min', '40', '--max', '40', '{in}', '{out}']),
    'AVIF, lossless': ('.avif', ['avifenc', '-s', '6', '--lossless', '{in}', '{out}']),
    'HEIC, quality 50': ('.heic', ['heif-enc', '-q', '50', '{in}', '-o', '{out}']),
    'HEIC, quality 80': ('.heic', ['heif-enc', '-q', '80', '{in}', '-o', '{out}']),
}


def page(digit):
    """Lines of text on a ground that shades; the same but for one large digit."""
    x = numpy.arange(SIZE[0])[None, :, None]
    y = numpy.arange(SIZE[1])[:, None, None]
    ground = 215 + 25 * numpy.sin(x / 97 + numpy.array([0, 0.3, 0.6])) * numpy.cos(y / 71)
    picture = Image.fromarray(ground.astype(numpy.uint8))
    draw = ImageDraw.Draw(picture)
    for row in range(8, SIZE[1], 20):
        draw.text((8, row), 'The quick brown fox jumps over the lazy dog, and account 4711 is due. ' * 2, fill=(30, 30, 60))
    left, top, width, height = REGION
    draw.rectangle((left, top, left + width - 1, top + height - 1), fill=(240, 240, 235))
    font = ImageFont.load_default()
    glyph = Image.new('L', (8, 12), 0)
    ImageDraw.Draw(glyph).text((1, 0), str(digit), fill=255, font=font)
    glyph = glyph.resize((width - 8, height - 4))
    picture.paste((20, 20, 20), (left + 4, top + 2), glyph)
    return picture


def encoded(picture, suffix, command, folder):
    if not command:
        out = io.BytesIO()
        picture.save(out, 'JPEG', quality=75)
        return out.getvalue()
    files = {'{in}': f'{folder}/page.png', '{out}': f'{folder}/page{suffix}'}
    picture.save(files['{in}'])
    subprocess.run([files.get(word, word) for word in command], check=True, capture_output=True)
    return pathlib.Path(files['{out}']).read_bytes()


def distances():
    """Of each pixel to the region, in pixels along the farther axis."""
    left, top, width, height = REGION
    x, y = numpy.arange(SIZE[0]), numpy.arange(SIZE[1])
    across = numpy.maximum(numpy.maximum(left - x, x - (left + width - 1)), 0)
    down = numpy.maximum(numpy.maximum(top - y, y - (top + height - 1)), 0)
    return numpy.maximum(across[None, :], down[:, None])


def redacted(own, body):
    left, top, width, height = REGION
    answer = own.post(f'/blur?sigma=0.1&mode=redact&format=png&region={left},{top},{width},{height}', body)
    assert answer.status_code == 200, answer.text
    return numpy.asarray(Image.open(io.BytesIO(answer.content)).convert('RGB')).astype(int)


def outside(pages):
    """The pixels that redaction leaves as they were, in all pages: the rest has one colour."""
    inside = numpy.ones(pages[0].shape[:2], bool)
    left, top = REGION[:2]
    for page_ in pages:
        inside &= (page_ == page_[top + 1, left + 1]).all(-1)
    rows, columns = numpy.nonzero(inside)
    box = numpy.zeros_like(inside)
    box[rows.min():rows.max() + 1, columns.min():columns.max() + 1] = True
    return ~box


def measure(own, bodies):
    pages = [redacted(own, body) for body in bodies]
    left = outside(pages)
    away = distances()
    spread = [numpy.abs(one - other).max(-1) * left for one, other in itertools.combinations(pages, 2)]
    most = max(difference.max() for difference in spread)
    far = max((away[difference > 0].max() for difference in spread if difference.any()), default=0)
    beyond = [sum((difference * (away > margin)).any() for difference in spread) for margin in MARGINS]
    return sum(difference.any() for difference in spread), far, most, beyond


def main():
    print(f'| input | pairs of 45 that differ | farthest, pixels | largest, levels | {" | ".join(f"beyond {m}" for m in MARGINS)} |')
    print('|---|' + '--:|' * (3 + len(MARGINS)))
    with daemon.Daemon('--gpus', 'none') as own, tempfile.TemporaryDirectory() as folder:
        reads = own.get('/version').json()['formats']['reads']
        for name, (suffix, command) in INPUTS.items():
            if command and not shutil.which(command[0]) or suffix.strip('.').replace('jpg', 'jpeg') not in reads:
                print(f'{name}: left out', file=sys.stderr)
                continue
            pairs, far, most, beyond = measure(own, [encoded(page(digit), suffix, command, folder) for digit in range(10)])
            print(f'| {name} | {pairs} | {far} | {most} | {" | ".join(map(str, beyond))} |')


if __name__ == "__main__":
    main()
