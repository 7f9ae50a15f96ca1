# SPDX-License-Identifier: MIT
"""Single pictures as libraries write them: samples to bytes."""

import io

import av
import numpy
import pyvips
from PIL import Image

from case import squeezed


def pillow(samples, kind, mode=None, **more):
    """`mode`: converted to it before it is written."""
    picture = Image.fromarray(squeezed(samples))
    made = io.BytesIO()
    (picture.convert(mode) if mode else picture).save(made, kind, **more)
    return made.getvalue()


def vips_picture(samples):
    return pyvips.Image.new_from_array(samples, interpretation={
        (1, 8): 'b-w', (2, 8): 'b-w', (3, 8): 'srgb', (4, 8): 'srgb', (1, 16): 'grey16', (3, 16): 'rgb16', (4, 16): 'rgb16',
    }[samples.shape[2], 8 * samples.dtype.itemsize])


def vips(samples, suffix, **more):
    return vips_picture(samples).write_to_buffer(suffix, **more)


def ffmpeg(frames, codec, form, pixels, rate=10, options=None, more=None):
    """By PyAV: a list of frames of RGB or RGBA; `pixels`: the form in which they are stored."""
    made = io.BytesIO()
    with av.open(made, 'w', format=form, options=more or {}) as file:
        stream = file.add_stream(codec, rate=rate, options=options or {})
        height, width, channels = frames[0].shape
        stream.width, stream.height, stream.pix_fmt = width, height, pixels
        for samples in frames:
            name = {1: 'gray', 3: 'rgb24', 4: 'rgba'}[channels] if samples.dtype == numpy.uint8 else {1: 'gray16le', 3: 'rgb48le', 4: 'rgba64le'}[channels]
            frame = av.VideoFrame.from_ndarray(numpy.ascontiguousarray(squeezed(samples)), format=name)
            for packet in stream.encode(frame.reformat(format=pixels)):
                file.mux(packet)
        for packet in stream.encode():
            file.mux(packet)
    return made.getvalue()
