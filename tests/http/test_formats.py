# SPDX-License-Identifier: MIT
"""WebP, AVIF, HEIC and JPEG XL: what goes in, what comes out, and what is refused."""

import io
import re

import numpy
import pytest
import requests
from PIL import Image

import anatomy
import foreign
import gaussian
import pictures
from foreign import READS, WRITES
from problems import check_problem

NEWER = ('webp', 'avif', 'heic', 'jxl')
CHROME = 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8'
FIREFOX = 'image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5'


@pytest.fixture(scope='module')
def formats(shared):
    return shared.get('/version').json()['formats']


@pytest.fixture
def need(formats):
    """need(reads=..., writes=...) skips the test in a build that lacks one of these."""

    def check(reads=(), writes=()):
        missing = (set(reads) - set(formats['reads'])) | (set(writes) - set(formats['writes']))
        if missing:
            pytest.skip(f'this build lacks {", ".join(sorted(missing))}')

    return check


def ask(server, target, body, **more):
    answer = server.post(target, body, **more)
    assert answer.status_code == 200, answer.text
    kind = foreign.kind_of(answer.content)
    assert answer.headers['Content-Type'] == f'image/{kind}'
    return kind, answer.content


# --- what the build has ---------------------------------------------------------------------------
def test_the_lists_agree(server, formats):
    assert formats['reads'][:2] == formats['writes'][:2] == ['jpeg', 'png']
    assert set(formats['reads']) <= set(READS) and set(formats['writes']) <= set(WRITES)
    page = server.get('/openapi.json').json()
    assert page['x-formats'] == formats
    operation = page['paths']['/blur']['post']
    assert [f'image/{f}' for f in formats['reads']] == [t for t in operation['requestBody']['content'] if t.startswith('image/')]
    assert [f'image/{f}' for f in formats['writes']] == list(operation['responses']['200']['content'])


@pytest.mark.parametrize('kind', NEWER)
def test_an_absent_format_is_named(server, formats, kind):
    title = {'webp': 'WebP', 'jxl': 'JPEG XL'}.get(kind, kind.upper())
    if kind not in formats['reads']:
        body = {'webp': b'RIFF\x24\0\0\0WEBPVP8 ', 'jxl': b'\xff\x0a'}.get(kind, b'\0\0\0\x18ftyp' + kind.encode()) + bytes(24)
        check_problem(server.post('/blur', body), 'unsupported-image', says=title)
    if kind in WRITES and kind not in formats['writes']:
        check_problem(server.post(f'/blur?format={kind}', pictures.small_png()), 'bad-parameter', 'format', says='writes JPEG')


def test_heic_is_not_written(server):
    check_problem(server.post('/blur?format=heic', pictures.small_png()), 'bad-parameter', 'format', says='jpeg, png, webp')


# --- pairs ------------------------------------------------------------------------------------------
@pytest.mark.parametrize('target', WRITES)
@pytest.mark.parametrize('source', READS)
@pytest.mark.parametrize('size', ((64, 48), (61, 35)), ids=('even', 'odd'))
def test_pairs(server, need, source, target, size):
    need([source], [target])
    sample = pictures.photograph(*size)
    body = foreign.write(source, sample)
    kind, data = ask(server, f'/blur?sigma=3&quality=97&format={target}', body)
    result = foreign.read(kind, data)
    assert kind == target and result.shape[:2] == sample.shape[:2]
    assert gaussian.psnr(result[..., :3], gaussian.blur(foreign.read(source, body)[..., :3], 3)) >= 30


@pytest.mark.parametrize('kind', ('webp', 'avif'))
def test_stored_planes_and_rgb_are_alike(server, need, kind):
    """A black border is black in the limited range of brightness, too."""
    need([kind], [kind])
    body = foreign.write(kind, pictures.photograph(96, 64))
    for query in ('', '&edge=zero', '&region=20,10,30,30', '&region=20,10,30,30&feather=4'):
        one, other = (foreign.read(kind, ask(server, f'/blur?sigma=4&quality=97&colorspace={space}{query}', body)[1]) for space in ('native', 'rgb'))
        assert gaussian.psnr(one, other) >= 35, query


@pytest.mark.parametrize('kind', ('webp', 'avif', 'jxl'))
def test_alpha(server, need, kind):
    need([kind], [kind])
    sample = numpy.dstack([pictures.photograph(64, 48), numpy.tile(numpy.linspace(0, 255, 64).astype(numpy.uint8), (48, 1))])
    body = foreign.write(kind, sample)
    result = foreign.read(kind, ask(server, '/blur?sigma=2&quality=97', body)[1])
    assert result.shape == sample.shape
    assert numpy.abs(result[..., 3].astype(int) - gaussian.blur(sample[..., 3:], 2)[..., 0]).max() <= 4
    assert ask(server, '/blur?sigma=2&format=jpeg', body)[0] == 'jpeg'


def test_lossless_is_exact(server, need):
    need(['webp'], ['webp'])
    for channels in (3, 4):
        sample = pictures.photograph(61, 47, channels).copy()
        sample[..., 3:] |= 1  # the colour of invisible pixels does not matter
        for body in (pictures.png(sample), foreign.write('webp', sample, '-lossless', '-exact')):
            kind, data = ask(server, '/pixelate?block=1&format=webp&lossless=true', body)
            assert kind == 'webp' and (foreign.read(kind, data) == sample).all()
            assert (anatomy.pixels(ask(server, '/pixelate?block=1&format=png', data)[1]) == sample).all()


def test_deep_pictures_stay_deep_in_avif(server, need):
    need(['avif'], ['avif'])
    ramp = numpy.tile(numpy.linspace(0, 65535, 1024).round().astype(int), (32, 1))[..., None].repeat(3, 2)
    data = ask(server, '/pixelate?block=1&format=avif&quality=100&subsampling=444', pictures.png(ramp, depth=16))[1]
    again = ask(server, '/pixelate?block=1&format=png', data)[1]
    assert again[24] == 16 and numpy.abs(anatomy.read_png(again).astype(int) - ramp).max() <= 3 * 64  # steps of 10 bits
    assert ask(server, '/blur?format=webp', pictures.png(ramp, depth=16))[0] == 'webp'


def test_text_on_a_screen_takes_no_more_memory(server, need):
    """libaom would look for glyphs that repeat, with more memory than the process of the codec may take."""
    need([], ['avif'])
    random = numpy.random.default_rng(3)
    glyphs = numpy.where(random.random((40, 16, 8)) < 0.4, 0, 255).astype(numpy.uint8)
    page = glyphs[random.integers(40, size=(45, 160))].transpose(0, 2, 1, 3).reshape(720, 1280, 1).repeat(3, 2)
    for effort in (2, 3):
        assert ask(server, f'/pixelate?block=1&format=avif&effort={effort}', pictures.png(page))[0] == 'avif'


@pytest.mark.parametrize('target', ('webp', 'avif', 'jxl'))
def test_quality_and_effort(server, need, target):
    need([], [target])
    body = pictures.jpeg(pictures.photograph(320, 240), 95)
    sizes = [len(ask(server, f'/blur?sigma=1&format={target}&quality={q}', body)[1]) for q in (10, 50, 85, 98)]
    assert sizes == sorted(sizes) and sizes[0] * 3 < sizes[-1]
    usual = {'webp': 85, 'avif': 60, 'jxl': 85}[target]
    assert ask(server, f'/blur?sigma=1&format={target}', body) == ask(server, f'/blur?sigma=1&format={target}&quality={usual}', body)
    usual = {'webp': 3, 'avif': 3, 'jxl': 1}[target]
    assert ask(server, f'/blur?sigma=1&format={target}', body) == ask(server, f'/blur?sigma=1&format={target}&effort={usual}', body)
    small = pictures.jpeg(pictures.photograph(80, 60), 95)  # the highest effort takes seconds for the other
    for effort in (0, 4, 9):
        assert ask(server, f'/blur?sigma=1&format={target}&effort={effort}', small)[0] == target


# --- negotiation -----------------------------------------------------------------------------------
@pytest.mark.parametrize('accept,of_jpeg,of_png,of_webp,of_avif,of_heic,of_jxl', (
    (None, 'jpeg', 'png', 'webp', 'avif', 'jpeg', 'jxl'), ('*/*', 'jpeg', 'png', 'webp', 'avif', 'jpeg', 'jxl'),
    ('image/*', 'jpeg', 'png', 'webp', 'avif', 'jpeg', 'jxl'), ('text/html', 'jpeg', 'png', 'webp', 'avif', 'jpeg', 'jxl'),
    ('image/webp', *['webp'] * 6), ('image/avif', *['avif'] * 6), ('image/jpeg', *['jpeg'] * 6), ('IMAGE/PNG', *['png'] * 6),
    (CHROME, 'jpeg', 'png', 'webp', 'avif', 'jpeg', 'jxl'), (FIREFOX, 'webp', 'png', 'webp', 'avif', 'webp', 'webp'),
    ('image/avif, image/webp', 'webp', 'webp', 'webp', 'avif', 'webp', 'webp'), ('image/avif, image/webp;q=0.9', *['avif'] * 6),
    ('image/webp;q=0, image/*', 'jpeg', 'png', 'jpeg', 'avif', 'jpeg', 'jxl'), ('image/jpeg, image/png', 'jpeg', 'png', 'jpeg', 'jpeg', 'jpeg', 'jpeg'),
    ('image/jxl', *['jxl'] * 6), ('image/jxl, image/avif', 'jxl', 'jxl', 'jxl', 'avif', 'jxl', 'jxl')))
def test_accept(server, need, accept, of_jpeg, of_png, of_webp, of_avif, of_heic, of_jxl):
    need(NEWER, WRITES)
    sample = pictures.photograph(40, 30)
    for source, wanted in zip(('jpeg', 'png', 'webp', 'avif', 'heic', 'jxl'), (of_jpeg, of_png, of_webp, of_avif, of_heic, of_jxl)):
        answer = server.post('/blur', foreign.write(source, sample), headers={'Accept': accept})
        assert answer.headers['Content-Type'] == f'image/{wanted}', source
        assert foreign.kind_of(answer.content) == wanted and answer.headers['Vary'] == 'Accept'


def test_a_form(server, need):
    need(['webp'], ['webp'])
    body = foreign.write('webp', pictures.photograph(40, 30))
    for data in ({'format': 'webp'}, {}):
        made = requests.Request('POST', 'http://localhost/', files={'image': ('a', body)}, data=data).prepare()
        answer = server.post('/blur?sigma=2', made.body, headers={'Content-Type': made.headers['Content-Type']})
        assert answer.headers['Content-Type'] == 'image/webp' and answer.content == server.post('/blur?sigma=2', body).content


def test_labels(server, need):
    need(['webp'], ['webp', 'avif'])

    def count(kind):
        found = re.findall(rf'^blurd_requests_total\{{operation="blur",format="{kind}",status="200".*\}} (\d+)$', server.get('/metrics').text, re.M)
        return sum(map(int, found))

    for kind in ('webp', 'avif'):
        before = count(kind)
        ask(server, f'/blur?format={kind}', pictures.small_png())
        assert count(kind) == before + 1


# --- pages -------------------------------------------------------------------------------------------
def animation(frames):
    out = io.BytesIO()
    pictures_of = [Image.fromarray(frame) for frame in frames]
    pictures_of[0].save(out, 'WEBP', save_all=True, append_images=pictures_of[1:], lossless=True, duration=100)
    return out.getvalue()


def test_the_first_page_of_an_animation(server, need):
    need(['webp'])
    frames = [pictures.photograph(40, 30, seed=seed) for seed in (1, 2)]
    body = animation(frames)
    check_problem(server.post('/stats', body), 'unsupported-image', says='page=0')
    assert (anatomy.pixels(ask(server, '/pixelate?block=1&format=png&page=0', body)[1])[..., :3] == frames[0]).all()
    check_problem(server.post('/blur?page=2', body), 'bad-parameter', 'page', says='2 frames')
    assert server.post('/stats?page=0', body).json()['width'] == 40


def test_page_0_of_other_pictures(server):
    for body in (pictures.small_jpeg(), pictures.small_png()):
        assert server.post('/blur?page=0', body).content == server.post('/blur', body).content


# --- orientation -------------------------------------------------------------------------------------
def turned_webp(upright, orientation):
    out = io.BytesIO()
    Image.fromarray(pictures.stored_as(upright, orientation)).save(out, 'WEBP', quality=97, exif=b'Exif\0\0' + pictures.exif(orientation, extras=False))
    return out.getvalue()


@pytest.mark.parametrize('orientation', range(1, 9))
def test_a_webp_is_turned_once(server, need, orientation):
    need(['webp'])
    upright = pictures.photograph(45, 31)
    result = anatomy.pixels(ask(server, '/blur?sigma=3&format=png', turned_webp(upright, orientation))[1])
    assert result.shape[:2] == upright.shape[:2] and gaussian.psnr(result[..., :3], gaussian.blur(upright, 3)) >= 30


@pytest.mark.parametrize('orientation', range(1, 9))
@pytest.mark.parametrize('target', ('webp', 'avif', 'jxl'))
def test_answers_are_upright(server, need, target, orientation):
    need([], [target])
    upright = pictures.photograph(45, 31)
    body = pictures.with_segments(pictures.jpeg(pictures.stored_as(upright, orientation), 97), pictures.exif_segment(orientation))
    data = ask(server, f'/blur?sigma=3&format={target}&quality=97&metadata=keep', body)[1]
    assert gaussian.psnr(foreign.read(target, data)[..., :3], gaussian.blur(upright, 3)) >= 30
    again = anatomy.pixels(ask(server, '/pixelate?block=1&format=png', data)[1]) if target != 'avif' else foreign.read(target, data)
    assert again.shape[:2] == upright.shape[:2], 'it would be turned twice'


@pytest.mark.parametrize('turns', (1, 2, 3))
@pytest.mark.parametrize('mirror', ((), ('--imir', '0'), ('--imir', '1')), ids=('plain', 'mirror0', 'mirror1'))
def test_an_avif_is_turned_once(server, need, turns, mirror):
    """The properties of the container count, and not the EXIF beside them; avifdec turns nothing in version 0.11."""
    need(['avif'])
    sample = pictures.photograph(46, 32)
    plain = foreign.read('avif', foreign.write('avif', sample, '-y', '444'))
    body = foreign.write('avif', sample, '-y', '444', '--irot', str(turns), *mirror)
    wanted = numpy.rot90(plain, turns)  # anticlockwise, then mirrored
    if mirror:
        wanted = wanted[::-1] if mirror[1] == '0' else wanted[:, ::-1]
    result = anatomy.pixels(ask(server, '/pixelate?block=1&format=png', body)[1])
    assert result.shape == wanted.shape and numpy.abs(result.astype(int) - wanted).max() <= 2


# --- refusals ------------------------------------------------------------------------------------------
SHORT = {
    'webp': r'(picture|WebP) is cut short: it ends with byte \d+',
    'avif': r'AVIF data is damaged or cut short: .+',
    'jxl': r'picture is cut short: it ends with byte \d+|JPEG XL (is|data is damaged or) cut short',
    'heic': r'HEIC (is|data are) damaged( or cut short)?: .+|picture is 0 x 0 pixels; neither side may be 0',
}


@pytest.mark.parametrize('kind', SHORT)
def test_truncated(server, need, kind):
    need([kind])
    whole = foreign.write(kind, pictures.photograph(96, 80))
    for size in sorted({*range(1, len(whole) - 9, max(1, len(whole) // 20))}):
        answer = server.post('/blur', whole[:size])
        if size == 1 and kind in ('avif', 'heic'):  # whose first bytes are a length
            check_problem(answer, 'unsupported-image', says='this is none of them')
        else:
            says = check_problem(answer, 'corrupt-image')['detail']
            assert re.fullmatch(SHORT[kind], says), f'{size} of {len(whole)}: {says}'
            assert kind != 'webp' or says.endswith(f'it ends with byte {size}')
    assert server.post('/blur', whole).status_code == 200


@pytest.mark.parametrize('kind', foreign.WRITERS)
def test_limits(start, need, kind):
    need([kind])
    body = foreign.write(kind, pictures.photograph(96, 80))
    own = start('--max-pixels', 7000)
    check_problem(own.post('/blur', body), 'limit-exceeded', says='7680')
    own = start('--max-side', 90)
    check_problem(own.post('/blur', body), 'limit-exceeded', says='90')


def test_a_picture_too_long_for_the_format_is_not_decoded(server, need):
    need(writes=['webp'])
    body = pictures.png(pictures.photograph(17000, 1))
    damaged = body[:-40] + bytes(40)
    check_problem(server.post('/blur?format=png', damaged), 'corrupt-image')
    check_problem(server.post('/blur?format=webp', damaged), 'limit-exceeded', says='17000 x 1 pixels; a WebP has at most 16383 a side')
    assert ask(server, '/resize?width=16383&format=webp', body)[0] == 'webp'
    answer = server.post('/pipeline?ops=crop:width=16|resize:height=16384:width=1:fit=fill:enlarge=true&format=webp', damaged)
    check_problem(answer, 'limit-exceeded', says='1 x 16384 pixels')


# --- redaction ------------------------------------------------------------------------------------------
def test_redaction_of_a_lossless_webp(server, need):
    """Two files that differ only inside, with the same mean, give the same bytes."""
    need(['webp'], ['webp'])
    answers = set()
    for seed in (1, 2):
        sample = pictures.photograph(120, 90).copy()
        sample[30:60, 40:80] = numpy.random.default_rng(seed).permutation(numpy.repeat((100, 140), 600)).reshape(30, 40, 1)
        body = foreign.write('webp', sample, '-lossless', '-exact')
        answers.add(ask(server, '/pixelate?block=8&mode=redact&region=40,30,40,30', body)[1])
    assert len(answers) == 1


@pytest.mark.parametrize('kind', NEWER)
def test_redaction_takes_the_blocks_around(server, need, kind):
    """The touched blocks of 16x16 pixels and 16 pixels around them become one colour; nothing else changes."""
    need([kind])
    body = foreign.write(kind, pictures.photograph(160, 128))
    plain, hidden = (anatomy.pixels(ask(server, f'/pixelate?block=1&format=png{query}', body)[1])
                     for query in ('', '&mode=redact&region=70,50,20,10'))
    inside = numpy.zeros(plain.shape[:2], bool)
    inside[48 - 16:64 + 16, 64 - 16:96 + 16] = True
    assert (plain[~inside] == hidden[~inside]).all() and (plain[inside] != hidden[inside]).any(axis=1).mean() > 0.9
    again = ask(server, '/pixelate?block=64&mode=redact&region=70,50,20,10', body)[1]
    assert foreign.kind_of(again) == ('jpeg' if kind == 'heic' else kind)
