# SPDX-License-Identifier: MIT
"""BMP, PNG, JPEG, WebP, AVIF and HEIC of Pillow, imagecodecs, libvips and ffmpeg, and JPEGs with what phones put beside the picture."""

import functools

import imagecodecs
import numpy

import bmps
import gainmaps
import pictures
from case import FORMS, GREY, HEIGHT, RGB, RGBA, WIDTH, deep, squeezed
from libraries_write import ffmpeg, pillow, vips


def bmp(shelf):
    for mode, known in (('1', None), ('L', None), ('P', None), ('RGB', RGB)):
        shelf.add('bmp', 'Pillow', mode, functools.partial(pillow, RGB, 'BMP', mode), known)
    shelf.add('bmp', 'Pillow', 'RGBA', functools.partial(pillow, RGBA, 'BMP'), None)
    for name, samples in (('grey', GREY), ('rgb', RGB)):
        shelf.add('bmp', 'imagecodecs', name, functools.partial(imagecodecs.bmp_encode, squeezed(samples)), samples)
    for pixels in ('bgra', 'bgr24', 'rgb565le', 'rgb555le', 'rgb444le', 'rgb8', 'bgr8', 'rgb4_byte', 'bgr4_byte', 'gray', 'monob'):
        shelf.add('bmp', 'ffmpeg', pixels, functools.partial(ffmpeg, [RGBA if pixels == 'bgra' else RGB], 'bmp', 'image2pipe', pixels), RGB if pixels == 'bgr24' else None)
    palette = numpy.random.default_rng(4).integers(0, 256, (256, 3))
    values = squeezed(GREY)
    for bits in (1, 2, 4, 8):
        few = values >> (8 - bits)
        for top_down in (False, True):
            shelf.add('bmp', 'made here', f'{bits} bits{" top-down" * top_down}', functools.partial(bmps.bmp, few, bits, palette=palette[:1 << bits], top_down=top_down),
                      palette[few].astype(numpy.uint8))
    for bits in (4, 8):
        flat = numpy.repeat(values[:, ::6] >> (8 - bits), 6, axis=1)[:, :WIDTH]
        shelf.add('bmp', 'made here', f'RLE{bits}', functools.partial(bmps.bmp, flat, bits, palette=palette[:1 << bits], coding=bmps.RLE8 if bits == 8 else bmps.RLE4, data=runs(flat, bits)),
                  palette[flat].astype(numpy.uint8))


def runs(values, bits):
    """Rows of runs, from the last one."""
    data = bytearray()
    for row in values[::-1].tolist():
        at = 0
        while at < len(row):
            end = next((i for i in range(at, len(row)) if row[i] != row[at]), len(row))
            data += bytes((min(end - at, 255), row[at] * (17 if bits == 4 else 1)))
            at = min(end, at + 255)
        data += b'\0\0'
    return bytes(data[:-2] + b'\0\1')


def png_and_webp(shelf):
    for name, samples in FORMS.items():
        for depth, stored in ((8, samples), (16, deep(samples))):
            shelf.add('png', 'libvips', f'{name} {depth}', functools.partial(vips, stored, '.png'), stored)
            shelf.add('png', 'libvips', f'{name} {depth} interlaced', functools.partial(vips, stored, '.png', interlace=True), stored)
            shelf.add('png', 'imagecodecs', f'{name} {depth}', functools.partial(imagecodecs.png_encode, squeezed(stored)), stored)
        shelf.add('png', 'Pillow', name, functools.partial(pillow, samples, 'PNG', optimize=True), samples)
        shelf.add('png', 'libvips', f'{name} palette', functools.partial(vips, samples, '.png', palette=True))
        for options in ({'lossless': True, 'exact': True}, {'quality': 80}, {'quality': 30, 'method': 6}):
            shelf.add('webp', 'Pillow', f'{name} {options}', functools.partial(pillow, samples, 'WEBP', **options), samples if 'exact' in options else None)
        for options in ({'lossless': True, 'exact': True}, {'Q': 70}, {'near_lossless': True}, {'smart_subsample': True}, {'alpha_q': 10}):
            shelf.add('webp', 'libvips', f'{name} {options}', functools.partial(vips, samples, '.webp', **options), samples if 'exact' in options else None)
        if name != 'grey':
            shelf.add('webp', 'imagecodecs', name, functools.partial(imagecodecs.webp_encode, samples, lossless=True), samples)


def avif_and_heic(shelf):
    for name, samples in FORMS.items():
        for options in ({'quality': 80}, {'quality': 100, 'subsampling': '4:4:4'}, {'quality': 60, 'subsampling': '4:2:2'}, {'quality': 60, 'range': 'limited'}):
            shelf.add('avif', 'Pillow', f'{name} {options}', functools.partial(pillow, samples, 'AVIF', speed=9, **options))
        for options in ({}, {'lossless': True}, {'bitdepth': 10}, {'bitdepth': 12}, {'subsample_mode': 'off'}):
            shelf.add('avif', 'libvips', f'{name} {options}', functools.partial(vips, samples, '.avif', effort=0, **options))
        shelf.add('avif', 'imagecodecs', name, functools.partial(imagecodecs.avif_encode, squeezed(samples), speed=9, level=90))


def jpeg(shelf):
    for subsampling in (0, 1, 2):
        for progressive in (False, True):
            shelf.add('jpeg', 'Pillow', f'subsampling {subsampling}{" progressive" * progressive}', functools.partial(pillow, RGB, 'JPEG', quality=85, subsampling=subsampling, progressive=progressive))
    for options in ({}, {'trellis_quant': True, 'overshoot_deringing': True, 'optimize_scans': True, 'interlace': True}, {'restart_interval': 3}, {'subsample_mode': 'off'}):
        shelf.add('jpeg', 'libvips', f'{options}', functools.partial(vips, RGB, '.jpg', Q=85, **options))
    shelf.add('jpeg', 'libvips', 'grey', functools.partial(vips, GREY, '.jpg'))
    for pixels in ('yuvj420p', 'yuvj422p', 'yuvj444p'):
        shelf.add('jpeg', 'ffmpeg', pixels, functools.partial(ffmpeg, [RGB], 'mjpeg', 'image2pipe', pixels))
    base, gain = gainmaps.photograph(96, 64)[:2]
    video = b'\0\0\0\x18ftypmp42' + bytes(12) + pictures.noise(60, 40).tobytes()
    for form in ('xmp', 'iso'):
        shelf.add('jpeg', 'phones', f'gain map, {form}', functools.partial(gainmaps.ultra_hdr, base, gain, form=form))
    plain = pictures.jpeg(RGB, 90, '420')
    shelf.add('jpeg', 'phones', 'a video behind the picture', lambda: pictures.with_segments(plain, pictures.exif_segment(1)) + video)
    shelf.add('jpeg', 'phones', 'bytes of Samsung behind the picture', lambda: plain + b'\0\0\1\x0a\x0e\0\0\0Image_UTC_Data1700000000000SEFHk\0\0\0\1\0\0\0\0\0\1\x0a\x23\0\0\0\x23\0\0\0\x18\0\0\0SEFT')
    for orientation in (6, 3, 8):
        shelf.add('jpeg', 'phones', f'orientation {orientation} with a thumbnail', functools.partial(pictures.with_segments, pictures.jpeg(pictures.stored_as(RGB, orientation), 90, '420'),
                                                                                                      pictures.exif_segment(orientation)))


def files(shelf):
    bmp(shelf)
    png_and_webp(shelf)
    avif_and_heic(shelf)
    jpeg(shelf)
