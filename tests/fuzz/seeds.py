# SPDX-License-Identifier: MIT
"""Writes what the fuzzers start from: seeds.py FOLDER makes FOLDER/<target>/*.

Pictures are made here and, where there is a corpus (CORPUS, default ../shared/corpus), taken
from it as far as they are small; texts are those of the documentation's examples.
"""

import hashlib
import io
import os
import pathlib
import struct
import sys

import numpy
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = pathlib.Path(os.environ.get('CORPUS') or ROOT.parent / 'shared/corpus')
PICTURE_MAX = 3 << 10  # bytes: an engine's throughput falls with the size
PICTURES_MAX = 250  # of one format

ENDPOINTS = ('blur', 'convolve', 'pixelate', 'sharpen', 'stats', 'pipeline')
QUERIES = {
    'blur': ('sigma=8', 'sigma=1.5&kernel_size=7&edge=wrap', 'sigma=0.3&edge=zero&region=10%,10%,50%,50%&invert=1',
             'sigma=20&region=polygon:1,1,40,5,20,30&feather=3', 'sigma=4&mode=redact&region=ellipse:3,4,20,10',
             'edge=mirror&colorspace=linear&format=png&effort=9', 'sigma=500&quality=1&subsampling=444&progressive=true'),
    'convolve': ('preset=edge', 'kernel=0,-1,0;-1,5,-1;0,-1,0&edge=frame', 'kernel=[[1,2,1],[2,4,2],[1,2,1]]&divisor=16&bias=3',
                 'kernel=1,2,1&divisor=4&region=0,0,10,10', 'preset=emboss&colorspace=rgb'),
    'pixelate': ('block=16', 'block=7&region=5,5,20,20&region=30%,30%,10%,10%', 'block=3&mode=redact&region=0,0,9,9'),
    'sharpen': ('sigma=1&amount=1', 'sigma=3&amount=5&threshold=2', 'amount=0.5&edge=clamp'),
    'stats': ('', 'region=0,0,5,5&invert=true', 'region=polygon:0%25,0%25,100%25,0%25,50%25,100%25'),
    'pipeline': ('ops=blur:sigma=2|sharpen', 'ops=pixelate:block=4|blur:sigma=1:edge=wrap|convolve:kernel=1,2,1',
                 'ops=blur|blur|blur|blur|blur|blur|blur|blur&region=1,2,3,4'),
}


def save(folder, target, data):
    place = folder / target
    place.mkdir(parents=True, exist_ok=True)
    (place / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)


# --- pictures ----------------------------------------------------------------------------------
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


def made_jpegs():
    for mode in ('L', 'RGB', 'CMYK'):
        for options in ({}, {'progressive': True}, {'subsampling': 0}, {'subsampling': 1}, {'quality': 15, 'optimize': True},
                        {'exif': exif(6)}, {'icc_profile': b'not a profile' * 20}, {'comment': b'a comment'}):
            for size in ((9, 5), (40, 33)):
                yield encoded(texture(*size, mode), 'JPEG', **options)


def made_pngs():
    for mode in ('L', 'LA', 'RGB', 'RGBA'):
        for size in ((1, 1), (13, 7)):
            yield encoded(texture(*size, mode), 'PNG')
            yield encoded(texture(*size, mode), 'PNG', icc_profile=b'not a profile' * 20, exif=exif(3))
    yield encoded(texture(20, 9, 'RGB').quantize(5), 'PNG', transparency=2)
    yield encoded(texture(20, 9, 'L').convert('1'), 'PNG')
    yield encoded(Image.fromarray(numpy.arange(77, dtype=numpy.uint16).reshape(7, 11) * 800), 'PNG')


def corpus(magic):
    files = (path for path in sorted(CORPUS.rglob('*')) if path.is_file() and 0 < path.stat().st_size <= PICTURE_MAX)
    found = [data for data in (path.read_bytes() for path in files) if data.startswith(magic)]
    return sorted(found, key=len)[:PICTURES_MAX]


# --- the targets ---------------------------------------------------------------------------------
def multipart(picture, fields=()):
    parts = [f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode() for name, value in fields]
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\nContent-Type: image/jpeg\r\n\r\n'
    return b''.join(parts) + head + picture + b'\r\n--x--\r\n'


def requests(jpeg, png):
    for path in ('/', '/livez', '/readyz', '/version', '/metrics', '/nothing', '/livez?x=1'):
        yield f'GET {path} HTTP/1.1\r\nHost: a\r\n\r\n'.encode()
    for endpoint in ENDPOINTS:
        for query in QUERIES[endpoint][:3]:
            for body in (jpeg, png):
                head = f'POST /{endpoint}?{query} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n'
                yield head.encode() + body
    body = multipart(jpeg, [('sigma', '3'), ('format', 'png')])
    yield (f'POST /blur HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: {len(body)}\r\n'
           f'Expect: 100-continue\r\n\r\n').encode() + b'\xff\xfe' + body
    yield (b'POST /blur HTTP/1.1\r\nHost: a\r\nAccept: image/png;q=0.5, */*\r\nX-Request-Id: 7\r\nTransfer-Encoding: chunked\r\n\r\n'
           + b'%x\r\n%s\r\n0\r\n\r\n' % (len(png), png))
    yield b'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n' * 3
    yield b'POST /blur HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'


def config_texts():
    yield (ROOT / 'config/blurd.conf').read_bytes()
    yield b'port = 0\nmax_body = 20MiB\nlog_level = debug # more\n'
    yield b'\0--port=80\0--header-timeout\0' + b'5s\0BLURD_WORKERS=2'
    yield b'workers = 2\n\0--max-pixels=50M\0BLURD_LISTEN=::1\0--check-config'
    yield b'\0--help\0'


def main():
    folder = pathlib.Path(sys.argv[1])
    jpegs, pngs = list(made_jpegs()), list(made_pngs())
    for data in jpegs + corpus(b'\xff\xd8\xff'):
        save(folder, 'decode_jpeg', data)
        save(folder, 'jpeg_metadata', data)
        save(folder, 'jpeg_scan', data)
        save(folder, 'jpeg_patch', data + bytes((9, 9, 60, 60, 1)))
        save(folder, 'jpeg_patch', data + bytes(6))
    for data in pngs + corpus(b'\x89PNG\r\n\x1a\n'):
        save(folder, 'decode_png', data)
    for picture in (jpegs[0], b'', b'a'):
        save(folder, 'multipart', b'multipart/form-data; boundary=x\n' + multipart(picture, [('sigma', '3'), ('edge', 'wrap')]))
        save(folder, 'multipart', b'multipart/form-data; boundary="x"\npreamble\r\n' + multipart(picture))
    for number, endpoint in enumerate(ENDPOINTS):
        for query in QUERIES[endpoint]:
            save(folder, 'query', bytes((number,)) + query.encode())
            for kind in (0, 2, 3, 4, 28, 129, 131):
                save(folder, 'filters', bytes((kind, 32, 20, 7, number)) + query.encode())
    for text in config_texts():
        save(folder, 'config', text)
    for data in requests(min(jpegs, key=len), min(pngs, key=len)):
        save(folder, 'request', data)
    save(folder, 'module_cache', b'\1')
    save(folder, 'module_cache', b'\1' + struct.pack('>HB', 20, 1))
    save(folder, 'module_cache', b'\0blurmod1 too short')
    for choice in (0, 1, 7, 20, 32, 35, 41, 64, 96, 128):
        save(folder, 'engine', bytes((choice,)))
        save(folder, 'engine', bytes((choice,)) + struct.pack('>HB', 40, 1))
    for choice in range(4):
        save(folder, 'wire', struct.pack('>BHBH', choice, 0, choice + 64, 4) + b'abcd')
        save(folder, 'wire', struct.pack('>BH', choice | 0x14, 40) + bytes(40))
    save(folder, 'wire', struct.pack('>BHI', 128, 4, 16))
    save(folder, 'wire', struct.pack('>BHBH', 128, 0, 128 + 64, 4) + b'abcd')


main()
