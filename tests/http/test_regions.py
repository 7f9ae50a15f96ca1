# SPDX-License-Identifier: MIT
"""Regions are those of the displayed picture, for each orientation. Notices about regions outside the
picture, and all kinds of wrong regions."""

import re

import numpy
import pytest

import anatomy
import areas
import filtering
import pictures
from filtering import ask, ask_png
from problems import check_problem
from test_multipart import form

WIDTH, HEIGHT = 61, 45  # as displayed
UPRIGHT = pictures.photograph(WIDTH, HEIGHT)
REGIONS = {
    'rectangle': '7,5,20,11', 'rectangle %': '11%,23%,31.3%,40.1%', 'rectangle mixed': '11%,5,20,39%',
    'ellipse': 'ellipse:30.3,4.2,25,33', 'ellipse %': 'ellipse:3%,50%,44%,43%',
    'polygon': 'polygon:5.3,4.1,55.2,9.8,20.7,41.3', 'polygon %': 'polygon:10.1%,81.3%,51.7%,9.9%,93.3%,70.7%',
}
ORIENTATIONS = range(1, 9)
FILTER = '/pixelate?block=200'


def stored(mask, orientation):
    return pictures.stored_as(mask.astype(numpy.uint8), orientation).astype(bool)[:, :, None]


def png(orientation, picture=UPRIGHT):
    """Stored as its eXIf chunk says, without loss."""
    return pictures.png(pictures.stored_as(picture, orientation), before=[('eXIf', pictures.exif(orientation))])


@pytest.mark.parametrize('orientation', ORIENTATIONS)
@pytest.mark.parametrize('name', REGIONS)
def test_png(server, name, orientation):
    inside = areas.mask(REGIONS[name], WIDTH, HEIGHT)
    assert 50 < inside.sum() < inside.size - 50
    target, region = '/convolve?preset=emboss&bias=50', areas.query(REGIONS[name])
    for turned in (True, False):
        how = f'&autorotate={str(turned).lower()}'
        seen = UPRIGHT if turned else pictures.stored_as(UPRIGHT, orientation)
        mask = inside[:, :, None] if turned else stored(inside, orientation)
        filtered = ask_png(server, target + how, png(orientation))
        result = ask_png(server, f'{target}{how}&{region}', png(orientation))
        assert (result == numpy.where(mask, filtered, seen)).all()
        inverted = ask_png(server, f'{target}{how}&{region}&invert=true', png(orientation))
        assert (inverted == numpy.where(mask, seen, filtered)).all()


@pytest.mark.parametrize('orientation', ORIENTATIONS)
@pytest.mark.parametrize('name', REGIONS)
@pytest.mark.parametrize('subsampling', ('420', '444'))
def test_jpeg(server, name, orientation, subsampling):
    """The pixels are the daemon's own of the untouched and of the wholly filtered picture."""
    body = pictures.with_segments(pictures.jpeg(pictures.stored_as(UPRIGHT, orientation), subsampling=subsampling),
                                  pictures.exif_segment(orientation))
    inside = areas.mask(REGIONS[name], WIDTH, HEIGHT)
    for turned in (True, False):
        how = f'&format=png&autorotate={str(turned).lower()}'
        mask = inside[:, :, None] if turned else stored(inside, orientation)
        untouched = ask_png(server, '/pixelate?block=1' + how, body)
        filtered = ask_png(server, '/sharpen?sigma=3&amount=9' + how, body)
        result = ask_png(server, f'/sharpen?sigma=3&amount=9{how}&{areas.query(REGIONS[name])}', body)
        assert (result == numpy.where(mask, filtered, untouched)).all()


@pytest.mark.parametrize('orientation', ORIENTATIONS)
@pytest.mark.parametrize('subsampling', ('420', '422', '444', 'gray'))
@pytest.mark.parametrize('quality', ('', '&quality=97'))
def test_jpeg_to_jpeg(server, orientation, subsampling, quality):
    """Patched or encoded anew, in planes or in RGB: the change is where it is displayed."""
    flat = numpy.full((144, 96, 3) if orientation > 4 else (96, 144, 3), 100, numpy.uint8)
    stored_jpeg = pictures.jpeg(flat[..., :1], 97) if subsampling == 'gray' else pictures.jpeg(flat, 97, subsampling)
    body = pictures.with_segments(stored_jpeg, pictures.exif_segment(orientation))
    region = '16,32,48,32'  # whole MCUs, as the change is to be sharp
    result = anatomy.pixels(ask(server, f'/convolve?kernel=1&bias=100&{areas.query(region)}{quality}', body).content)
    inside = areas.mask(region, 144, 96)
    assert result.shape[:2] == (96, 144)
    assert numpy.abs(result[inside].astype(int) - 200).max() <= 3 and numpy.abs(result[~inside].astype(int) - 100).max() <= 3


# --- notices and errors ---------------------------------------------------------------------
def notice(server, body, *regions, target=FILTER, **more):
    return ask(server, f'{target}&{areas.query(*regions, **more)}', body).headers.get('X-Blurd-Notice')


@pytest.mark.parametrize('orientation', ORIENTATIONS)
@pytest.mark.parametrize('turned', ('true', 'false'))
def test_notices(server, orientation, turned):
    """Off and cut are meant as displayed, too."""
    body = png(orientation)

    def counts(*regions):
        text = notice(server, body, *regions, autorotate=turned)
        found = re.search(r'regions outside the picture, which have no effect: (\d+) of (\d+); cut by its border: (\d+); .* region (\d+)$', text or '')
        return found and tuple(int(found[group]) for group in (2, 1, 3, 4))

    assert counts('5,5,10,10') is None
    assert counts('0,0,61,45', 'ellipse:0,0,100%,100%', 'polygon:0,0,61,0,61,45') is None
    assert counts('61,0,10,10') == (1, 1, 0, 1)
    assert counts('5,5,10,10', '0,45,10,10') == (2, 1, 0, 2)
    for cut in ('50,5,12,5', '5,40,5,6', 'ellipse:40,30,30,30', 'polygon:5,5,70,10,5,40'):
        assert counts('5,5,10,10', cut) == (2, 0, 1, 2), cut
    assert counts('50,5,100,5', '5,5,10,10', '500,5,1,1', 'ellipse:500,500,10,10') == (4, 2, 1, 1)
    assert counts('10.6,10,0.3,9') == (1, 1, 0, 1), 'it lies between the centres of pixels'


def test_a_region_off_the_picture_changes_nothing(server):
    assert (ask_png(server, f'{FILTER}&region=100,100,5,5', png(1)) == UPRIGHT).all()
    body = pictures.jpeg(UPRIGHT)
    answer = ask(server, '/blur?region=100,100,5,5', body)
    assert answer.headers['X-Blurd-Notice'] and (anatomy.pixels(answer.content) == anatomy.pixels(body)).all()


@pytest.mark.parametrize('target', ('/blur?sigma=2', '/stats?', '/pipeline?ops=sharpen', FILTER))
def test_every_endpoint_says_so(server, target):
    assert notice(server, png(1), '5,5,5,5', target=target) is None
    assert 'region 2' in notice(server, png(1), '5,5,5,5', '700,0,1,1', target=target)


def test_no_notice_without_regions(server):
    assert 'X-Blurd-Notice' not in ask(server, FILTER, png(1)).headers


# --- many, and by form -------------------------------------------------------------------------
def test_64_regions(server):
    regions = [f'{x * 7},{y * 5},3,3' for x in range(8) for y in range(8)]
    inside = numpy.any([areas.mask(region, WIDTH, HEIGHT) for region in regions], 0)[:, :, None]
    result = ask_png(server, f'{FILTER}&{areas.query(*regions)}', png(1))
    assert (result == numpy.where(inside, ask_png(server, FILTER, png(1)), UPRIGHT)).all()


@pytest.mark.parametrize('orientation', (1, 6))
@pytest.mark.parametrize('percents', ('10,20,30.5,40', 'ellipse:10,20,30.5,40', 'polygon:10,20,90.5,30,40,70'))
def test_units_say_the_same(server, orientation, percents):
    """Also when `unit` stands behind the regions, and one number has a different unit."""
    form_name, _, numbers = percents.rpartition(':')
    values = [float(number) for number in numbers.split(',')]

    def spell(write):
        return (form_name and form_name + ':') + ','.join(write(i, value) for i, value in enumerate(values))
    in_percent = spell(lambda i, value: f'{value}%')
    in_pixels = spell(lambda i, value: f'{value * (WIDTH, HEIGHT)[i % 2] / 100:.6f}')
    ratios = spell(lambda i, value: f'{value / 100:.6f}')
    mixed = spell(lambda i, value: f'{value / 100:.6f}' if i % 3 else f'{value}%')
    expected = ask(server, f'{FILTER}&{areas.query(in_percent)}', png(orientation)).content
    assert expected != ask(server, FILTER, png(orientation)).content
    for query in (areas.query(in_pixels), areas.query(in_pixels, unit='px'), areas.query(percents, unit='percent'),
                  areas.query(ratios, unit='ratio'), 'unit=ratio&' + areas.query(ratios), areas.query(mixed, unit='ratio'),
                  areas.query(in_percent, unit='ratio')):
        assert ask(server, f'{FILTER}&{query}', png(orientation)).content == expected, query


@pytest.mark.parametrize('query,parameter,words', (
    ('unit=ratio', 'unit', 'unit needs a region'),
    ('unit=cm&region=1,2,3,4', 'unit', 'px, percent or ratio'),
    ('unit=px&unit=px&region=1,2,3,4', 'unit', 'more than once'),
    ('region=1,2,3,4&unit=ratio', 'region', 'region 1 has the number 2, but with unit=ratio it must be from 0 to 1'),
    ('region=0,0,1,1&region=50,0,60,1&unit=percent', 'region', 'region 2 is outside: x + w and y + h must be at most 100%'),
))
@pytest.mark.parametrize('target', ('/blur', '/stats', '/pipeline?ops=blur'))
def test_wrong_units(server, query, parameter, words, target):
    """Refused by the parameters alone; in a form, whose picture comes first, as well."""
    joint = '&' if '?' in target else '?'
    problem = check_problem(server.post(target + joint + query, png(1)), 'bad-parameter', parameter)
    assert words in problem['detail']


def test_unit_in_a_form(server):
    body = form(('image"; filename="a.png', png(1)), ('region', '0.1,0.2,0.5,0.5'), ('unit', 'ratio'))
    expected = ask(server, f'{FILTER}&{areas.query("10%,20%,50%,50%")}', png(1)).content
    answer = server.post(FILTER, body, headers={'Content-Type': 'multipart/form-data; boundary=simple'})
    assert answer.status_code == 200 and answer.content == expected


def test_regions_of_a_form(server):
    parts = (('region', '5,5,9,9'), ('image"; filename="a.png', png(1)), ('region', 'ellipse:50%,50%,20%,20%'), ('invert', 'true'))
    answer = server.post(FILTER, form(*parts), headers={'Content-Type': 'multipart/form-data; boundary=simple'})
    wanted = ask(server, f'{FILTER}&{areas.query("5,5,9,9", "ellipse:50%,50%,20%,20%", invert="true")}', png(1))
    assert answer.status_code == 200 and answer.content == wanted.content


# --- wrong ones --------------------------------------------------------------------------------
def numbers(count):
    return ','.join(str(i * i % 97) for i in range(count))


FORMS, COUNT, NUMBER = 'it must be x,y,w,h', 'numbers, not', 'must be a decimal number'
EMPTY, OUTSIDE = 'is empty', 'is outside'
WRONG = {
    'no form': ('circle:1,2,3,4', FORMS), 'upper case': ('Ellipse:1,2,3,4', FORMS), 'two forms': ('ellipse:ellipse:1,2,3,4', NUMBER),
    'colon only': (':1,2,3,4', FORMS), 'space before': (' ellipse:1,2,3,4', FORMS),
    'nothing': ('', COUNT), 'no numbers': ('ellipse:', COUNT), 'three': ('1,2,3', COUNT), 'five': ('1,2,3,4,5', COUNT),
    'ellipse of 3': ('ellipse:1,2,3', COUNT), 'trailing comma': ('1,2,3,4,', COUNT),
    'two points': ('polygon:1,2,3,4', 'points of 2 numbers'), 'half a point': ('polygon:1,2,3,4,5,6,7', 'points of 2 numbers'),
    '65 points': (f'polygon:{numbers(130)}', 'points of 2 numbers'),
    'letters': ('a,b,c,d', NUMBER), 'missing': ('1,,3,4', NUMBER), 'space': ('1, 2,3,4', NUMBER), 'nan': ('nan,2,3,4', NUMBER),
    'inf': ('1,2,inf,4', NUMBER), 'hexadecimal': ('0x10,2,3,4', NUMBER), 'plus': ('+1,2,3,4', NUMBER),
    'unit': ('1px,2,3,4', NUMBER), 'two %': ('1%%,2,3,4', NUMBER), '% first': ('%1,2,3,4', NUMBER), '% alone': ('%,2,3,4', NUMBER),
    'semicolon': ('1,2,3,4;', NUMBER), 'overflow': ('1e999,2,3,4', NUMBER), '64 characters': ('0' * 63 + '1,2,3,4', NUMBER),
    'line end': ('1,2,3,4\n', NUMBER), 'not ASCII': ('1,2,3,４', NUMBER),
    'no width': ('1,2,0,4', EMPTY), 'no height': ('1,2,3,0%', EMPTY), 'negative width': ('1,2,-3,4', EMPTY),
    'minus 0': ('1,2,-0,4', EMPTY), 'flat ellipse': ('ellipse:1,2,3,0', EMPTY),
    'line': ('polygon:0,0,10,10,20,20', EMPTY), 'one point': ('polygon:5,5,5,5,5,5', EMPTY),
    'line in %': ('polygon:0%,0%,10%,5%,20%,10%', EMPTY),
    'negative': ('-1,2,3,4', OUTSIDE), 'negative polygon': ('polygon:-1,0,10,10,20,0', OUTSIDE), 'huge': ('1000001,2,3,4', OUTSIDE),
    'above 100%': ('101%,2,3,4', OUTSIDE), 'wider than 100%': ('0,0,100.1%,5', OUTSIDE), 'x + w': ('60%,0,50%,10%', OUTSIDE),
    'y + h': ('ellipse:0,60%,5,50%', OUTSIDE), 'polygon above 100%': ('polygon:0,0,101%,0,5,5', OUTSIDE),
}


@pytest.mark.parametrize('name', WRONG)
def test_wrong_regions(server, name):
    text, says = WRONG[name]
    for target in ('/blur', '/stats', '/pipeline'):
        query = areas.query(text) + ('&ops=sharpen' if target == '/pipeline' else '')
        problem = check_problem(server.post(f'{target}?{query}', png(1)), 'bad-parameter', 'region', says)
        assert problem['detail'].startswith('region is ')
    check_problem(server.post(f'/blur?{areas.query("1,2,3,4", text)}', png(1)), 'bad-parameter', 'region', says)


def test_too_many_regions(server):
    regions = ['1,1,2,2'] * 65
    check_problem(server.post(f'/blur?{areas.query(*regions)}', png(1)), 'bad-parameter', 'region', 'at most 64 regions')


def test_too_many_numbers(server):
    polygons = [f'polygon:{numbers(128)}'] * 9
    parts = [('region', polygon) for polygon in polygons]
    body = form(*parts, ('image"; filename="a.png', png(1)))
    answer = server.post('/blur', body, headers={'Content-Type': 'multipart/form-data; boundary=simple'})
    check_problem(answer, 'bad-parameter', 'region', 'at most 1024 numbers')


def test_a_wrong_region_in_a_form(server):
    parts = (('image"; filename="a.png', png(1)), ('region', '1,2,3'))
    answer = server.post('/blur', form(*parts), headers={'Content-Type': 'multipart/form-data; boundary=simple'})
    check_problem(answer, 'bad-parameter', 'region', COUNT)


@pytest.mark.parametrize('query,parameter', (
    ('feather=3', 'feather'), ('invert=true', 'invert'), ('invert=maybe&region=1,1,2,2', 'invert'),
    ('feather=0&region=1,1,2,2', 'feather'), ('feather=-1&region=1,1,2,2', 'feather'), ('feather=501&region=1,1,2,2', 'feather'),
    ('feather=nan&region=1,1,2,2', 'feather'), ('feather=2&feather=2&region=1,1,2,2', 'feather'),
    ('invert=true&invert=true&region=1,1,2,2', 'invert')))
def test_what_goes_with_regions(server, query, parameter):
    for target in ('/blur?', '/pixelate?', '/pipeline?ops=sharpen&'):
        check_problem(server.post(target + query, png(1)), 'bad-parameter', parameter)


def test_stats_have_no_soft_edges(server):
    check_problem(server.post('/stats?region=1,1,2,2&feather=2', png(1)), 'bad-parameter', 'feather')
    filtering.check_stats(ask(server, '/stats?region=1,1,2,2', png(1)).json(), UPRIGHT, inside=areas.mask('1,1,2,2', WIDTH, HEIGHT))
