# SPDX-License-Identifier: MIT
"""Decodes a JPEG with a gain map by a library that knows them, to linear light at full headroom, 1 being the white of the base:

    tests/python.sh tests/hdr/decode.py imagecodecs|libvips <photograph.jpg >linear.npy

The array has three channels. A program of its own, as the libraries bring C code that the tests' process need not have. They come
by `config/pypi.sh hdr`; imagecodecs has libultrahdr, and libvips an interpolation of its own."""

import io
import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'build/hdr/python'))


def by_imagecodecs(data):
    import imagecodecs
    return imagecodecs.ultrahdr_decode(data, dtype='float16')


def by_libvips(data):
    import pyvips
    picture = pyvips.Image.new_from_buffer(data, '')
    assert picture.get('vips-loader') == 'uhdrload_buffer', picture.get('vips-loader')
    return picture.uhdr2scRGB().numpy()


DECODERS = {'imagecodecs': by_imagecodecs, 'libvips': by_libvips}

if __name__ == '__main__':
    linear = DECODERS[sys.argv[1]](sys.stdin.buffer.read())
    file = io.BytesIO()
    numpy.save(file, numpy.asarray(linear, numpy.float32)[:, :, :3])
    sys.stdout.buffer.write(file.getvalue())
