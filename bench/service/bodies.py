# SPDX-License-Identifier: MIT
"""Makes pictures of all formats and the requests with which formats.py compares a GPU's answers with those of the CPU: animations, series,
gain maps, scans, screenshots, faces, text, plates and codes.

    tests/python.sh bench/service/bodies.py FOLDER      FOLDER/asks.json and the bodies beside it, and frames.mjpeg for series.py

The bodies come from the writers of the tests (tests/http); what this machine has no writer for is left out, and its name printed."""
import json
import pathlib
import sys

import numpy
import pytest
from PIL import Image, ImageDraw

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'tests/http'))

# pylint: disable=wrong-import-position
import animated
import bmps
import codes
import faces
import foreign
import gainmaps
import jxls
import pictures
import test_hdr_heif
import test_sequences
import tiffs
import writing
from animated import Frame

SIZE = (480, 320)
COUNT = 6
REGION = 'region=10%25,15%25,40%25,50%25&region=ellipse:40%25,30%25,55%25,65%25'
SAME_PLACES = [f'/blur?sigma=2.5&{REGION}', '/blur?sigma=20', '/sharpen?sigma=1.5&amount=0.8', '/pixelate?block=9', '/convolve?preset=edge&edge=frame',
               '/resize?width=200', '/crop?x=20&y=10&width=180&height=150', '/rotate?angle=90', '/median?radius=3', '/adjust?saturation=0.3&brightness=0.1',
               '/pipeline?ops=blur:sigma=2|resize:scale=0.4|sharpen']
HIDE = [f'/redact?fill=204060&{REGION}', f'/pixelate?block=16&mode=redact&{REGION}', f'/blur?sigma=8&mode=redact&{REGION}']
FIND = ['/redact?detect=faces&fill=204060', '/redact?detect=text,plates,codes&fill=204060&require=false', '/pixelate?block=16&mode=redact&detect=faces,text,persons,codes&require=false']


def scene(index):
    """A head and a page that move over a photograph."""
    picture = Image.fromarray(pictures.photograph(*SIZE, seed=2))
    head = faces.astronaut().crop(faces.HEAD).resize((110, 150), Image.Resampling.LANCZOS)
    picture.paste(head, (30 + 12 * index, 20 + 5 * index))
    picture.paste(writing.letter(size=(200, 120))[0], (250, 180 - 8 * index))
    return picture


def movie(kind):
    frames = [numpy.asarray(scene(i)) for i in range(COUNT)]
    if kind == 'jxl':
        return jxls.animation(frames, [80] * COUNT)
    if kind == 'avif':
        return test_sequences.avif(frames, [80] * COUNT)
    shown = [numpy.asarray(scene(i).quantize(200, dither=0).convert('RGB')) if kind == 'gif' else frame for i, frame in enumerate(frames)]
    whole = [numpy.dstack([frame, numpy.full(frame.shape[:2], 255, numpy.uint8)]) for frame in shown]
    parts = [Frame(whole[0])] + [Frame(frame[20:, 10:-10], 10, 20, 90, animated.KEEP) for frame in whole[1:]]
    return animated.write(kind, parts, *SIZE)


def screenshot(mode):
    picture = Image.new('RGB', (1280, 800), (245, 246, 248))
    pen = ImageDraw.Draw(picture)
    for i in range(300):
        pen.rectangle((i * 37 % 1200, i * 53 % 780, i * 37 % 1200 + 60, i * 53 % 780 + 9), fill=(40 + i % 3 * 60, 60 + i % 5 * 30, 90))
    picture.paste(faces.astronaut().resize((300, 300)), (900, 80))
    if mode in ('P', '1'):
        picture = picture.quantize(16, dither=0) if mode == 'P' else picture.convert('1', dither=0)
    return faces.encoded(picture.convert(mode), 'PNG')


def photographs():
    base, gain = gainmaps.photograph(960, 640, 4, 3)
    yield 'Ultra HDR', 'jpg', lambda: gainmaps.ultra_hdr(base, gain)
    yield 'Ultra HDR, 4:2:0, progressive', 'jpg', lambda: gainmaps.ultra_hdr(base, gain[..., 0].copy(), form='both', subsampling='420', progressive=True)
    yield "Apple's gain map", 'jpg', lambda: gainmaps.apple(base, gain[..., 1].copy(), headroom=2.4)
    for kind in ('heic', 'avif'):
        yield f'{kind} with a tone map', kind, lambda kind=kind: test_hdr_heif.Photograph(kind).tone().write()


def scans():
    photograph = numpy.asarray(scene(1))
    grey = photograph.astype(float).mean(2)
    yield 'TIFF', 'tiff', lambda: tiffs.tiff(photograph)
    yield 'TIFF, 16 bits', 'tiff', lambda: tiffs.tiff(photograph.astype(numpy.uint16) * 257 + 90, 16)
    yield 'TIFF, grey, 4 bits', 'tiff', lambda: tiffs.tiff((grey / 16).astype(numpy.uint8), 4)
    yield 'BMP', 'bmp', lambda: bmps.of(photograph)
    yield 'GIF', 'gif', lambda: foreign.by_pillow(pictures.png(photograph), 'GIF')
    for kind in ('webp', 'avif', 'heic', 'jxl'):
        yield kind, kind, lambda kind=kind: foreign.write(kind, photograph)
    yield 'JPEG XL, 16 bits, alpha', 'jxl', lambda: foreign.convert(
        ('cjxl', '--quiet', '-d', '0'), pictures.png(numpy.dstack([photograph, grey.astype(numpy.uint8)]).astype(numpy.uint16) * 257, depth=16), 'png', 'jxl')
    yield 'JPEG XL of a JPEG', 'jxl', lambda: foreign.convert(('cjxl', '--quiet', '--lossless_jpeg=1'), faces.photograph(), 'jpg', 'jxl')
    yield 'codes', 'png', lambda: codes.encoded(codes.page((codes.drawn(codes.QR, 5), (60, 60))))


def frames():
    """Frames of 1920x1080 in which three heads move."""
    ground = Image.fromarray(pictures.photograph(1920, 1080, seed=4))
    for i in range(8):
        picture = ground.copy()
        for at in range(3):
            head = faces.astronaut().crop(faces.HEAD).resize((190 + 60 * at, 260 + 82 * at), Image.Resampling.LANCZOS)
            picture.paste(head, (200 + 500 * at + 9 * i, 100 + 150 * at + 4 * i))
        yield faces.encoded(picture, quality=90)


def bodies():
    """name, end of the file's name, what makes it, targets"""
    for kind in ('png', 'gif', 'webp', 'avif', 'jxl'):
        yield f'animated {kind}', kind, lambda kind=kind: movie(kind), SAME_PLACES + HIDE + FIND
    series = lambda: b''.join(faces.encoded(scene(i), quality=92) for i in range(COUNT))
    yield 'series', 'mjpeg', series, ['/series' + target for target in SAME_PLACES[:4] + HIDE + FIND]
    for name, end, make in photographs():
        yield name, end, make, [target + '&format=jpeg' for target in SAME_PLACES + HIDE] + [HIDE[0] + '&format=jpeg&hdr=keep', FIND[0] + '&hdr=keep&require=false']
    for name, end, make in scans():
        yield name, end, make, [target + '&format=png' for target in SAME_PLACES + HIDE + FIND[1:]] + ['/stats?', '/detect?detect=faces,text,plates,codes,persons']
    for mode in ('RGB', 'RGBA', 'L', 'P', '1'):
        yield f'screenshot, {mode}', 'png', lambda mode=mode: screenshot(mode), SAME_PLACES + HIDE + FIND


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    asks = []
    for number, (name, end, make, targets) in enumerate(bodies()):
        try:
            body = make()
        except pytest.skip.Exception as error:
            print(f'left out: {name}: {error}')
            continue
        file = f'{number:02}.{end}'
        (folder / file).write_bytes(body)
        asks.append({'name': name, 'file': file, 'targets': targets})
    (folder / 'asks.json').write_text(json.dumps(asks, indent=1))
    (folder / 'frames.mjpeg').write_bytes(b''.join(frames()))
    print(f"{len(asks)} bodies, {sum(len(one['targets']) for one in asks)} requests")


main()
