# SPDX-License-Identifier: MIT
"""Writes the first inputs of the fuzzers: seeds.py FOLDER makes FOLDER/<target>/*.

Pictures are made here and, where there is a corpus (CORPUS, default ../shared/corpus), taken
from it as far as they are small; texts are those of the documentation's examples.
"""

import hashlib
import io
import itertools
import pathlib
import re
import struct
import sys
import tarfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/http'))
import seed_pictures  # noqa: E402
import test_profiles  # noqa: E402

# The first byte of a query is the place in this list.
ENDPOINTS = (*re.findall(r'^FILTER\(\w+, (\w+),', (ROOT / 'filters/filters.def').read_text(), re.MULTILINE), 'pipeline')
QUERIES = {
    'adjust': ('grayscale=true', 'brightness=1.2&contrast=0.8&saturation=2&gamma=2.2', 'duotone=2b1055,%23ffd26f&negate=1',
               'sepia=0.5&region=1,1,9,9'),
    'blur': ('sigma=8', 'sigma=1.5&kernel_size=7&edge=wrap', 'sigma=0.3&edge=zero&region=10%,10%,50%,50%&invert=1',
             'sigma=20&region=polygon:1,1,40,5,20,30&feather=3', 'sigma=4&mode=redact&fill=%23c0801f60&region=ellipse:3,4,20,10',
             'edge=mirror&colorspace=linear&format=png&effort=9', 'sigma=500&quality=1&subsampling=444&progressive=true'),
    'convolve': ('preset=edge', 'kernel=0,-1,0;-1,5,-1;0,-1,0&edge=frame', 'kernel=[[1,2,1],[2,4,2],[1,2,1]]&divisor=16&bias=3',
                 'kernel=1,2,1&divisor=4&region=0,0,10,10', 'preset=emboss&colorspace=rgb'),
    'crop': ('x=2&y=4&width=9&height=7', 'aspect=16:9&gravity=north', 'width=50%25&height=10&gravity=0.2,0.8',
             'unit=ratio&x=0.2&width=0.5'),
    'dilate': ('radius=1', 'radius=25&edge=wrap', 'radius=3&region=1,1,9,9&format=png'),
    'detect': ('detect=faces,text,codes', 'detect=text&detect_grid=16&detect_threshold=0.5', 'detect=codes&detect_size=full', 'detect=text,plates&detect_threshold=plates:0.3,0.7',
               'detect=faces&detect_effort=high', 'detect=faces,persons&detect_size=400'),
    'erode': ('radius=2', 'radius=7&edge=zero', 'radius=4&colorspace=linear'),
    'median': ('radius=1', 'radius=25&edge=mirror', 'radius=2&region=1,1,9,9&format=png', 'radius=5&colorspace=linear'),
    'pixelate': ('block=16', 'block=7&region=5,5,20,20&region=30%,30%,10%,10%', 'block=3&mode=redact&fill=ring&region=0,0,9,9'),
    'placeholder': ('', 'components_x=9&components_y=9', 'mode=redact&region=5,5,20,20&colorspace=linear'),
    'redact': ('region=1,2,30,20', 'detect=text&keep=0,0,9,9&keep=50%,0.5,10,10%', 'detect=faces&except=1,2,30,20&except=5%,5%,9,9', 'region=0.1,0.1,0.5,0.5&unit=ratio&fill=ring&feather=3'),
    'resize': ('width=40', 'width=30&height=20&fit=cover&gravity=0.2,0.8', 'width=9&height=9&fit=cover&gravity=faces', 'height=9&kernel=area&colorspace=linear',
               'width=50&height=50&fit=contain&background=%23ff000080&enlarge=true', 'scale=0.3&kernel=mitchell',
               'width=9&shrink=fast', 'scale=0.1&shrink=fast&kernel=area&fit=contain&background=blur:2'),
    'rotate': ('', 'angle=180', 'flip=both&angle=270', 'flip=vertical&mode=redact&region=1,1,9,9'),
    'sharpen': ('sigma=1&amount=1', 'sigma=3&amount=5&threshold=2', 'amount=0.5&edge=clamp'),
    'stats': ('', 'region=0,0,5,5&invert=true', 'region=polygon:0%25,0%25,100%25,0%25,50%25,100%25'),
    'pipeline': ('ops=blur:sigma=2|sharpen', 'ops=pixelate:block=4|blur:sigma=1:edge=wrap|convolve:kernel=1,2,1',
                 'ops=resize:width=5:shrink=fast|adjust:negate=1',
                 'ops=blur|blur|blur|blur|blur|blur|blur|blur&region=1,2,3,4'),
}

LISTS = (
    '[]', '{"regions": []}', '[{"box": [1, 2, 30, 20], "score": 0.9, "label": "face"}]',
    '{"unit": "ratio", "margin": 20, "threshold": 0.5, "labels": ["face"], "width": 67, "height": 41, "regions": [{"box": [0.1, 0.2, 0.3, 0.4]}]}',
    '{"faces": [{"x": -1, "y": 2, "width": 30, "height": 9.5, "landmarks": [[1, 2]]}, {"ellipse": [1, 2, 3, 4], "margin": 500}]}',
    '{"text": [{"x": 1, "y": 2, "width": 30, "height": 9, "score": 0.9, "polygon": [[1, 2], [30, 4], [30, 11], [1, 9]]}]}',
    '{"unit": "percent", "margin": 9, "regions": [{"box": [1, 2, 30, 4], "keep": true}, {"x": 1, "y": 2, "width": 3, "height": 4, "keep": false}]}',
    '{"unit": "percent", "regions": [{"polygon": [[1, 2], [50, 2.5], [20, 90]]}, {"corners": [1, 2, 3, 4]}]}',
)


def save(folder, target, data):
    place = folder / target
    place.mkdir(parents=True, exist_ok=True)
    (place / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)


# --- metadata ------------------------------------------------------------------------------------
def tiff(order, count=None, offset=None):
    """EXIF with a text, an orientation, a resolution, all four directories, and a thumbnail's; a text of a length, and at a place,
    that it may not have."""
    text, at = b'a camera\0\0', 0x80

    def entry(tag, kind, number, value):
        return struct.pack(order + 'HHI', tag, kind, number) + struct.pack(order + ('HH' if kind == 3 else 'I'), *([value, 0] if kind == 3 else [value]))

    def directory(*entries, following=0):
        return struct.pack(order + 'H', len(entries)) + b''.join(entries) + struct.pack(order + 'I', following)

    main = directory(entry(0x10F, 2, len(text) if count is None else count, at if offset is None else offset), entry(0x112, 3, 1, 6),
                     entry(0x11A, 5, 1, at + 16), entry(0x11B, 5, 1, at + 16), entry(0x8769, 4, 1, at + 32), entry(0x8825, 4, 1, at + 62),
                     following=at + 80)
    values = text.ljust(16, b'\0') + struct.pack(order + 'II', 300, 1).ljust(16, b'\0')
    values += directory(entry(0x9286, 7, 10, at), entry(0xA005, 4, 1, at + 32)) + directory(entry(8, 2, 9, at))
    head = (b'II*\0' if order == '<' else b'MM\0*') + struct.pack(order + 'I', 8)
    return (head + main).ljust(at, b'\0') + values + directory(entry(0x201, 4, 1, at))


def exifs():
    for order in '<>':
        yield tiff(order)
        for lie in (0, 1, 5, 0x7FFFFFFF, 0xFFFFFFFF):
            yield tiff(order, count=lie)
            yield tiff(order, offset=lie)


def iptcs():
    data = b'\x1c\x01\x5a\0\3\x1b%G\x1c\2\x50\0\6WRITER\x1c\2\xca\0\7PREVIEW'
    for size in (len(data), 0, len(data) + 1, 0xFFFFFFFF):
        yield b'8BIM\4\4\0\0' + struct.pack('>I', size) + data + b'\0' * (len(data) % 2)
    yield b'8BIM\4\x0c\0\0\0\0\0\2ab8BIM\4\4\xff\0'


def texts():
    packed = zlib.compress(b'words ' * 20)
    yield from (b'Title\0words', b'Title\0\0' + packed, b'Title\0\0\0en\0Titel\0words', b'Title\0\1\0en\0\0' + packed, b'caf\xe9', b'Title\0\0' + packed[:9])


def colours():
    """The contents of cICP, gAMA and cHRM; the first says nothing where the others are to count."""
    primaries = struct.pack('>8I', 31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000)
    yield from (bytes([*code, 0, 1]) + struct.pack('>I', gamma) + primaries
                for code in ((2, 2), (12, 13), (9, 16), (9, 18), (10, 13)) for gamma in (55556, 45455))


def tagged_jpegs(plain):
    """Each kind of metadata alone, and with a length that is not its own."""
    icc = b'ICC_PROFILE\0'
    payloads = [(0xE1, b'Exif\0\0' + data) for data in exifs()] + [(0xED, b'Photoshop 3.0\0' + data) for data in iptcs()]
    payloads += [(0xE1, b'http://ns.adobe.com/xap/1.0/\0' + data) for data in seed_pictures.xmps()] + [(0xFE, b'a comment')]
    payloads += [(0xE2, icc + b'\1\1' + seed_pictures.profile(stated)) for stated in (None, 60000, 0, 127, 0xFFFFFFFF)]
    payloads += [(0xE2, icc + b'\1\2' + seed_pictures.profile(size=300)), (0xE2, icc + b'\2\2' + seed_pictures.profile()[300:]), (0xE0, b'JFIF\0\1\2\1\1\x2c\1\x2c\0\0')]
    for marker, payload in payloads:
        for lie in (0, -3, 40000):
            length = min(max(len(payload) + 2 + lie, 0), 65535)
            yield plain[:2] + struct.pack('>BBH', 255, marker, length) + payload + plain[2:]
    both = b''.join(struct.pack('>BBH', 255, 0xE2, len(p) + 2) + p for m, p in payloads[-3:-1])
    yield plain[:2] + both + plain[2:]


def tagged_pngs(plain):
    payloads = [('eXIf', data) for data in exifs()] + [('iTXt', b'XML:com.adobe.xmp\0\0\0\0\0' + data) for data in seed_pictures.xmps()]
    payloads += [('iTXt', b'XML:com.adobe.xmp\0\1\0\0\0' + zlib.compress(data)) for data in seed_pictures.xmps()]
    payloads += [(tag, data) for tag in ('tEXt', 'zTXt', 'iTXt') for data in texts()]
    payloads += [('iCCP', b'ICC\0\0' + zlib.compress(seed_pictures.profile(stated))) for stated in (None, 60000, 0, 127, 0xFFFFFFFF)]
    payloads += [('pHYs', struct.pack('>IIB', 2835, 2835, 1)), ('tIME', b'\7\xe8\1\1\1\1\1'), ('gAMA', b'\0\0\xb1\x8f'), ('gAMA', b'\0')]
    for tag, payload in payloads:
        named = tag.encode() + payload
        for lie in (0, -3, 1 << 20, 0x7FFFFFFF):
            length = min(max(len(payload) + lie, 0), 0xFFFFFFFF)
            yield plain[:33] + struct.pack('>I', length) + named + struct.pack('>I', zlib.crc32(named)) + plain[33:]


# --- tars ----------------------------------------------------------------------------------------
def tars():
    """One of each form, of all kinds of members, with names and numbers that fit and that do not."""
    kinds = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CONTTYPE)
    for form, name in itertools.product((tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT), ('a.jpg', 'd/' * 40 + 'n' * 90, '\u00fc' * 110)):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode='w', format=form, pax_headers={'gname': 'all', 'comment': 'x'}) as tar:
            for kind in kinds[len(name) % 3::3]:
                member = tarfile.TarInfo(name)
                member.type, member.linkname, member.uname, member.size = kind, name[:99], 'ada', 3 if kind in tarfile.REGULAR_TYPES else 0
                member.mtime, member.uid = (-1.5, 1 << 31) if form == tarfile.PAX_FORMAT else (1, 1 << 31 if form == tarfile.GNU_FORMAT else 9)
                try:
                    tar.addfile(member, io.BytesIO(b'abc'))
                except ValueError:
                    pass  # ustar has no place for such names
        whole = out.getvalue().rstrip(b'\0')
        yield whole + bytes(-len(whole) % 512 + 1024)
    sparse = tarfile.TarInfo('holes')
    sparse.pax_headers = {'GNU.sparse.major': '1', 'GNU.sparse.name': 'real'}
    yield sparse.tobuf(tarfile.PAX_FORMAT)


def answers(png):
    """Of a picture, of parts with a report, and refusals. The first two bytes tell how much comes with the head; bit 8 corrects the length."""
    parts = b'--x\r\nContent-Type: application/json\r\n\r\n{"a":\n[1,"b"]}\r\n--x\r\nContent-Type: image/png\r\n\r\n' + png + b'\r\n--x--\r\n'
    for kind, body in (('image/png', png), ('multipart/mixed; boundary=x', parts), ('application/problem+json', b'{"type":"urn:blurd:problem:busy","detail":"later"}')):
        for status in ('200 OK', '503 Service Unavailable'):
            head = (f'HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nX-Regions: 3\r\nX-Backend: cpu/avx2\r\nRetry-After: 2\r\nConnection: close\r\n'
                    f'Content-Length: {len(body)}\r\n\r\n').encode()
            for have in (len(head), len(head) + 70, 0x1ff):
                yield struct.pack('>H', have) + head + body
    yield b'\1\xffHTTP/1.1 502 X\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'


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
    jpegs, pngs = list(seed_pictures.made_jpegs()) + list(seed_pictures.lossless_jpegs()), list(seed_pictures.made_pngs())
    jpegs += tagged_jpegs(min(jpegs, key=len))
    pngs += tagged_pngs(min(pngs, key=len))
    for data in [*exifs(), *seed_pictures.xmps(), *iptcs(), *texts(), *colours(), seed_pictures.profile(), *test_profiles.PROFILES.values(), test_profiles.GREY]:
        save(folder, 'metadata', data)
    for data in seed_pictures.large_jpegs():
        save(folder, 'jpeg_sequential', data)
    for data in jpegs + seed_pictures.corpus(b'\xff\xd8\xff'):
        save(folder, 'decode_jpeg', data)
        save(folder, 'jpeg_sequential', data)
        save(folder, 'jpeg_coefficients', data)
        save(folder, 'jxl_repack', data)
        save(folder, 'jpeg_metadata', data)
        save(folder, 'jpeg_scan', data)
        save(folder, 'progressive_scan', data)
        save(folder, 'jpeg_patch', data + bytes((9, 9, 60, 60, 1)))
        save(folder, 'jpeg_patch', data + bytes(6))
    for number, data in enumerate(seed_pictures.made_animations()):
        save(folder, 'frames', data + bytes((number * 37 & 255,)))
    for data in seed_pictures.made_gain_maps():
        save(folder, 'gainmap', data)
    for data in pngs + seed_pictures.corpus(b'\x89PNG\r\n\x1a\n'):
        save(folder, 'decode_png', data)
    for number, data in enumerate([*seed_pictures.made_webps(), *seed_pictures.corpus(b'RIFF')]):
        save(folder, 'decode_webp', data + bytes((number * 37 & 255,)))
    for data in seed_pictures.made_avifs():
        save(folder, 'decode_avif', data)
        save(folder, 'bmff', data)
    for number, data in enumerate(seed_pictures.made_jxls()):
        save(folder, 'decode_jxl', data + bytes((number * 37 & 255,)))
        save(folder, 'jxl_repack', data)
    for data in seed_pictures.made_heics():
        save(folder, 'decode_heic', data)
        save(folder, 'bmff', data)
    for data in seed_pictures.made_bmps():
        save(folder, 'decode_bmp', data)
    for data in seed_pictures.made_tiffs():
        save(folder, 'decode_tiff', data)
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
    for data in answers(min(pngs, key=len)):
        save(folder, 'answer', data)
    for number, data in enumerate(tars()):
        for choice in (0, 1 + number * 8, 2):
            save(folder, 'tar', bytes((choice,)) + data)
        save(folder, 'tar', b'\4' + data[:-512])
    for number, data in enumerate(itertools.islice(jpegs, 40)):
        save(folder, 'mjpeg', bytes((number * 7 & 255,)) + data + b'junk' * (number % 3) + data[:-2] + data)
    for number, text in enumerate(LISTS):
        save(folder, 'region_list', bytes((number * 11 & 255,)) + text.encode())
    digest = '{"sha256":"' + 'a' * 64 + '","format":"png","planes":true}'
    save(folder, 'report', f'\1{{"report":1,"input":{digest},"answer":{digest},"parameters":[{{"name":"fill","value":"ring"}}],"redacted":{{"regions":[]}}}}'.encode())
    save(folder, 'report', b'\0{"payloadType":"application/vnd.blurd.redaction+json","payload":"e30=","signatures":[{"keyid":"k","sig":"AA=="}]}')
    for number, data in enumerate(pngs):
        save(folder, 'mask_part', bytes((number * 11 & 255,)) + data)
    save(folder, 'module_cache', b'\1')
    for detector in (0, 1, 4):
        save(folder, 'model', bytes((1 | detector << 1,)))
    for array, value in enumerate((b'\0\0\0\x80', struct.pack('<f', 1e30), struct.pack('<i', -2**31), struct.pack('<f', -1))):
        for detector in (0, 1, 4):
            save(folder, 'model', struct.pack('>BBBH', 1 | detector << 1, 8, array, 0) + value)
    for sums in ([100] * 15, [2000, *range(14)]):
        save(folder, 'faces', bytes((3, 3, 0, 99, 0, 99)) + bytes([10] * 15) + struct.pack('>HH15h', 9, 9, *sums) * 3)
    for number in range(9):
        save(folder, 'persons', struct.pack('>BBHHB', 19, 14, 639, 479, 0) + bytes((9, 8, 200, number, 128, 120, 140, 150)) * 2)
    save(folder, 'persons', struct.pack('>BBHHB', 19, 14, 639, 479, 255) + bytes((9, 8)) + struct.pack('>BH', 16, 90) * 6)
    for choice in range(8):  # components of a map, and given ones: one of the picture, two that are not
        save(folder, 'text', struct.pack('>BBHHB', 99, 49, 99, 49, choice | 2) + b'\x6a\x80' + (b'\0' * 9 + b'\xc8' * 30 + b'\0') * 9)
        save(folder, 'text', struct.pack('>BBHHB', 99, 49, 99, 49, choice & 5) + struct.pack('>HH4h', 20, 20, 200, 60, 30, 90))
        save(folder, 'text', struct.pack('>BBHHB', 99, 49, 99, 49, choice & 5) + struct.pack('>HH4h', 20, 20, 200, 900, 30, -5) * 2)
    save(folder, 'module_cache', b'\1' + struct.pack('>HB', 20, 1))
    save(folder, 'module_cache', b'\0blurmod1 too short')
    for choice in (0, 1, 7, 20, 32, 35, 41, 64, 96, 128):
        save(folder, 'engine', bytes((choice,)))
        save(folder, 'engine', bytes((choice,)) + struct.pack('>HB', 40, 1))
    for choice in range(4):
        save(folder, 'wire', struct.pack('>BHBH', choice, 0, choice + 64, 4) + b'abcd')
        save(folder, 'wire', struct.pack('>BH', choice | 0x14, 40) + bytes(40))
    for operation in range(8):
        save(folder, 'codec_wire', bytes((operation, 0)) + b'stored')
        for place in range(0, 2500, 100):
            save(folder, 'codec_wire', struct.pack('>BBHHQ', operation, 1, place, 8, place))
    save(folder, 'wire', struct.pack('>BHI', 128, 4, 16))
    save(folder, 'wire', struct.pack('>BHBH', 128, 0, 128 + 64, 4) + b'abcd')


main()
