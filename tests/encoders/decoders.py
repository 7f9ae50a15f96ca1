# SPDX-License-Identifier: MIT
"""What other programs see in a file: its frames, as height x width x channels of 8 or 16 bits with straight alpha, and their times.

Each function takes the bytes and their format, and gives Seen, or raises whatever the library raises: Unable where it has no decoder."""

import dataclasses
import io
import pathlib
import subprocess
import tempfile

import av
import imagecodecs
import numpy
import pyvips
import tifffile
from PIL import Image, ImageOps, ImageSequence

import apng
import browser
import truth

SECONDS = 60


class Unable(Exception):
    """This library does not read the format, or is known to read it wrongly."""


@dataclasses.dataclass
class Seen:
    frames: list
    delays: list | None = None  # milliseconds, where the library tells them


def shaped(samples):
    """As height x width x channels of 8 or 16 bits; a mask as black and white."""
    samples = samples if samples.ndim == 3 else samples[:, :, None]
    return samples.astype(numpy.uint8) * 255 if samples.dtype == bool else samples


# --- libraries ----------------------------------------------------------------------------------
def _of_pillow(picture):
    if picture.mode in ('P', 'PA') or 'transparency' in picture.info:
        picture = picture.convert('RGBA')
    elif picture.mode in ('CMYK', 'YCbCr', 'LAB'):
        picture = picture.convert('RGB')
    return shaped(numpy.asarray(picture).astype(numpy.uint16) if picture.mode.startswith('I') else numpy.asarray(picture))


def pillow(data, kind):
    if kind == 'jxl':
        raise Unable(kind)
    with Image.open(io.BytesIO(data)) as picture:
        if kind == 'jpeg':
            picture = ImageOps.exif_transpose(picture)
        if not getattr(picture, 'is_animated', False) or kind in ('tiff', 'jpeg'):
            return Seen([_of_pillow(picture)])
        frames, delays = [], []
        for frame in ImageSequence.Iterator(picture):
            frames.append(numpy.asarray(frame.convert('RGBA')))
            delays.append(round(frame.info.get('duration', 0)))
        return Seen(frames, delays)


CODECS = {'jxl': 'jpegxl', 'png': 'apng', 'bmp': 'bmp', 'webp': 'webp', 'avif': 'avif', 'jpeg': 'jpeg', 'gif': 'gif'}


def imagecodecs_of(data, kind):
    if kind not in CODECS:
        raise Unable(kind)
    samples = getattr(imagecodecs, f'{CODECS[kind]}_decode')(data)
    if samples.ndim == 4:
        return Seen([shaped(frame) for frame in samples])
    if kind == 'avif' and samples.dtype == numpy.uint16:  # values of 10 or 12 bits
        most = 4095 if data[data.index(b'av1C') + 6] & 0x20 else 1023
        samples = ((samples.astype(numpy.uint32) * 65535 * 2 + most) // (2 * most)).astype(numpy.uint16)
    return Seen([shaped(samples)])


def libvips(data, kind):
    if kind in ('jxl', 'bmp'):
        raise Unable(kind)
    picture = pyvips.Image.new_from_buffer(data, '', access='sequential', **({'n': -1} if kind in ('gif', 'webp') else {}))
    names = picture.get_fields()
    height = picture.get('page-height') if 'page-height' in names else picture.height
    delays = picture.get('delay') if 'delay' in names else None
    if picture.interpretation in ('cmyk', 'lab', 'labs'):
        raise Unable(picture.interpretation)
    if picture.interpretation == 'b-w' and picture.format == 'ushort' and picture.get_typeof('palette'):
        picture = picture.cast('uchar')
    samples = shaped(picture.numpy())
    return Seen([samples[at:at + height] for at in range(0, samples.shape[0], height)], delays)


UNPACK = {1: bytes, 5: imagecodecs.lzw_decode, 8: imagecodecs.zlib_decode, 32946: imagecodecs.zlib_decode, 32773: imagecodecs.packbits_decode}


def ycbcr(data, page):
    """TIFF 6.0, section 21, in floating point: the pixels of a block share Cb and Cr."""
    across, down = page.tags[530].value if 530 in page.tags else (2, 2)
    weights = [n / d for n, d in zip(*[iter(page.tags[529].value)] * 2)] if 529 in page.tags else (0.299, 0.587, 0.114)
    bounds = [n / d for n, d in zip(*[iter(page.tags[532].value)] * 2)] if 532 in page.tags else (0, 255, 128, 255, 128, 255)
    rows = []
    for at, size in zip(page.dataoffsets, page.databytecounts):
        strip = numpy.frombuffer(UNPACK[page.compression](data[at:at + size]), numpy.uint8)
        wide = -(-page.imagewidth // across)
        blocks = strip[:strip.size // (wide * (across * down + 2)) * wide * (across * down + 2)].reshape(-1, wide, across * down + 2)
        luma = blocks[..., :-2].reshape(-1, wide, down, across).transpose(0, 2, 1, 3).reshape(-1, wide * across)
        rows.append(numpy.dstack([luma, *(blocks[..., c].repeat(down, 0).repeat(across, 1) for c in (-2, -1))]))
    stored = numpy.concatenate(rows)[:page.imagelength, :page.imagewidth].astype(float)
    y, cb, cr = ((stored[..., c] - bounds[2 * c]) * (255 if c == 0 else 127) / (bounds[2 * c + 1] - bounds[2 * c]) for c in range(3))
    red, blue = y + cr * (2 - 2 * weights[0]), y + cb * (2 - 2 * weights[2])
    return numpy.dstack([red, (y - weights[0] * red - weights[2] * blue) / weights[1], blue]).round().clip(0, 255).astype(numpy.uint8)


def tifffile_of(data, kind):
    """The samples by tifffile, and what they mean by the arithmetic here: libtiff has no part in it."""
    if kind != 'tiff':
        raise Unable(kind)
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        page = file.pages[0]
        if page.photometric == 6 and page.compression != 7:
            return Seen([ycbcr(data, page)])
        samples = page.asarray()
        if page.planarconfig == 2 and samples.ndim == 3 and page.samplesperpixel > 1:
            samples = samples.transpose(1, 2, 0)
        samples, bits, colours = shaped(samples), page.bitspersample, page.photometric
        if colours == 3:
            return Seen([numpy.take(page.colormap, samples[..., 0], axis=1).transpose(1, 2, 0).astype(numpy.uint16)])
        if colours in (5, 8):
            raise Unable('inks')
        most = (1 << bits) - 1
        if bits not in (8, 16) and not (bits == 1 and samples.max() > 1):
            deep = 255 if bits < 8 else 65535
            samples = ((samples.astype(numpy.uint32) * deep * 2 + most) // (2 * most)).astype(numpy.uint8 if bits < 8 else numpy.uint16)
        if colours == 0:
            samples = samples.copy()
            samples[..., :1] = (65535 if samples.dtype == numpy.uint16 else 255) - samples[..., :1]
        if 1 in page.extrasamples:  # colours are multiplied by alpha
            alpha = samples[..., -1:].astype(numpy.float64)
            most = 65535 if samples.dtype == numpy.uint16 else 255
            colours = numpy.where(alpha > 0, samples[..., :-1].astype(float) * most / numpy.maximum(alpha, 1), 0).round().clip(0, most)
            samples = numpy.concatenate([colours.astype(samples.dtype), samples[..., -1:]], axis=2)
        return Seen([samples])


DEEP = {'gray16be', 'gray16le', 'rgb48be', 'rgb48le', 'rgba64be', 'rgba64le', 'ya16be', 'ya16le', 'gray10le', 'gray12le', 'gbrp16le', 'gbrap16le'}


def ffmpeg_library(data, kind):
    """PyAV, which has the newest ffmpeg."""
    if kind == 'jxl':
        raise Unable(kind)
    frames, delays = [], []
    form = {'png': 'apng' if b'acTL' in data[:100] else 'png_pipe', 'gif': 'gif', 'webp': 'webp' if b'ANMF' in data else 'webp_pipe',
            'avif': 'mov', 'jpeg': 'jpeg_pipe', 'tiff': 'tiff_pipe', 'bmp': 'bmp_pipe'}[kind]
    with av.open(io.BytesIO(data), format=form, options={'ignore_loop': '1'} if kind == 'gif' else {}) as file:
        stream = file.streams.video[0]
        for frame in file.decode(stream):
            name = frame.format.name
            deep = name in DEEP or frame.format.components[0].bits > 8
            frames.append(frame.to_ndarray(format='rgba64le' if deep else 'rgba'))
            delays.append(None if not frame.duration else round(1000 * frame.duration * frame.time_base))
    if not frames:
        raise ValueError('no frame')
    return Seen(frames, None if None in delays else delays)


def rules(data, kind):
    """The frames of an animated PNG, each read by libpng, and put over each other here as the standard says."""
    if kind != 'png' or not apng.is_animated(data):
        raise Unable(kind)
    return Seen(*apng.read(data))


def chromium(data, kind):
    """Animations and BMP. Its canvas multiplies colours by alpha, so that only what is opaque or invisible can be compared."""
    if kind not in ('gif', 'bmp') and not (kind in ('png', 'webp') and (b'acTL' in data[:200] or b'ANMF' in data)) or not browser.driver():
        raise Unable(kind)
    seen = browser.decode(data, kind)
    if any(((pixels[..., 3] > 0) & (pixels[..., 3] < 255)).any() for pixels, _ in seen):
        raise Unable('half-opaque')
    return Seen([pixels for pixels, _ in seen], [time for _, time in seen])


def restored(data, kind):
    """The JPEG in a JPEG XL, decoded by Pillow."""
    if kind != 'jxl' or b'jbrd' not in data:
        raise Unable(kind)
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, 'in.jxl'), pathlib.Path(folder, 'out.jpg')
        source.write_bytes(data)
        subprocess.run(['djxl', source, target, '--quiet'], capture_output=True, check=True, timeout=SECONDS)
        return pillow(target.read_bytes(), 'jpeg')


# --- programs -------------------------------------------------------------------------------------
def _by_program(data, kind, command, more=()):
    """The PNG that a program writes."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, f'in.{kind}'), pathlib.Path(folder, 'out.png')
        source.write_bytes(data)
        words = [str(word).format(source=source, target=target) for word in (*command, *more)]
        done = subprocess.run(words, capture_output=True, timeout=SECONDS, check=False)
        if done.returncode or not target.exists():
            raise ValueError(done.stderr.decode('utf-8', 'replace').strip().splitlines()[-1:])
        return Seen([truth.read_png(target)])


COMMANDS = {
    'jxl': ('djxl', '{source}', '{target}', '--quiet'),
    'avif': ('avifdec', '--no-strict', '--ignore-icc', '{source}', '{target}'),
    'webp': ('dwebp', '-quiet', '-nodither', '{source}', '-o', '{target}'),
}


def program(data, kind):
    """djxl, avifdec and dwebp of this Debian. avifdec 0.11 writes grey of limited range as it is stored."""
    if kind not in COMMANDS or (kind == 'webp' and b'ANMF' in data):
        raise Unable(kind)
    seen = _by_program(data, kind, COMMANDS[kind])
    if kind == 'avif' and seen.frames[0].shape[2] < 3:
        return _by_program(data, kind, COMMANDS[kind], ('--depth', '16'))
    return seen


def ffmpeg_program(data, kind):
    """ffmpeg of this Debian, the first frame."""
    if b'ANMF' in data[:200]:
        raise Unable(kind)
    return _by_program(data, kind, ('ffmpeg', '-v', 'error', '-i', '{source}', '-frames:v', '1', '-update', '1', '{target}'))


ALL = {'Chromium': chromium, 'rules': rules, 'restored': restored, 'Pillow': pillow, 'imagecodecs': imagecodecs_of, 'libvips': libvips, 'PyAV': ffmpeg_library, 'tifffile': tifffile_of,
       'program': program, 'ffmpeg': ffmpeg_program}
