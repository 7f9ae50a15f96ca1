# SPDX-License-Identifier: MIT
"""Small pictures of each format and kind, from which fuzzers start: made here, and taken from a corpus where there is one."""

import ctypes.util
import io
import itertools
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

import numpy
from PIL import Image, features

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/http'))
import animated  # noqa: E402
import bmps  # noqa: E402
import gainmaps  # noqa: E402
import heif  # noqa: E402
import jxls  # noqa: E402
import pictures  # noqa: E402
import tiffs  # noqa: E402

CORPUS = pathlib.Path(os.environ.get('CORPUS') or ROOT.parent / 'shared/corpus')
PICTURE_MAX = 3 << 10  # bytes: an engine's throughput falls with the size
PICTURES_MAX = 250  # of one format


def made_animations():
    """Frames that are kept, cleared and put back, whole and in part; the last byte is the target's choice."""
    first, second = (numpy.asarray(texture(24, 18, 'RGBA'))[:high, :wide] // 64 * 64 | (0, 0, 0, 255) for wide, high in ((24, 18), (9, 7)))
    for kind in animated.KINDS:
        for disposal in (animated.KEEP, animated.CLEAR) + (animated.RESTORE,) * (kind != 'webp'):
            frames = [animated.Frame(first.astype(numpy.uint8), delay=50)]
            frames += [animated.Frame(second.astype(numpy.uint8), 2 * i, 4, 30 * i, disposal) for i in (1, 2)]
            yield animated.write(kind, frames, 24, 18, plays=2)
    yield from made_sequences([numpy.asarray(texture(wide, 18, 'RGBA').resize((24, 18))) for wide in (24, 20, 9)])


def made_sequences(frames):
    """Frames that one decoder goes through, by the programs of the libraries where they are."""
    if ctypes.util.find_library('jxl'):
        for channels in (3, 4):
            yield jxls.animation([numpy.ascontiguousarray(frame[..., :channels]) for frame in frames], (5, 0, 7), plays=2)
    if shutil.which('avifenc'):
        with tempfile.TemporaryDirectory() as folder:
            names = [f'{folder}/{i}.png' for i in range(len(frames))]
            for name, frame in zip(names, frames):
                Image.fromarray(frame).save(name)
            for options in ((), ('--yuv', '420', '--depth', '10')):
                subprocess.run(['avifenc', '-s', '10', *options, *names, f'{folder}/out.avif'], check=True, capture_output=True)
                yield pathlib.Path(folder, 'out.avif').read_bytes()


def texture(width, height, mode):
    channels = {'L': 1, 'LA': 2, 'RGB': 3, 'RGBA': 4, 'CMYK': 4}[mode]
    y, x, c = numpy.mgrid[0:height, 0:width, 0:channels]
    samples = ((x * x + 2 * y * y + 31 * c * (x + y)) // 5 % 256).astype(numpy.uint8)
    return Image.fromarray(samples[:, :, 0] if channels == 1 else samples, mode)


def encoded(picture, form, **options):
    out = io.BytesIO()
    picture.save(out, form, **options)
    return out.getvalue()


def exif(orientation):
    tags = Image.Exif()
    tags[0x0112] = orientation
    tags[0x010F] = 'maker'
    return tags.tobytes()


def profile(stated=None, size=None):
    """A colour profile that is one, or that gives itself another length than it has."""
    whole = pictures.icc()
    return struct.pack('>I', len(whole) if stated is None else stated) + whole[4:size]


def xmps():
    rdf = "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'"
    packet = (f"<?xpacket begin=''?><x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF {rdf}><rdf:Description rdf:about='' "
              "xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:tiff='http://ns.adobe.com/tiff/1.0/' tiff:Orientation='6'>{}"
              "</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end='w'?>")
    for value in ('<dc:title><rdf:Alt><rdf:li xml:lang="en">a &amp; b&#xE9;</rdf:li></rdf:Alt></dc:title>', '<dc:source>base64,AAAA</dc:source>',
                  '<o:Thumbnails xmlns:o="http://ns.adobe.com/xap/1.0/"/>', '<a:b xmlns:a="urn:other"/>', '<!-- --><dc:a/>', '<![CDATA[x]]>'):
        yield packet.format(value).encode()


def made_jpegs():
    for mode in ('L', 'RGB', 'CMYK'):
        for options in ({}, {'progressive': True}, {'subsampling': 0}, {'subsampling': 1}, {'quality': 15, 'optimize': True},
                        {'exif': exif(6)}, {'icc_profile': b'not a profile' * 20}, {'comment': b'a comment'}):
            for size in ((9, 5), (40, 33)):
                yield encoded(texture(*size, mode), 'JPEG', **options)
    for subsampling in range(3):  # progressive files, whose scans the other options do not reach
        for size in ((1, 1), (17, 16), (50, 31)):
            for interval in (0, 1, 3):
                yield encoded(texture(*size, 'RGB'), 'JPEG', progressive=True, quality=90, subsampling=subsampling, restart_marker_blocks=interval)


def lossless_jpegs():
    """Flat ones, each sample a bit of 0, of 1 and 3 components, with and without restart markers."""
    for count, rows in ((1, 0), (1, 2), (3, 0)):
        ids = b'RGB'[:count]
        head = b'\xff\xd8\xff\xc3' + struct.pack('>HBHHB', 8 + 3 * count, 8, 8, 8, count) + b''.join(bytes((i, 17, 0)) for i in ids)
        head += b'\xff\xc4\0\x15\0\1\1' + bytes(14) + b'\0\1' + (b'\xff\xdd\0\4\0\x10' if rows else b'')
        head += b'\xff\xda' + struct.pack('>HB', 6 + 2 * count, count) + b''.join(bytes((i, 0)) for i in ids) + b'\4\0\0'
        parts = [bytes(8 * rows * count // 8)] * 4 if rows else [bytes(8 * count)]
        yield head + b''.join(part + (bytes((255, 0xD0 + n)) if n < len(parts) - 1 else b'\xff\xd9') for n, part in enumerate(parts))


def large_jpegs():
    """As large as decoders need them to divide the work among threads, and no larger than fuzz targets take them."""
    for subsampling, size in enumerate(((256, 256), (256, 400), (512, 256))):
        for options in ({}, {'restart_marker_blocks': 5}, {'progressive': True}):
            smooth = texture(size[0] // 8, size[1] // 8, 'RGB').resize(size)
            yield encoded(smooth, 'JPEG', quality=50, subsampling=subsampling, **options)


def made_pngs():
    for mode in ('L', 'LA', 'RGB', 'RGBA'):
        for size in ((1, 1), (13, 7)):
            yield encoded(texture(*size, mode), 'PNG')
            yield encoded(texture(*size, mode), 'PNG', icc_profile=b'not a profile' * 20, exif=exif(3))
    yield encoded(texture(20, 9, 'RGB').quantize(5), 'PNG', transparency=2)
    yield encoded(texture(20, 9, 'L').convert('1'), 'PNG')
    yield encoded(Image.fromarray(numpy.arange(77, dtype=numpy.uint16).reshape(7, 11) * 800), 'PNG')


def made_avifs():
    """By avifenc, where it is installed."""
    if not shutil.which('avifenc'):
        return
    with tempfile.TemporaryDirectory() as folder:
        source, coded = pathlib.Path(folder, 'in.png'), pathlib.Path(folder, 'out.avif')
        for mode, options in itertools.product(('L', 'RGB', 'RGBA'), (['-d', '8'], ['-d', '10'], ['-y', '422', '-d', '12'], ['-y', '420', '-r', 'l'],
                                                                      ['-p', '--irot', '1', '--imir', '0'], ['--clap', '4,1,4,1,0,1,0,1'],
                                                                      ['--grid', '2x1'], ['--cicp', '9/16/9'])):
            size = (128, 64) if '--grid' in options else (12, 8) if '--clap' in options else (13, 9)
            texture(*size, mode).save(source, exif=exif(6))
            subprocess.run(['avifenc', '-s', '10', '--min', '40', '--max', '50', *options, str(source), str(coded)], check=True,
                           stdout=subprocess.DEVNULL)
            yield coded.read_bytes()
    for kind in ('420', '422', '400'):  # the crop begins inside of a chroma sample
        file = heif.File('avif')
        file.picture(heif.coded('avif', numpy.asarray(texture(32, 24, 'RGB')), '-y', kind), 32, 24, heif.clap((9, 1), (7, 1), (-5, 2), (3, 2)))
        yield file.write()


def made_webps():
    """By Pillow, if it was built with libwebp; the last byte is the target's choice."""
    if not features.check('webp'):
        return
    xmp = next(xmps())
    for mode, options in itertools.product(('L', 'RGB', 'RGBA'), ({}, {'lossless': True}, {'method': 6, 'quality': 10}, {'alpha_quality': 10},
                                                                  {'exif': exif(6), 'icc_profile': profile(), 'xmp': xmp})):
        for size in ((1, 1), (13, 9), (40, 33)):
            yield encoded(texture(*size, mode), 'WEBP', **options)
    yield encoded(texture(40, 33, 'RGB').quantize(9), 'WEBP', lossless=True)
    for lossless in (False, True):
        yield encoded(texture(20, 9, 'RGBA'), 'WEBP', save_all=True, append_images=[texture(9, 20, 'RGB').resize((20, 9))], lossless=lossless)


def corpus(magic):
    files = (path for path in sorted(CORPUS.rglob('*')) if path.is_file() and 0 < path.stat().st_size <= PICTURE_MAX)
    found = [data for data in (path.read_bytes() for path in files) if data.startswith(magic)]
    return sorted(found, key=len)[:PICTURES_MAX]


def made_bmps():
    """Each header with each width of a pixel."""
    values = numpy.random.default_rng(1).integers(0, 1 << 31, (9, 11))
    for form, bits in itertools.product((12, 16, 40, 52, 56, 64, 108, 124), (1, 2, 4, 8, 16, 24, 32)):
        palette = numpy.arange(3 << bits).reshape(-1, 3) % 256 if bits <= 8 else None
        masks = (0,) * {52: 3, 56: 4}.get(form, 0)
        yield bmps.bmp(values % (1 << bits), bits, form, palette=palette, masks=masks, profile=b'profile', kind=0x4D424544, top_down=form > 64)
    for form, more in ((40, ()), (56, (0xFF000000,)), (124, (0xFF000000,))):
        yield bmps.bmp(values, 32, form, bmps.MASKS, masks=(0xFF, 0xFF00, 0xFF0000, *more), kind=0, endpoints=(1 << 29,) * 9, gamma=(1 << 17,) * 3)
    for bits, coding in ((8, bmps.RLE8), (4, bmps.RLE4)):
        data = b'\5\1\0\4\1\1\1\1\0\0\0\2\2\1\3\1\0\0\0\1'
        yield bmps.bmp(values % 4, bits, coding=coding, palette=numpy.arange(12).reshape(4, 3), data=data)


def made_tiffs():
    """Samples in all places, and compressed by tiffcp, where it is installed."""
    for (channels, colours), bits, order, big in itertools.product(((1, 0), (1, 1), (3, 2), (1, 3), (4, 5), (3, 6)), (1, 8, 12, 16), '<>', (False, True)):
        samples = numpy.random.default_rng(bits).integers(0, 1 << bits, (21, 19, channels))
        more = {'t320': (tiffs.SHORT, [65535] * (3 << min(bits, 8)))} if colours == 3 else {'t530': (tiffs.SHORT, [1, 1])} if colours == 6 else {}
        for how in ({}, {'tile': (16, 16)}, {'separate': True, 'rows': 5}, {'compression': tiffs.DEFLATE, 't338': (tiffs.SHORT, 1)}):
            yield tiffs.tiff(samples, bits, colours, order=order, big=big, **how, **more)
    yield tiffs.File().page(numpy.asarray(texture(20, 10, 'L'))).page(numpy.asarray(texture(10, 20, 'RGB')), t254=(tiffs.LONG, 1)).write()
    if shutil.which('tiffcp'):
        plain, ink = tiffs.tiff(numpy.asarray(texture(40, 32, 'RGB'))), tiffs.tiff(numpy.asarray(texture(40, 32, 'L'))[..., None] >> 7, 1)
        for compression in ('lzw', 'lzw:2', 'zip:2', 'packbits', 'zstd', 'lzma', 'jpeg:90', 'jpeg:r:90', 'webp'):
            for how in ((), ('-t', '-w', '16', '-l', '16')):
                yield tiffs.tiffcp(plain, '-c', compression, '-r', '16', *how)
        for compression in ('g3', 'g3:2d', 'g4'):
            yield tiffs.tiffcp(ink, '-c', compression)
    for across, down in ((2, 2), (4, 1)):
        yield tiffs.tiff(numpy.zeros((16, 16, 3)), colours=6, compress=lambda part: bytes(600), t530=(tiffs.SHORT, [across, down]))


def made_gain_maps():
    """Files of a base and a map, and each form of the numbers alone."""
    base, gain = gainmaps.photograph(16, 16)
    for numbers in (gainmaps.USUAL, gainmaps.PER_CHANNEL):
        yield gainmaps.xmp(numbers)
        yield gainmaps.iso(numbers)
        for form in ('xmp', 'iso', 'both'):
            yield gainmaps.ultra_hdr(base, gain, numbers, form)
    yield gainmaps.ultra_hdr(base, gain, indexed=False)
    for order in '><':
        yield gainmaps.apple_exif({33: (3, 2), 48: (2, 1)}, order)
        yield gainmaps.apple(base, gain, {33: (1, 2), 48: (9, 1000)}, order=order)
    for headroom in (None, 3.5):
        yield gainmaps.apple_packet(headroom)
    yield gainmaps.apple(base, gain, headroom=3.5, form='iso')
    yield gainmaps.ultra_hdr(base, gain, announce=False, gap=b'\0' * 5)


def made_jxls():
    """By cjxl, where it is installed; the last byte is the target's choice."""
    if not shutil.which('cjxl'):
        return
    with tempfile.TemporaryDirectory() as folder:
        coded = pathlib.Path(folder, 'out.jxl')
        for kind, mode, options in itertools.product(('PNG', 'JPEG'), ('L', 'RGB', 'RGBA'), (['-d', '0'], ['-d', '2'], ['-d', '1', '-p'], ['-d', '1', '-m', '1'],
                                                                                            ['-d', '1', '--container=1'])):
            if kind == 'JPEG' and (mode == 'RGBA' or options[1] == '0'):
                continue
            source = pathlib.Path(folder, f'in.{kind.lower()}')
            texture(40, 33, mode).save(source, kind, exif=exif(6))
            subprocess.run(['cjxl', '--quiet', *options, *(['-j', '1'] if kind == 'JPEG' and '--container=1' in options else ['-j', '0']), str(source), str(coded)],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            yield coded.read_bytes()


def made_heics():
    """By heif-enc, where it is installed."""
    if not shutil.which('heif-enc'):
        return
    with tempfile.TemporaryDirectory() as folder:
        source, coded = pathlib.Path(folder, 'in.png'), pathlib.Path(folder, 'out.heic')
        for mode, options in itertools.product(('L', 'RGB', 'RGBA'), ([], ['-p', 'chroma=444'], ['-t', '16'], ['-b', '10'])):
            texture(70, 66, mode).save(source, exif=exif(6))
            if '-b' in options:  # more than 8 bits only come from such a source
                source.write_bytes(pictures.png(numpy.asarray(texture(70, 66, mode)).astype(numpy.uint16) * 257, depth=16))
            subprocess.run(['heif-enc', '-q', '20', *options, str(source), '-o', str(coded)], check=True, stdout=subprocess.DEVNULL)
            yield coded.read_bytes()
    file, coded = heif.File('heic'), heif.coded('heic', numpy.asarray(texture(64, 64, 'RGB')))
    first, second = (file.picture(coded, 64, 64) for _ in range(2))
    made = file.add(b'iovl', struct.pack('>2x8xHHhhhh', 64, 64, 0, 0, 9, 9), heif.ispe(64, 64))
    for tag, by, *to in ((b'thmb', second, first, made), (b'cdsc', file.add(b'Exif', exif(3)), first, second), (b'dimg', made, first, second)):
        file.refer(tag, by, *to)
    yield file.write()  # libheif gets one with other references
    for apple in (False, True):
        file = heif.File('heic')
        shown, gain = file.picture(coded, 64, 64), file.picture(coded, 64, 64, *([heif.full(b'auxC', gainmaps.APPLE.encode() + b'\0')] if apple else []))
        if apple:
            file.refer(b'cdsc', file.add(b'mime', gainmaps.apple_packet(3.5)), gain)
            file.refer(b'auxl', gain, shown)
        else:
            file.refer(b'dimg', file.add(b'tmap', b'\0' + gainmaps.iso(gainmaps.USUAL), heif.ispe(64, 64)), shown, gain)
        yield file.write()
