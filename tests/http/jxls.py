# SPDX-License-Identifier: MIT
"""Animated JPEG XL, written by libjxl itself: its programs cannot say how often frames are played, nor leave out their time."""

import ctypes
import ctypes.util
import struct

import pytest

ROOM = 64 << 20
UINT8, NATIVE = 2, 0  # of libjxl's enumerations
# Places in struct JxlBasicInfo and struct JxlFrameHeader, which all versions have.
XSIZE, YSIZE, BITS, ORIGINAL, ANIMATION, EXTRA, ALPHA_BITS, TICKS, PARTS, LOOPS = 4, 8, 12, 36, 44, 56, 60, 80, 84, 88


class Format(ctypes.Structure):
    _fields_ = (('channels', ctypes.c_uint32), ('kind', ctypes.c_int), ('order', ctypes.c_int), ('align', ctypes.c_size_t))


def _library():
    name = ctypes.util.find_library('jxl')
    if not name:
        pytest.skip('libjxl is not installed')
    library = ctypes.CDLL(name)
    for function in ('JxlEncoderCreate', 'JxlEncoderFrameSettingsCreate'):
        getattr(library, function).restype = ctypes.c_void_p
    return library


def _info(library, frames, ticks, parts, plays):
    height, width, channels = frames[0].shape
    info = ctypes.create_string_buffer(1024)
    library.JxlEncoderInitBasicInfo(info)
    fields = {XSIZE: width, YSIZE: height, BITS: 8, ORIGINAL: 1, ANIMATION: 1, EXTRA: channels == 4, ALPHA_BITS: 8 * (channels == 4),
              TICKS: ticks, PARTS: parts, LOOPS: plays}
    for at, value in fields.items():
        struct.pack_into('=I', info, at, value)
    return info


def animation(frames, durations, ticks=1000, parts=1, plays=0):
    """Lossless; frames of height x width x 3 or 4, 8 bits, each shown for duration * parts / ticks seconds. One of no duration is a layer below
    the next."""
    library = _library()
    encoder = ctypes.c_void_p(library.JxlEncoderCreate(None))
    settings = ctypes.c_void_p(library.JxlEncoderFrameSettingsCreate(encoder, None))
    colours = ctypes.create_string_buffer(1024)
    library.JxlColorEncodingSetToSRGB(colours, 0)
    assert library.JxlEncoderSetBasicInfo(encoder, _info(library, frames, ticks, parts, plays)) == 0
    assert library.JxlEncoderSetColorEncoding(encoder, colours) == 0
    assert library.JxlEncoderSetFrameLossless(settings, 1) == 0
    form = Format(frames[0].shape[2], UINT8, NATIVE, 0)
    for frame, duration in zip(frames, durations, strict=True):
        header = ctypes.create_string_buffer(1024)
        library.JxlEncoderInitFrameHeader(header)
        struct.pack_into('=I', header, 0, duration)
        assert library.JxlEncoderSetFrameHeader(settings, header) == 0
        data = frame.tobytes()
        assert library.JxlEncoderAddImageFrame(settings, ctypes.byref(form), data, ctypes.c_size_t(len(data))) == 0
    library.JxlEncoderCloseInput(encoder)
    memory = ctypes.create_string_buffer(ROOM)
    at, left = ctypes.c_void_p(ctypes.addressof(memory)), ctypes.c_size_t(ROOM)
    assert library.JxlEncoderProcessOutput(encoder, ctypes.byref(at), ctypes.byref(left)) == 0
    library.JxlEncoderDestroy(encoder)
    return memory.raw[:ROOM - left.value]
