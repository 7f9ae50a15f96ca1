# SPDX-License-Identifier: MIT
"""JPEG XL of imagecodecs (the newest libjxl) and of cjxl of this Debian."""

import functools
import io

import imagecodecs
import libraries
import numpy
import pictures
from case import FORMS, GREY, RGB, deep, run, squeezed
from libraries_write import pillow


NOISE = '--photon_noise=ISO3200' if ' v0.7' in (libraries.said('cjxl') or '') else '--photon_noise_iso=3200'


def cjxl(data, *options, of='png'):
    return run(('cjxl', '{source}', '{target}', '--quiet', *options), data, of, 'jxl')


def of_imagecodecs(shelf):
    for name, samples in FORMS.items():
        for depth, stored in ((8, samples), (16, deep(samples))):
            for what, exact, options in (('lossless', True, {'lossless': True}), ('lossless effort 1', True, {'lossless': True, 'effort': 1}),
                                         ('lossless effort 8', True, {'lossless': True, 'effort': 8}), ('d 1', False, {'distance': 1.0}),
                                         ('d 3 effort 3', False, {'distance': 3.0, 'effort': 3}), ('d 0.5 effort 8', False, {'distance': 0.5, 'effort': 8}),
                                         ('container', True, {'lossless': True, 'usecontainer': True})):
                write = functools.partial(imagecodecs.jpegxl_encode, squeezed(stored), **options)
                shelf.add('jxl', 'imagecodecs', f'{name} {depth} {what}', write, stored if exact else None)
    for subsampling in ('444', '422', '420'):
        for progressive in (False, True):
            jpeg = pictures.jpeg(RGB, 80, subsampling, progressive=progressive)
            shelf.add('jxl', 'imagecodecs', f'from JPEG {subsampling}{" progressive" * progressive}', functools.partial(imagecodecs.jpegxl_encode_jpeg, jpeg))
    shelf.add('jxl', 'imagecodecs', 'from grey JPEG', functools.partial(imagecodecs.jpegxl_encode_jpeg, pictures.jpeg(GREY, 80)))


def spaces(shelf):
    """Colour spaces that the codestream names; pixels are compared as they are stored."""
    ppm = pillow(RGB, 'PPM')
    for space in ('RGB_D65_SRG_Rel_SRG', 'RGB_D65_DCI_Rel_SRG', 'RGB_D65_202_Rel_709', 'RGB_D65_SRG_Rel_Lin', 'RGB_D65_202_Rel_PeQ', 'RGB_D65_202_Rel_HLG', 'RGB_D65_SRG_Rel_g0.55'):
        shelf.add('jxl', 'cjxl', f'lossless {space}', functools.partial(cjxl, ppm, '-d', '0', '-x', f'color_space={space}', of='ppm'), RGB)
    for name, profile in (('Adobe-like', pictures.icc(gamma=2.2)), ('gamma 1.8', pictures.icc(gamma=1.8))):
        png = io.BytesIO(pillow(RGB, 'PNG', icc_profile=profile)).getvalue()
        shelf.add('jxl', 'cjxl', f'lossless ICC {name}', functools.partial(cjxl, png, '-d', '0'), RGB)


def of_cjxl(shelf):
    for name, samples in FORMS.items():
        for depth, stored in ((8, samples), (16, deep(samples))):
            png = pictures.png(stored, depth=depth)
            for options in (('-d', '0'), ('-d', '0', '-e', '1'), ('-d', '0', '-e', '9'), ('-d', '1'), ('-d', '1', '-p'), ('-d', '1', '-m', '1'), ('-d', '2', '-e', '3'),
                            ('-d', '4', '-e', '8'), ('-d', '1', '--container=1'), ('-d', '1', NOISE), ('-d', '0', '-m', '1', '-R', '1')):
                exact = options[:2] == ('-d', '0')
                shelf.add('jxl', 'cjxl', f'{name} {depth} {" ".join(options)}', functools.partial(cjxl, png, *options), stored if exact else None)
    for subsampling in ('444', '420'):
        jpeg = pictures.jpeg(RGB, 90, subsampling)
        shelf.add('jxl', 'cjxl', f'from JPEG {subsampling}', functools.partial(cjxl, jpeg, of='jpg'))
        shelf.add('jxl', 'cjxl', f'JPEG {subsampling} as pixels', functools.partial(cjxl, jpeg, '--lossless_jpeg=0', '-d', '0', of='jpg'))
    for orientation in range(1, 9):
        png = pillow(pictures.stored_as(RGB, orientation), 'PNG', exif=b'Exif\0\0' + pictures.exif(orientation, extras=False))
        shelf.add('jxl', 'cjxl', f'orientation {orientation}', functools.partial(cjxl, png, '-d', '0'), RGB)
        jpeg = pictures.with_segments(pictures.jpeg(pictures.stored_as(RGB, orientation), 95), pictures.exif_segment(orientation))
        shelf.add('jxl', 'cjxl', f'from JPEG with orientation {orientation}', functools.partial(cjxl, jpeg, of='jpg'))
    for bits in (1, 2, 4):
        few = (GREY >> (8 - bits)).astype(numpy.uint8)
        whole = (few.astype(int) * 255 // ((1 << bits) - 1)).astype(numpy.uint8)
        shelf.add('jxl', 'cjxl', f'{bits} bits', functools.partial(cjxl, pictures.png(few, depth=bits), '-d', '0'), whole)


def files(shelf):
    of_imagecodecs(shelf)
    of_cjxl(shelf)
    spaces(shelf)
