# SPDX-License-Identifier: MIT
"""GIF, animated PNG and animated WebP of Pillow, libvips (cgif), imagecodecs, ffmpeg, gif2webp and img2webp, and GIFs with all that frames can say."""

import functools
import io
import pathlib
import subprocess
import tempfile

import imagecodecs
import numpy
import pyvips
from PIL import Image

import animated
import pictures
from animated import CLEAR, KEEP, RESTORE, Frame
from case import HEIGHT, RGB, RGBA, WIDTH, run, squeezed
from libraries_write import ffmpeg, pillow, vips_picture

BACKGROUND = (RGB // 64 * 64).astype(numpy.uint8)
TIMES = (50, 100, 70, 200, 1000, 30)


def scene(alpha=False, count=6):
    """A disc that walks over a picture that stays, or over nothing."""
    y, x = numpy.mgrid[:HEIGHT, :WIDTH]
    for i in range(count):
        inside = ((x - 8 - 8 * i) ** 2 + (y - 20 - 2 * i) ** 2 < 80)[..., None]
        if alpha:
            yield numpy.concatenate([numpy.where(inside, numpy.uint8((250, 30 * i, 9)), BACKGROUND), inside * numpy.uint8(255)], axis=2)
        else:
            yield numpy.where(inside, numpy.uint8((250, 30 * i, 9)), BACKGROUND)


def by_pillow(kind, alpha, **more):
    frames = [Image.fromarray(frame) for frame in scene(alpha)]
    made = io.BytesIO()
    frames[0].save(made, kind, save_all=True, append_images=frames[1:], duration=list(TIMES), loop=more.pop('loop', 3), **more)
    return made.getvalue()


def by_vips(suffix, alpha, **more):
    frames = [vips_picture(numpy.ascontiguousarray(frame)) for frame in scene(alpha)]
    joined = pyvips.Image.arrayjoin(frames, across=1).copy()
    joined.set_type(pyvips.GValue.gint_type, 'page-height', HEIGHT)
    joined.set_type(pyvips.GValue.array_int_type, 'delay', list(TIMES))
    joined.set_type(pyvips.GValue.gint_type, 'loop', 2)
    return joined.write_to_buffer(suffix, **more)


def of_pillow(shelf):
    for alpha in (False, True):
        for disposal in (0, 1, 2, 3):
            for optimize in (False, True):
                shelf.add('gif', 'Pillow', f'disposal {disposal}{" alpha" * alpha}{" optimised" * optimize}', functools.partial(by_pillow, 'GIF', alpha, disposal=disposal, optimize=optimize))
        for disposal in (0, 1, 2):
            for blend in (0, 1):
                shelf.add('png', 'Pillow', f'animated, disposal {disposal} blend {blend}{" alpha" * alpha}', functools.partial(by_pillow, 'PNG', alpha, disposal=disposal, blend=blend))
        for options in ({'lossless': True}, {'lossless': True, 'minimize_size': True}, {'quality': 80}, {'quality': 50, 'method': 6}, {'allow_mixed': True}, {'kmin': 3, 'kmax': 5, 'lossless': True}):
            shelf.add('webp', 'Pillow', f'animated, {options}{" alpha" * alpha}', functools.partial(by_pillow, 'WEBP', alpha, **options))
    shelf.add('gif', 'Pillow', 'interlaced', functools.partial(pillow, RGB, 'GIF', 'P', interlace=1))
    shelf.add('gif', 'Pillow', 'not interlaced', functools.partial(pillow, RGB, 'GIF', 'P', interlace=0))
    shelf.add('gif', 'Pillow', 'transparent', functools.partial(pillow, RGBA, 'GIF'))
    shelf.add('gif', 'Pillow', 'grey', functools.partial(pillow, RGB[..., :1], 'GIF', 'L'))
    shelf.add('gif', 'Pillow', 'bilevel', functools.partial(pillow, RGB, 'GIF', '1'))
    shelf.add('png', 'Pillow', 'animated, the still picture apart', functools.partial(by_pillow, 'PNG', False, default_image=True))


def of_libvips(shelf):
    for alpha in (False, True):
        for options in ({}, {'dither': 0.0}, {'interlace': True}, {'effort': 1}, {'bitdepth': 4}, {'interframe_maxerror': 8.0}, {'reuse': True}):
            shelf.add('gif', 'libvips', f'{options}{" alpha" * alpha}', functools.partial(by_vips, '.gif', alpha, **options))
        for options in ({}, {'lossless': True}, {'min_size': True}, {'mixed': True}, {'effort': 0}, {'kmin': 2, 'kmax': 3}):
            shelf.add('webp', 'libvips', f'animated, {options}{" alpha" * alpha}', functools.partial(by_vips, '.webp', alpha, **options))


def of_ffmpeg(shelf):
    plain, see_through = [list(scene(alpha)) for alpha in (False, True)]
    for pixels in ('rgb8', 'bgr8', 'gray'):
        shelf.add('gif', 'ffmpeg', f'{pixels}', functools.partial(ffmpeg, plain, 'gif', 'gif', pixels))
        shelf.add('gif', 'ffmpeg', f'{pixels} whole frames', functools.partial(ffmpeg, plain, 'gif', 'gif', pixels, options={'gifflags': '0'}))
    for pixels, frames in (('rgb24', plain), ('rgba', see_through), ('gray', plain), ('rgb48be', plain), ('rgba64be', see_through)):
        for prediction in ('none', 'paeth'):
            shelf.add('png', 'ffmpeg', f'animated, {pixels} {prediction}', functools.partial(ffmpeg, frames, 'apng', 'apng', pixels, options={'pred': prediction}, more={'plays': '2'}))
    for pixels, frames in (('bgra', see_through), ('yuv420p', plain), ('yuva420p', see_through)):
        for lossless in ('0', '1'):
            shelf.add('webp', 'ffmpeg', f'animated, {pixels} lossless {lossless}', functools.partial(ffmpeg, frames, 'libwebp_anim', 'webp', pixels, options={'lossless': lossless}))


def of_programs(shelf):
    gif = by_pillow('GIF', True, disposal=2)
    for options in ((), ('-lossy',), ('-mixed',), ('-min_size',), ('-kmin', '1', '-kmax', '2'), ('-loop_compatibility',)):
        shelf.add('webp', 'gif2webp', ' '.join(options) or 'lossless', functools.partial(run, ('gif2webp', '-quiet', *options, '{source}', '-o', '{target}'), gif, 'gif', 'webp'))
    for options in (('-lossless',), ('-lossy', '-q', '70'), ('-mixed',), ('-min_size',)):
        shelf.add('webp', 'img2webp', ' '.join(options), functools.partial(by_img2webp, options))


def by_img2webp(options):
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for i, frame in enumerate(scene(True)):
            names += [options[0], str(pathlib.Path(folder, f'{i}.png'))] if options[0] in ('-lossless', '-lossy') else [str(pathlib.Path(folder, f'{i}.png'))]
            pathlib.Path(folder, f'{i}.png').write_bytes(pictures.png(frame))
        more = options[1:] if options[0] in ('-lossless', '-lossy') else options
        target = pathlib.Path(folder, 'out.webp')
        subprocess.run(['img2webp', '-d', '70', *more, *names, '-o', target], check=True, capture_output=True, timeout=60)
        return target.read_bytes()


def made(shelf):
    """Frames at many places with all disposals, put together field by field (tests/http/animated.py)."""
    for kind in ('gif', 'png', 'webp'):
        for disposal in (KEEP, CLEAR, RESTORE)[:2 if kind == 'webp' else 3]:
            frames = [Frame(numpy.dstack([BACKGROUND, numpy.full((HEIGHT, WIDTH), 255, numpy.uint8)]), disposal=KEEP)]
            for i, frame in enumerate(scene(True)):
                frames.append(Frame(frame[4:40, 6:50], 2 * i, 2 * (i % 3), 20 * (i + 2), disposal))
            shelf.add(kind, 'made here', f'animated, disposal {disposal}', functools.partial(animated.write, kind, frames, WIDTH, HEIGHT, plays=4))
            if kind == 'gif':
                shelf.add(kind, 'made here', f'interlaced, disposal {disposal}', functools.partial(animated.gif, frames, WIDTH, HEIGHT, plays=4, interlaced=True))


def of_imagecodecs(shelf):
    shelf.add('gif', 'imagecodecs', 'grey', functools.partial(imagecodecs.gif_encode, squeezed(RGB[..., :1])))
    for name, frames in (('rgb', list(scene())), ('rgba', list(scene(True)))):
        shelf.add('png', 'imagecodecs', f'animated, {name}', functools.partial(imagecodecs.apng_encode, numpy.stack(frames), delay=70))
        deeper = numpy.stack(frames).astype(numpy.uint16) * 257
        shelf.add('png', 'imagecodecs', f'animated, {name} 16', functools.partial(imagecodecs.apng_encode, deeper, delay=70))


def files(shelf):
    of_pillow(shelf)
    of_libvips(shelf)
    of_imagecodecs(shelf)
    of_ffmpeg(shelf)
    of_programs(shelf)
    made(shelf)
