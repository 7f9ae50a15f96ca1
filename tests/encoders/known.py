# SPDX-License-Identifier: MIT
"""Files of which decoders are known to see something else than their formats say: these are not asked, and the table names them. Versions are
those of requirements.txt and of Debian 12; each was seen by this program, beside decoders that agree with each other or with what was written."""

# (kind, decoder, what stands in the writer and the name, why)
LIBJXL = 'libjxl decodes coefficients of JPEGs with filters of its own, up to 18 from libjpeg-turbo'
FIRST = 'keeps a first frame that is to be disposed to what was before: nothing was before, as the standard of PNG and Chromium 156 have it'
SWSCALE = 'swscale converts planes with less exactness, and interpolates chroma'
WRONG = (
    ('jxl', 'imagecodecs', ' bits', 'imagecodecs does not spread samples of 1 to 4 bits'),
    ('jxl', 'program', 'cjxl 1 bits', 'djxl 0.7 does not spread samples of 1 to 4 bits'),
    ('jxl', 'program', 'cjxl 2 bits', 'djxl 0.7 does not spread samples of 1 to 4 bits'),
    ('jxl', 'program', 'cjxl 4 bits', 'djxl 0.7 does not spread samples of 1 to 4 bits'),
    ('jxl', 'imagecodecs', 'from JPEG', LIBJXL),
    ('jxl', 'program', 'from JPEG', LIBJXL),
    ('jxl', 'ffmpeg', 'from JPEG', LIBJXL),
    ('tiff', 'PyAV', 'YCbCr raw', 'ffmpeg takes YCbCr of full range for limited'),
    ('tiff', 'ffmpeg', 'YCbCr raw', 'ffmpeg takes YCbCr of full range for limited'),
    ('tiff', 'libvips', 'YCbCr raw', 'libvips shows YCbCr as if it were RGB'),
    ('tiff', 'libvips', 'yuv444p', 'libvips shows YCbCr as if it were RGB'),
    ('tiff', 'libvips', 'yuv4', 'libtiff rounds chroma to whole numbers before it is multiplied'),
    ('tiff', 'Pillow', 'yuv4', 'Pillow ignores ReferenceBlackWhite, and reads no subsampled YCbCr'),
    ('tiff', 'PyAV', 'yuv422p', SWSCALE),
    ('tiff', 'ffmpeg', 'yuv422p', SWSCALE),
    ('tiff', 'PyAV', 'premultiplied', 'ffmpeg takes multiplied colours as they are'),
    ('tiff', 'ffmpeg', 'premultiplied', 'ffmpeg takes multiplied colours as they are'),
    ('tiff', 'PyAV', 'associated', 'ffmpeg takes multiplied colours as they are'),
    ('tiff', 'ffmpeg', 'associated', 'ffmpeg takes multiplied colours as they are'),
    ('tiff', 'libvips', 'zstd', 'libvips of the wheel has no Zstandard, and shows black'),
    ('bmp', 'PyAV', 'Pillow RGBA', 'ffmpeg takes the fourth byte for alpha, which no mask says'),
    ('bmp', 'ffmpeg', 'Pillow RGBA', 'ffmpeg takes the fourth byte for alpha, which no mask says'),
    ('bmp', 'PyAV', 'ffmpeg bgra', 'ffmpeg takes the fourth byte for alpha, which no mask says'),
    ('bmp', 'ffmpeg', 'ffmpeg bgra', 'ffmpeg takes the fourth byte for alpha, which no mask says'),
    ('bmp', 'PyAV', 'rgb444le', 'swscale does not spread samples of 4 bits'),
    ('bmp', 'ffmpeg', 'rgb444le', 'swscale does not spread samples of 4 bits'),
    ('png', 'PyAV', 'rgba 16 interlaced', 'ffmpeg is off by up to 9 in interlaced pictures of 16 bits with alpha'),
    ('png', 'ffmpeg', 'rgba 16 interlaced', 'ffmpeg is off by up to 9 in interlaced pictures of 16 bits with alpha'),
    ('gif', 'libvips', 'Pillow disposal 3', FIRST),
    ('gif', 'PyAV', 'Pillow disposal 3', FIRST),
    ('gif', 'Pillow', 'Pillow disposal 3', FIRST),
    ('gif', 'imagecodecs', 'Pillow disposal 3', FIRST),
    ('png', 'PyAV', 'disposal 2', FIRST),
    ('png', 'Pillow', 'disposal 2', FIRST),
    ('png', 'imagecodecs', 'disposal 2', FIRST),
    ('png', 'libvips', 'animated', 'libvips reads the still picture alone'),
    ('png', 'Pillow', 'rgba64be', 'Pillow puts frames of 16 bits over each other wrongly'),
    ('png', 'imagecodecs', 'rgba64be', 'imagecodecs puts frames of 16 bits over each other wrongly'),
    ('avif', 'PyAV', '', SWSCALE),
    ('avif', 'ffmpeg', '', SWSCALE),
    ('jpeg', 'PyAV', '', SWSCALE),
    ('jpeg', 'ffmpeg', '', SWSCALE),
    ('webp', 'PyAV', '', SWSCALE),
    ('webp', 'ffmpeg', '', SWSCALE),
    ('webp', 'imagecodecs', 'animated', 'imagecodecs reads the first frame alone'),
    ('webp', 'imagecodecs', 'gif2webp', 'imagecodecs reads the first frame alone'),
    ('webp', 'imagecodecs', 'img2webp', 'imagecodecs reads the first frame alone'),
    ('avif', 'Pillow', 'bitdepth', 'Pillow rounds 10 and 12 bits to 8 before it converts to RGB'),
    ('jpeg', 'imagecodecs', 'orientation', 'not turned by these'),
    ('jpeg', 'libvips', 'orientation', 'not turned by these'),
)


def wrong(case, name):
    """Why a decoder is not asked about a file, or None."""
    called = f'{case.writer} {case.name}'
    return next((why for kind, decoder, word, why in WRONG if kind == case.kind and decoder == name and word in called), None)
