# SPDX-License-Identifier: MIT
"""Redaction with hdr=keep: two photographs that differ only beneath the regions, in the base, in its map, or in what else stands behind the
base, give the same bytes. So nothing of what was hidden is left in the map, and no other JPEG of the file is in the answer."""

import io

import numpy
import pytest
from PIL import Image

import anatomy
import areas
import codes
import daemon
import fake_gpu
import gainmaps
import pictures
from test_hdr_kept import kept
from test_mask_part import ask
from test_redact import secret

WIDTH, HEIGHT, SCALE = 320, 256, 4
BASE, GAIN = gainmaps.photograph(WIDTH, HEIGHT, SCALE)
COLOURED = gainmaps.photograph(WIDTH, HEIGHT, SCALE, 3)[1]
BOX = (128, 64, 128, 64)  # left, top, width, height: whole MCUs of the base, and of a map without colour
INSIDE = '130,66,124,60'
SIGNED = gainmaps.USUAL._replace(min=(-1,), max=(2,))  # no gain is sample 85
QUERIES = ('/redact?hdr=keep', '/redact?hdr=keep&fill=ring', '/redact?hdr=keep&feather=6', '/blur?sigma=12&mode=redact&hdr=keep',
           '/pixelate?block=8&mode=redact&hdr=keep', '/rotate?angle=90&mode=redact&hdr=keep', '/crop?x=13&y=9&width=290&height=230&mode=redact&hdr=keep')


def changed(picture, box, seed, grow=0):
    """The picture with another content of the box, which is `grow` samples larger on each side."""
    left, top, width, height = box
    other = picture.copy()
    part = other[max(top - grow, 0):top + height + grow, max(left - grow, 0):left + width + grow]
    channels = 1 if picture.ndim == 2 else 3
    part[...] = secret(seed, part.shape[1], part.shape[0], channels).astype('uint8').reshape(part.shape)
    return other


def scaled(box):
    return tuple(n // SCALE for n in box)


def photographs(gain=GAIN, numbers=SIGNED, grow=0, make=gainmaps.ultra_hdr, turned=1, **more):
    """Two files that differ only in the box: in base and map, and wholly in the JPEGs behind."""
    return [make(pictures.stored_as(changed(BASE, BOX, seed), turned), pictures.stored_as(changed(gain, scaled(BOX), seed + 7, grow), turned),
                 numbers=numbers, behind=(pictures.jpeg(pictures.photograph(64, 48, seed=seed)),), **more) for seed in (1, 2)]


def check_same(server, query, files):
    assert len(set(files)) == len(files)
    answers = [server.post(query, file) for file in files]
    assert all(kept(answer) for answer in answers)
    assert answers[0].content == answers[1].content, 'what was hidden shows in the answer'
    return answers[0]


@pytest.mark.parametrize('query', QUERIES)
@pytest.mark.parametrize('form', ('grey', 'coloured', 'progressive', 'apple'))
def test_nothing_of_it_is_left(server, query, form):
    if form == 'coloured':  # 32 pixels of the base are a block of brightness, 64 one of colour, and the next sample is interpolated
        files = photographs(COLOURED, gainmaps.PER_CHANNEL, subsampling='420')
    elif form == 'apple':
        files = photographs(make=gainmaps.apple, ratios={33: (1, 2), 48: (9, 1000)})
    else:
        files = photographs(form='both', progressive=form == 'progressive')
    check_same(server, f'{query}&{areas.query(INSIDE)}', files)


@pytest.mark.parametrize('more', (areas.query('ellipse:130,66,124,60') + '&' + areas.query('0,0,20,20'), 'unit=ratio&region=0.40625,0.2578,0.3875,0.234',
                                  areas.query(INSIDE) + '&hdr=keep&quality=40', areas.query(INSIDE) + '&progressive=true'))
def test_forms_of_regions(server, more):
    files = photographs()
    if 'ellipse' in more:  # its corners show
        box = (176, 80, 32, 32)
        files = [gainmaps.ultra_hdr(changed(BASE, box, seed), changed(GAIN, scaled(box), seed), SIGNED) for seed in (1, 2)]
    check_same(server, '/redact?' + ('' if 'hdr=' in more else 'hdr=keep&') + more, files)


@pytest.mark.parametrize('orientation', range(2, 9))
def test_orientations(server, orientation):
    files = photographs(turned=orientation, base_segments=[pictures.exif_segment(orientation, extras=False)])
    for query in ('/redact?hdr=keep', '/blur?sigma=4&mode=redact&hdr=keep', '/redact?hdr=keep&autorotate=false'):
        check_same(server, f'{query}&{areas.query(INSIDE)}', files)


def test_inverted(server):
    """All but a box is hidden, and the box is what both have."""
    left, top, width, height = box = (64, 32, 192, 160)
    files = []
    for seed in (1, 2):
        base, gain = changed(BASE, (0, 0, WIDTH, HEIGHT), seed), changed(GAIN, (0, 0, 80, 64), seed)
        base[top:top + height, left:left + width] = BASE[top:top + height, left:left + width]
        gain[8:48, 16:64] = GAIN[8:48, 16:64]
        files.append(gainmaps.ultra_hdr(base, gain, SIGNED))
    answer = check_same(server, f'/redact?hdr=keep&invert=true&{areas.query(",".join(map(str, box)))}', files)
    gain = anatomy.pixels(kept(answer).map)[:, :, 0].astype(float)
    assert numpy.abs(gain[16:40, 24:56] - GAIN[16:40, 24:56]).mean() < 2, 'blocks that no hidden sample touches stay'


def test_a_mask_of_the_form(server):
    mask = numpy.zeros((HEIGHT, WIDTH), numpy.uint8)
    mask[66:126, 130:254] = 1
    answers = [ask(server, mask, '/redact?hdr=keep', file) for file in photographs()]
    assert all(kept(answer) for answer in answers) and answers[0].content == answers[1].content


def test_samples_beside_and_their_blocks(server):
    """A sample beside those that stand for hidden pixels was made of hidden ones, too; here it lies in the next block."""
    check_same(server, f'/redact?hdr=keep&{areas.query("128,64,128,64")}', photographs(grow=1))


def test_colour_between_blocks(server):
    """Reduced colour of the map is interpolated: a sample beside a hidden block shows the block's colour."""
    box = (144, 80, 96, 32)
    files = [gainmaps.ultra_hdr(changed(BASE, box, seed), changed(COLOURED, (32, 16, 32, 16), seed), gainmaps.PER_CHANNEL, 'iso', subsampling='420')
             for seed in (1, 2)]
    check_same(server, f'/redact?hdr=keep&{areas.query("144,80,96,32")}', files)


def test_unfinished_maps(server):
    """A progressive map that ends after its first scan is not smoothed over the borders of blocks."""
    files = []
    for seed in (1, 2):
        gain = pictures.jpeg(changed(GAIN, (40, 24, 16, 8), seed), 95, progressive=True)
        first = gain.index(b'\xff\xda')
        gain = gain[:gain.index(b'\xff\xc4', first)] + b'\xff\xd9'
        gain = pictures.with_segments(gain, (0xE2, gainmaps.ISO + gainmaps.iso(SIGNED)))
        files.append(gainmaps.assemble(pictures.jpeg(changed(BASE, (160, 96, 64, 32), seed), 95), gain))
    check_same(server, f'/redact?hdr=keep&{areas.query("166,102,54,20")}', files)


def test_small_regions_and_large_samples(server):
    """A sample is hidden with the first pixel that it stands for, and a pixel with any part of it."""
    for size, region in (((1, 1), '128,64,2,2'), ((80, 64), 'polygon:130,65.55,220,66.45,220,66.55')):
        gain = numpy.asarray(Image.fromarray(GAIN).resize(size)) // 2 + 100
        samples = anatomy.pixels(kept(server.post(f'/redact?hdr=keep&{areas.query(region)}', gainmaps.ultra_hdr(BASE, gain, SIGNED))).map)[:, :, 0]
        hidden = samples if size == (1, 1) else samples[16, 32:56]
        assert numpy.abs(hidden.astype(int) - 85).max() <= 1


def test_what_is_not_hidden_stays(server):
    """And what is hidden has no gain."""
    file = gainmaps.ultra_hdr(BASE, GAIN, SIGNED)
    gain = anatomy.pixels(kept(server.post(f'/redact?hdr=keep&{areas.query(INSIDE)}', file)).map)[:, :, 0].astype(float)
    hidden = numpy.zeros(GAIN.shape, bool)
    hidden[8:40, 24:72] = True  # whole blocks around samples 31 to 64, 15 to 32
    assert numpy.abs(gain[hidden] - 85).max() <= 1
    assert numpy.abs(gain - GAIN)[~hidden].mean() < 1.5


def test_maps_of_many_sizes(server):
    """The hidden samples are those over the hidden pixels, whatever a sample's size."""
    for width, height in ((1, 1), (7, 3), (80, 61), (160, 128), (320, 256)):
        files = []
        for seed in (1, 2):
            gain = numpy.asarray(Image.fromarray(GAIN).resize((width, height)))
            box = (128 * width // WIDTH, 64 * height // HEIGHT, -(-128 * width // WIDTH), -(-64 * height // HEIGHT))
            files.append(gainmaps.ultra_hdr(changed(BASE, BOX, seed), changed(gain, box, seed), SIGNED))
        check_same(server, f'/redact?hdr=keep&{areas.query(INSIDE)}', files)


@pytest.mark.parametrize('query', ('/redact?', '/redact?hdr=auto&', '/redact?hdr=drop&', '/blur?sigma=9&mode=redact&'))
def test_the_map_is_dropped_unless_asked_for(server, query):
    answers = [server.post(query + areas.query(INSIDE), file) for file in photographs()]
    assert {answer.headers['X-HDR'] for answer in answers} == {'dropped'} and answers[0].content == answers[1].content
    assert answers[0].content.count(b'\xff\xd8\xff') == 1


@codes.needed
def test_what_is_found_is_hidden_in_the_map(server):
    page = codes.page((codes.drawn(codes.QR, 6), (256, 192)))
    gain = 255 - numpy.asarray(page.resize((160, 120)))
    file = gainmaps.ultra_hdr(numpy.asarray(page.convert('RGB')), gain, SIGNED)
    answer = server.post('/redact?detect=codes&hdr=keep', file)
    samples = anatomy.pixels(kept(answer).map)[:, :, 0].astype(int)
    assert numpy.abs(samples[48:80, 64:96] - 85).max() <= 1 and numpy.abs(samples - 85).max() > 30


def test_nothing_is_kept_where_all_is_hidden(server):
    answer = server.post('/blur?sigma=9&mode=redact&hdr=keep', photographs()[0])
    assert answer.headers['X-HDR'] == 'dropped' and 'all of it' in answer.headers['X-Blurd-Notice']


@fake_gpu.needed
def test_with_a_gpu(server):
    """It may filter the base; the bytes are those of cores."""
    with daemon.Daemon(*fake_gpu.options(), environment=fake_gpu.settings()) as own:
        fake_gpu.await_state(own, 'serving')
        for query in QUERIES:
            answers = [other.post(f'{query}&{areas.query(INSIDE)}', file) for other in (own, server) for file in photographs()]
            assert all(kept(answer) for answer in answers) and len({answer.content for answer in answers}) == 1, query


def test_pictures_behind_the_base_go(server):
    """Indexed or not, before the map and behind."""
    secret_jpeg = pictures.with_segments(pictures.jpeg(BASE), (0xFE, b'SECRET'))
    whole = gainmaps.ultra_hdr(BASE, GAIN, SIGNED, behind=(secret_jpeg,))
    for file in (whole, whole + secret_jpeg, gainmaps.ultra_hdr(BASE, GAIN, SIGNED, gap=secret_jpeg), gainmaps.ultra_hdr(BASE, GAIN, SIGNED, indexed=False) + secret_jpeg):
        answer = server.post(f'/redact?hdr=keep&{areas.query(INSIDE)}', file)
        assert kept(answer) and b'SECRET' not in answer.content
        assert Image.open(io.BytesIO(answer.content)).size == (WIDTH, HEIGHT)
