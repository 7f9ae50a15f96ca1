# SPDX-License-Identifier: MIT
"""mode=redact: two pictures that differ only inside of the regions, and have the same coarse mean
there, give the same bytes. So the answer cannot contain more of the content."""

import numpy
import pytest
from PIL import Image, ImageDraw

import anatomy
import areas
import filtering
import pictures
from filtering import ask, ask_png
from metadata_kinds import profile_in, with_private_parts, with_profile
from problems import check_problem

WIDTH, HEIGHT = 155, 107
BOX = (48, 32, 64, 48)  # left, top, width, height: whole MCUs
INSIDE = '50,34,60,44'  # the requested region: slightly smaller
LOOKS = ('/blur?sigma=3', '/blur?sigma=40', '/pixelate?block=8', '/pixelate?block=5')
MIDDLE = 104  # the middle of a level, farthest from the next one


ALONE = ('/redact?fill=mean', '/redact?fill=tiles')  # the endpoint that does nothing else


@pytest.fixture(params=(*LOOKS, *ALONE))
def look(request):
    return request.param + ('' if request.param in ALONE else '&mode=redact')


def secret(seed, width, height, channels):
    """Text and colourful noise, on average MIDDLE in every channel."""
    sheet = Image.new('L', (width, height), 0)
    random = numpy.random.default_rng(seed)
    for y in range(0, height, 11):
        ImageDraw.Draw(sheet).text((2, y), ' '.join(str(n) for n in random.integers(0, 9999, 8)), fill=90)
    picture = numpy.asarray(sheet)[:, :, None] + random.uniform(-20, 20, (height, width, channels))
    picture += MIDDLE - picture.mean((0, 1))
    return picture.round().astype(int)


def with_secret(seed, channels=3, box=BOX, size=(WIDTH, HEIGHT)):
    picture = pictures.photograph(*size, channels).astype(int)
    left, top, wide, high = box
    piece = secret(seed, wide, high, channels)
    if channels in (2, 4):
        piece[..., -1] = numpy.clip(piece[..., -1] + 100, 0, 255)
    inside = picture[top:top + high, left:left + wide]
    inside[...] = piece[:inside.shape[0], :inside.shape[1]]
    return picture


def secret_jpeg(seed, subsampling, orientation=1, box=BOX, size=(WIDTH, HEIGHT), **more):
    """`box` is in the stored picture."""
    picture = with_secret(seed, 1 if subsampling == 'gray' else 3, box, size).astype(numpy.uint8)
    how = {} if subsampling == 'gray' else {'subsampling': subsampling}
    body = pictures.jpeg(picture, 90, **how, **more)
    return pictures.with_segments(body, pictures.exif_segment(orientation, extras=False)) if orientation > 1 else body


def check_same(server, target, bodies):
    """All answers are equal, although the pictures are not; returns the answer."""
    assert len(set(bodies)) == len(bodies)
    answers = {ask(server, target, body).content for body in bodies}
    assert len(answers) == 1, f'{target}: what was inside shows in the answer'
    return answers.pop()


# --- the guarantee ---------------------------------------------------------------------------
@pytest.mark.parametrize('channels,depth', [(c, d) for d in (8, 16) for c in (1, 2, 3, 4)])
@pytest.mark.parametrize('soft', ('', '&feather=5'))
def test_png(server, look, channels, depth, soft):
    scale = 1 if depth == 8 else 257
    bodies = [pictures.png(with_secret(seed, channels) * scale, depth=depth) for seed in (1, 2, 3)]
    answer = check_same(server, f'{look}&{areas.query("48,32,64,48")}{soft}', bodies)
    outside = ~areas.mask('48,32,64,48' if not soft else '33,17,94,78', WIDTH, HEIGHT)
    assert (anatomy.read_png(answer)[outside] == anatomy.read_png(bodies[0])[outside]).all()


@pytest.mark.parametrize('subsampling', ('420', '422', '444', 'gray'))
@pytest.mark.parametrize('progressive', (False, True), ids=('sequential', 'progressive'))
@pytest.mark.parametrize('more', ('', '&quality=95', '&format=png', '&colorspace=rgb', '&colorspace=linear',
                                  '&subsampling=444', '&progressive=true', '&feather=4'))
def test_jpeg(server, look, subsampling, progressive, more):
    bodies = [secret_jpeg(seed, subsampling, progressive=progressive) for seed in (1, 2, 3)]
    check_same(server, f'{look}&{areas.query(INSIDE)}{more}', bodies)


@pytest.mark.parametrize('subsampling', ('420', '444'))
@pytest.mark.parametrize('orientation', range(2, 9))
@pytest.mark.parametrize('more', ('', '&format=png', '&autorotate=false', '&autorotate=false&format=png'))
def test_orientations(server, subsampling, orientation, more):
    """The region is given as displayed; the blocks that it is rounded out to are those stored."""
    stored = areas.mask(INSIDE, WIDTH, HEIGHT)
    upright = Image.fromarray(stored.astype(numpy.uint8))
    turned = {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}[orientation]  # Image.FLIP_LEFT_RIGHT, ...
    rows, columns = numpy.nonzero(numpy.asarray(upright.transpose(turned)))
    region = f'{columns.min()},{rows.min()},{columns.max() + 1 - columns.min()},{rows.max() + 1 - rows.min()}'
    bodies = [secret_jpeg(seed, subsampling, orientation) for seed in (1, 2)]
    for look in LOOKS:
        check_same(server, f'{look}&mode=redact&{areas.query(region)}{more}', bodies)


@pytest.mark.parametrize('subsampling', ('420', '422', '444', 'gray'))
@pytest.mark.parametrize('more', ('', '&format=png', '&quality=80'))
def test_padded_blocks_at_the_border(server, look, subsampling, more):
    """Blocks beyond the border repeat the pixels inside, also in the file."""
    for size in ((WIDTH, HEIGHT), (152, 104), (136, 88)):
        left, top = (size[0] - 30) // 16 * 16, (size[1] - 20) // 16 * 16
        bodies = [secret_jpeg(seed, subsampling, box=(left, top, 64, 64), size=size) for seed in (1, 2)]
        region = f'{left + 3},{top + 3},400,400'
        check_same(server, f'{look}&{areas.query(region)}{more}', bodies)


@pytest.mark.parametrize('subsampling', ('420', '444', 'gray'))
@pytest.mark.parametrize('more', ('', '&format=png', '&quality=80', '&autorotate=false'))
def test_inverted(server, look, subsampling, more):
    """Pixels in no region are replaced, and so are all blocks that are not completely in one."""
    size, box = (160, 112), (0, 0, 160, 112)
    face = pictures.photograph(64, 48)
    bodies = []
    for seed in (1, 2):
        picture = with_secret(seed, 3, box, size).astype(numpy.uint8)
        picture[32:80, 48:112] = face
        bodies.append(pictures.jpeg(picture[..., :1], 90) if subsampling == 'gray' else pictures.jpeg(picture, 90, subsampling))
    answer = check_same(server, f'{look}&{areas.query("48,32,64,48", invert="true")}{more}', bodies)
    if more == '&format=png':
        kept = anatomy.pixels(answer)[34:78, 50:110]
        assert numpy.abs(kept - anatomy.pixels(bodies[0])[34:78, 50:110].astype(int)).mean() < 6


def test_everything(server, look):
    """Without regions all of the picture is replaced; /redact wants to be told."""
    if look in ALONE:
        check_problem(server.post(look, pictures.small_png()), 'bad-parameter', 'region', 'nothing says what has to go')
        return
    bodies = [secret_jpeg(seed, '420', box=(0, 0, 160, 112)) for seed in (1, 2)]
    for more in ('', '&format=png'):
        check_same(server, look + more, bodies)
    channels = [pictures.png(with_secret(seed, 4, (0, 0, 160, 112))) for seed in (1, 2)]
    check_same(server, look, channels)


def enlarged(shape, factor):
    """The shape in pixels of a picture that is larger by this factor."""
    form, colon, numbers = shape.rpartition(':')
    sides = (WIDTH, HEIGHT)
    values = [float(n[:-1]) * sides[i % 2] / 100 if n.endswith('%') else float(n) for i, n in enumerate(numbers.split(','))]
    return form + colon + ','.join(f'{factor * value:g}' for value in values)


@pytest.mark.parametrize('shape', ('ellipse:50,34,60,44', 'polygon:50,34,110,34,80,78', '33%,33%,30%,30%'))
def test_shapes_take_every_pixel_that_they_touch(server, shape):
    """Also those whose centre is outside: the two pictures differ in all of them."""
    fine = areas.mask(enlarged(shape, 8), WIDTH * 8, HEIGHT * 8)
    touched = fine.reshape(HEIGHT, 8, WIDTH, 8).any((1, 3))
    assert touched.sum() > areas.mask(shape, WIDTH, HEIGHT).sum()
    bodies = []
    for seed in (1, 2):
        picture = pictures.photograph(WIDTH, HEIGHT).astype(int)
        hidden = secret(seed, WIDTH, HEIGHT, 3)[touched]
        picture[touched] = (hidden + MIDDLE - hidden.mean(0)).round()
        bodies.append(pictures.png(picture))
    for look in LOOKS:
        check_same(server, f'{look}&mode=redact&{areas.query(shape)}', bodies)


def test_inks(server, look):
    """How a CMYK JPEG is sampled is not known: 96 pixels hold whole blocks of any sampling."""
    bodies = []
    for seed in (1, 2):
        picture = pictures.photograph(300, 200, 4).copy()
        picture[96:192, 96:192] = secret(seed, 96, 96, 4)
        picture[..., 3] = 0
        bodies.append(pictures.jpeg(picture, 90))
    for more in ('', '&format=png'):
        check_same(server, f'{look}&{areas.query("100,100,80,80")}{more}', bodies)


def test_a_plain_filter_does_show_it(server):
    """So the tests above can fail."""
    bodies = [pictures.png(with_secret(seed)) for seed in (1, 2)]
    jpegs = [secret_jpeg(seed, '420') for seed in (1, 2)]
    for target in LOOKS:
        for pair in (bodies, jpegs):
            assert len({ask(server, f'{target}&{areas.query(INSIDE)}', body).content for body in pair}) == 2


# --- the replacement --------------------------------------------------------------------------
def test_the_mean_is_coarse(server):
    """16 levels for each channel."""
    region = areas.query('0,0,100%,100%')
    for depth, step in ((8, 1), (16, 257)):
        seen = set()
        for tone in range(0, 256, 3):
            body = pictures.png(numpy.full((20, 30, 1), tone * step), depth=depth)
            result = ask_png(server, f'/blur?sigma=0.1&mode=redact&{region}', body, depth)
            assert (result == result[0, 0, 0]).all() and abs(int(result[0, 0, 0]) - tone * step) <= 8 * step
            seen.add(int(result[0, 0, 0]))
        assert len(seen) == 16


@pytest.mark.parametrize('subsampling', ('420', '444'))
def test_outside_stays(server, look, subsampling):
    body = secret_jpeg(1, subsampling)
    outside = numpy.ones((HEIGHT, WIDTH), bool)
    outside[BOX[1] - 2:BOX[1] + BOX[3] + 2, BOX[0] - 2:BOX[0] + BOX[2] + 2] = False
    answer = ask(server, f'{look}&{areas.query(INSIDE)}', body).content
    assert (anatomy.pixels(answer)[outside] == anatomy.pixels(body)[outside]).all()


@pytest.mark.parametrize('subsampling,grid,margin', (
    ('420', (16, 16), (1, 1)), ('422', (16, 8), (1, 0)), ('444', (8, 8), (0, 0)), ('gray', (8, 8), (0, 0)), ('inks', (96, 96), (1, 1))))
@pytest.mark.parametrize('invert', (False, True))
def test_outside_is_as_without_redaction(server, subsampling, grid, margin, invert):
    """A PNG of a JPEG equals the same conversion without mode=redact, except the blocks that a region touches
    and the pixel beside them whose colour is interpolated."""
    width, height = 210, 115
    noise = numpy.random.default_rng(1).integers(0, 256, (height, width, 4), numpy.uint8)
    picture = {'gray': noise[..., :1], 'inks': noise}.get(subsampling, noise[..., :3])
    body = pictures.jpeg(picture, 80, **({'subsampling': subsampling} if subsampling.isdigit() else {}))
    touched = rounded_out(areas.mask(INSIDE, width, height) ^ invert, grid, margin)
    plain = anatomy.read_png(ask(server, '/pixelate?block=1&format=png', body).content).astype(int)
    for look in ('/blur?sigma=3', '/pixelate?block=8'):
        target = f'{look}&mode=redact&{areas.query(INSIDE, invert=str(invert).lower())}&format=png'
        changed = numpy.abs(anatomy.read_png(ask(server, target, body).content) - plain).max(-1)
        assert not changed[~touched].any() and changed[touched].mean() > 20


def rounded_out(mask, grid, margin):
    """Whole blocks of grid[0] x grid[1] pixels, and so many around them."""
    height, width = mask.shape
    whole = numpy.zeros((height + -height % grid[1], width + -width % grid[0]), bool)
    whole[:height, :width] = mask
    blocks = whole.reshape(whole.shape[0] // grid[1], grid[1], -1, grid[0]).any((1, 3))
    inside = numpy.pad(blocks.repeat(grid[1], 0).repeat(grid[0], 1)[:height, :width], 1)
    for axis, pixels in ((1, margin[0]), (0, margin[1])):
        if pixels:
            inside |= numpy.roll(inside, 1, axis) | numpy.roll(inside, -1, axis)
    return inside[1:-1, 1:-1]


def test_pixelate_looks_like_tiles(server):
    result = ask_png(server, f'/pixelate?block=8&mode=redact&{areas.query("48,32,64,48")}', pictures.png(with_secret(1)))
    tiles = result[32:80, 48:112].reshape(6, 8, 8, 8, 3)
    assert (tiles == tiles[:, :1, :, :1]).all()
    assert len(numpy.unique(tiles[..., 0])) > 10


# --- metadata -------------------------------------------------------------------------------------
@pytest.mark.parametrize('more', ('', '&metadata=strip', '&format=png', '&quality=90'))
def test_metadata_goes(server, look, more):
    body = pictures.jpeg(pictures.photograph(64, 48), icc_profile=with_private_parts(pictures.icc()), comment=pictures.CANARY)
    thumbnail = b'JFXX\0\x10' + pictures.jpeg(pictures.photograph(16, 16), comment=pictures.CANARY)
    body = pictures.with_segments(body, (0xE0, b'JFIF\0\1\1\0\0\1\0\1\0\0'), (0xE0, thumbnail), pictures.exif_segment(1),
                                  (0xE1, pictures.XMP), (0xED, b'Photoshop 3.0\0' + pictures.CANARY), (0xE5, pictures.CANARY))
    answer = ask(server, f'{look}&region=5,5,20,20{more}', body + pictures.CANARY).content
    assert pictures.CANARY not in answer and b'Exif' not in answer and b'xmpmeta' not in answer and b'JFXX' not in answer


def test_metadata_of_a_png_goes(server, look):
    chunks = [('tEXt', b'Comment\0' + pictures.CANARY), ('eXIf', pictures.exif(1)), ('tIME', b'\x07\xe8\1\1\1\1\1')]
    body = pictures.png(pictures.photograph(40, 30), before=chunks, after=chunks[:1])
    answer = ask(server, f'{look}&region=5,5,20,20', body).content
    assert pictures.CANARY not in answer and {tag for tag, _ in anatomy.chunks(answer)} <= {'IHDR', 'IDAT', 'IEND'}


@pytest.mark.parametrize('target', ('png', 'webp', 'avif', 'jpeg'))
@pytest.mark.parametrize('source', ('jpeg', 'png', 'webp', 'avif', 'heic'))
def test_private_parts_of_a_profile_go(server, source, target):
    formats = server.get('/version').json()['formats']
    if source not in formats['reads'] or target not in formats['writes']:
        pytest.skip(f'built without {source} or {target}')
    body = with_profile(source, pictures.photograph(96, 64), with_private_parts(pictures.icc()))
    assert pictures.CANARY in profile_in(body) if source != 'heic' else pictures.CANARY in body
    for more in ('', '&region=5,5,20,20', '&region=5,5,20,20&invert=1', '&region=5,5,20,20&colorspace=rgb'):
        answer = ask(server, f'/pixelate?block=8&mode=redact&format={target}{more}', body).content
        profile = profile_in(answer)
        assert b'rXYZ' in profile and pictures.CANARY not in profile and pictures.CANARY not in answer and b'blrd' not in profile


def test_metadata_keep_is_refused(server, look):
    problem = check_problem(server.post(f'{look}&metadata=keep&region=5,5,9,9', pictures.small_jpeg()), 'bad-parameter', 'metadata')
    assert 'redaction drops all metadata' in problem['detail']


# --- refusals -----------------------------------------------------------------------------------
@pytest.mark.parametrize('body', (pictures.small_png(), pictures.small_jpeg()), ids=('png', 'jpeg'))
def test_a_region_off_the_picture_is_refused(server, look, body):
    """Clients rely on the redaction, and could overlook a notice."""
    for regions in (('500,5,10,10',), ('5,5,10,10', 'ellipse:5,400,10,10')):
        problem = check_problem(server.post(f'{look}&{areas.query(*regions)}', body), 'bad-parameter', 'region', 'lies off the picture')
        assert f'region {len(regions)} ' in problem['detail']
    answer = ask(server, f'{look}&{areas.query("20,20,100,100")}', body)
    assert 'cut by its border: 1' in answer.headers['X-Blurd-Notice']


@pytest.mark.parametrize('body', (pictures.small_png(), pictures.small_jpeg()), ids=('png', 'jpeg'))
@pytest.mark.parametrize('more', ('', '&invert=true', '&feather=3', '&colorspace=linear', '&autorotate=false'))
@pytest.mark.parametrize('small', ('0.1,0.1,0.2,0.2', '5,5,20,0.9', 'ellipse:5,5,0.5,9', 'polygon:0.1,0.1,0.9,0.1,0.5,0.9', '0,0,1,1'))
def test_a_region_smaller_than_a_pixel_is_refused(server, look, body, more, small):
    """Ratios, as other services take them: 200 would say that something is hidden."""
    answer = server.post(f'{look}&{areas.query("5,5,9,9", small)}{more}', body)
    problem = check_problem(answer, 'bad-parameter', 'region')
    for word in ('region 2 is ', ' pixels of ', 'unit=ratio', 'unit=percent'):
        assert word in problem['detail']


@pytest.mark.parametrize('orientation', (1, 6))
def test_sides_are_those_of_the_displayed_picture(server, look, orientation):
    """0.9 % of the 107 pixels of the short side is less than a pixel, of the 155 of the long side it is not."""
    body = secret_jpeg(1, '420', orientation)
    wide, high = (WIDTH, HEIGHT) if orientation == 1 else (HEIGHT, WIDTH)
    for region, side in (('5,5,0.9%,50%', wide), ('5,5,50%,0.9%', high)):
        answer = server.post(f'{look}&{areas.query(region)}', body)
        if side == WIDTH:
            assert answer.status_code == 200
        else:
            assert f' pixels of {wide}x{high}' in check_problem(answer, 'bad-parameter', 'region')['detail']


def test_ratios(server, look):
    bodies = [pictures.png(with_secret(seed)) for seed in (1, 2)]
    region = ','.join(f'{edge / side:.9f}' for edge, side in zip(BOX, (WIDTH, HEIGHT) * 2))
    answer = check_same(server, f'{look}&region={region}&unit=ratio', bodies)
    assert answer == ask(server, f'{look}&region={",".join(map(str, BOX))}', bodies[0]).content


@pytest.mark.parametrize('target', ('/sharpen', '/convolve?preset=edge', '/stats'))
def test_only_blur_and_pixelate_redact(server, target):
    answer = server.post(f'{target}{"&" if "?" in target else "?"}mode=redact', pictures.small_png())
    check_problem(answer, 'bad-parameter', 'mode', 'unknown parameter')


@pytest.mark.parametrize('query', ('mode=', 'mode=Redact', 'mode=redact&mode=redact', 'mode=plain&mode=redact', 'mode=1'))
def test_wrong_modes(server, query):
    check_problem(server.post(f'/blur?{query}', pictures.small_png()), 'bad-parameter', 'mode')


def test_plain_is_the_default(server):
    body = pictures.png(with_secret(1))
    assert ask(server, '/blur?mode=plain', body).content == ask(server, '/blur', body).content
    result = ask_png(server, '/pixelate?mode=plain&block=8', body)
    assert (result == filtering.pixelate(anatomy.read_png(body), 8)).all()
