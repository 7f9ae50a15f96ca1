# SPDX-License-Identifier: MIT
"""TIFF of Pillow and libvips (libtiff), tifffile, ffmpeg and tiffcp."""

import functools
import io

import numpy
import tifffile

import pictures
import tiffs
from case import FORMS, GREY, GREY_ALPHA, RGB, RGBA, deep, run, squeezed
from libraries_write import ffmpeg, pillow, vips

LOSSLESS = ('raw', 'tiff_lzw', 'tiff_adobe_deflate', 'packbits', 'zstd', 'lzma')
HALF = numpy.where(GREY > 127, 255, 0).astype(numpy.uint8)


def of_pillow(shelf):
    def add(name, samples, known, *arguments, **more):
        shelf.add('tiff', 'Pillow', name, functools.partial(pillow, samples, 'TIFF', *arguments, **{k: v for k, v in more.items() if k != 'refused'}),
                  known, refused=more.get('refused', ''))

    for compression in LOSSLESS:
        for name, samples in {**FORMS, 'grey alpha': GREY_ALPHA, 'grey 16': deep(GREY)}.items():
            add(f'{name} {compression}', samples, samples, compression=compression)
        add(f'bilevel {compression}', HALF, HALF, '1', compression=compression)
        add(f'palette {compression}', RGB, None, 'P', compression=compression)
        add(f'CMYK {compression}', RGB, RGB, 'CMYK', compression=compression)
    for compression in ('group3', 'group4', 'tiff_ccitt'):
        add(f'bilevel {compression}', HALF, HALF, '1', compression=compression)
    for mode in ('L', 'RGB', 'YCbCr'):
        add(f'{mode} jpeg', RGB, None, mode, compression='jpeg', quality=90)
    add('YCbCr raw', RGB, None, 'YCbCr')
    add('big', RGB, RGB, big_tiff=True)
    add('with profile', RGB, RGB, icc_profile=pictures.icc())
    add('float', RGB, None, 'F', refused='floating-point')
    add('32 bits', RGB, None, 'I', refused='signed')
    add('L*a*b*', RGB, None, 'LAB', refused='L*a*b*')


def by_tifffile(samples, order='<', big=False, **more):
    made = io.BytesIO()
    with tifffile.TiffWriter(made, byteorder=order, bigtiff=big) as file:
        file.write(samples, metadata=None, **more)
    return made.getvalue()


def of_tifffile(shelf):
    def add(name, samples, known, **more):
        refused = more.pop('refused', '')
        shelf.add('tiff', 'tifffile', name, functools.partial(by_tifffile, samples, **more), known, refused=refused)

    for order in '<>':
        for big in (False, True):
            for name, samples in {**FORMS, 'rgb 16': deep(RGB), 'grey 16': deep(GREY), 'rgba 16': deep(RGBA)}.items():
                more = {'extrasamples': ['unassalpha']} if samples.shape[2] == 4 else {}
                for what, layout in (('strips', {'rowsperstrip': 7}), ('tiles', {'tile': (16, 32)})):
                    add(f'{name} {what} {order}{" big" * big}', squeezed(samples), samples, order=order, big=big, photometric='rgb' if samples.shape[2] > 2 else 'minisblack',
                        **layout, **more)
    for compression in ('zlib', 'lzw', 'packbits', 'zstd', 'lzma'):
        for predictor in (False, True):
            if predictor and compression == 'packbits':
                continue
            for name, samples in (('rgb', RGB), ('rgb 16', deep(RGB))):
                add(f'{name} {compression}{" predictor" * predictor}', samples, samples, compression=compression, predictor=predictor, photometric='rgb')
    for compression in ('jpeg', 'webp'):
        add(f'rgb {compression}', RGB, None, compression=compression, photometric='rgb')
    add('webp lossless', RGB, RGB, compression='webp', compressionargs={'lossless': True, 'level': 100}, photometric='rgb')
    add('planar', RGB.transpose(2, 0, 1), RGB, planarconfig='separate', photometric='rgb')
    add('planar tiles', deep(RGB).transpose(2, 0, 1), deep(RGB), planarconfig='separate', photometric='rgb', tile=(16, 16), order='>')
    add('white is zero', squeezed(GREY), 255 - GREY, photometric='miniswhite')
    add('CMYK', numpy.concatenate([255 - RGB, numpy.zeros_like(GREY)], 2), RGB, photometric='separated')
    multiplied = numpy.concatenate([(RGB.astype(int) * RGBA[..., 3:] // 255).astype(numpy.uint8), RGBA[..., 3:]], 2)
    add('associated alpha', multiplied, None, photometric='rgb', extrasamples=['assocalpha'])
    add('palette', squeezed(GREY), None, photometric='palette', colormap=numpy.random.default_rng(1).integers(0, 65536, (3, 256)).astype(numpy.uint16))
    for bits in (1, 2, 4, 10, 12):
        stored = (deep(GREY) >> (16 - bits)).astype(numpy.uint8 if bits <= 8 else numpy.uint16)
        add(f'{bits} bits', squeezed(stored), None, bitspersample=bits, photometric='minisblack')
    add('float', RGB.astype(numpy.float32), None, photometric='rgb', refused='floating-point')
    add('half', RGB.astype(numpy.float16), None, photometric='rgb', refused='floating-point')
    add('signed', squeezed(GREY).astype(numpy.int16), None, photometric='minisblack', refused='signed')
    add('32 bits', squeezed(GREY).astype(numpy.uint32), None, photometric='minisblack', refused='32 bits')


def of_libvips(shelf):
    def add(name, samples, known, **more):
        shelf.add('tiff', 'libvips', name, functools.partial(vips, samples, '.tif', **more), known)

    for compression in ('none', 'lzw', 'deflate', 'packbits'):
        for name, samples in {**FORMS, 'rgb 16': deep(RGB), 'rgba 16': deep(RGBA)}.items():
            for what, layout in (('strips', {}), ('tiles', {'tile': True, 'tile_width': 32, 'tile_height': 16})):
                add(f'{name} {compression} {what}', samples, samples, compression=compression, **layout)
    for compression in ('lzw', 'deflate'):
        add(f'predictor none {compression}', RGB, RGB, compression=compression, predictor='none')
    for compression in ('jpeg', 'webp'):
        add(f'rgb {compression}', RGB, None, compression=compression, Q=90)
        add(f'rgb {compression} tiles', RGB, None, compression=compression, Q=80, tile=True)
    add('ccittfax4', HALF, HALF, compression='ccittfax4', bitdepth=1)
    for bits in (1, 2, 4):
        add(f'{bits} bits', GREY, None, bitdepth=bits)
    add('white is zero', GREY, GREY, miniswhite=True)
    add('big', RGB, RGB, bigtiff=True)
    add('premultiplied', RGBA, None, premultiply=True)
    shelf.add('tiff', 'libvips', 'pyramid', functools.partial(vips, numpy.tile(RGB, (12, 12, 1)), '.tif', tile=True, pyramid=True, subifd=True), numpy.tile(RGB, (12, 12, 1)))


def others(shelf):
    for pixels, samples, known in (('rgb24', RGB, RGB), ('rgb48le', deep(RGB), deep(RGB)), ('gray', GREY, GREY), ('gray16le', deep(GREY), deep(GREY)),
                                   ('rgba', RGBA, RGBA), ('rgba64le', deep(RGBA), deep(RGBA)), ('yuv444p', RGB, None), ('yuv420p', RGB, None), ('yuv422p', RGB, None),
                                   ('monob', HALF, HALF), ('monow', HALF, HALF)):
        for compression in ('raw', 'packbits', 'lzw', 'deflate'):
            shelf.add('tiff', 'ffmpeg', f'{pixels} {compression}', functools.partial(ffmpeg, [samples], 'tiff', 'image2pipe', pixels, options={'compression_algo': compression}), known)
    plain = tiffs.tiff(RGB)
    for options in (('-c', 'lzw:2'), ('-c', 'zip:2', '-t', '-w', '16', '-l', '16'), ('-B',), ('-8',), ('-p', 'separate'), ('-c', 'lzw', '-r', '3', '-B', '-p', 'separate'), ('-c', 'zstd'), ('-c', 'lzma')):
        shelf.add('tiff', 'tiffcp', ' '.join(options), functools.partial(run, ('tiffcp', *options, '{source}', '{target}'), plain, 'tif', 'tif'), RGB)
    for options in (('-r', '16', '-c', 'jpeg:r:95'), ('-r', '16', '-c', 'jpeg:90'), ('-c', 'jpeg:90', '-t', '-w', '32', '-l', '32')):
        shelf.add('tiff', 'tiffcp', ' '.join(options), functools.partial(run, ('tiffcp', *options, '{source}', '{target}'), plain, 'tif', 'tif'))


def files(shelf):
    of_pillow(shelf)
    of_tifffile(shelf)
    of_libvips(shelf)
    others(shelf)
