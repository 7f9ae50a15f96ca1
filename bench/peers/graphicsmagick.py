# SPDX-License-Identifier: MIT
"""GraphicsMagick through its C interface (MagickWand): BlurImage with the radius that it picks, one thread
(OMP_NUM_THREADS=1)."""

import ctypes
import ctypes.util

import peer

wands = ctypes.CDLL(ctypes.util.find_library('GraphicsMagickWand-Q16'))
wands.NewMagickWand.restype = ctypes.c_void_p
wands.DestroyMagickWand.argtypes = [ctypes.c_void_p]
wands.MagickReadImageBlob.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
wands.MagickBlurImage.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_double]
wands.MagickSetImageFormat.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
wands.MagickSetCompressionQuality.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
wands.MagickWriteImageBlob.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)]
wands.MagickWriteImageBlob.restype = ctypes.c_void_p
wands.MagickRelinquishMemory.argtypes = [ctypes.c_void_p]
wands.MagickGetVersion.restype = ctypes.c_char_p


def must(done):
    if not done:
        raise RuntimeError('GraphicsMagick fails')


def blur(data, sigma, form):
    wand = wands.NewMagickWand()
    size = ctypes.c_size_t()
    must(wands.MagickReadImageBlob(wand, data, len(data)))
    must(wands.MagickBlurImage(wand, 0, sigma))
    must(wands.MagickSetImageFormat(wand, form.upper().encode()))
    if form == 'jpeg':
        must(wands.MagickSetCompressionQuality(wand, 85))
    blob = wands.MagickWriteImageBlob(wand, ctypes.byref(size))
    must(blob)
    result = ctypes.string_at(blob, size.value)
    wands.MagickRelinquishMemory(blob)
    wands.DestroyMagickWand(wand)
    return result


wands.InitializeMagick(None)
peer.serve(' '.join(wands.MagickGetVersion(None).decode().split()[:2]), blur=blur)
