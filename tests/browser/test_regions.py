# SPDX-License-Identifier: MIT
"""Regions drawn, moved, resized and deleted, by mouse, touch and keyboard; and that the filter acts there."""

import io
import json
import re

import numpy
import pytest
from PIL import Image
from selenium.webdriver.common.keys import Keys

import browser
import pictures

SHAPES = ('rectangle', 'ellipse', 'polygon')


@pytest.fixture
def page(page, folder):
    """With a picture of 320x200 whose answer is a PNG, so that pixels outside stay unchanged."""
    page.upload(folder / 'photo.jpg')
    page.settled('320 ×')
    page.set('#output-format', 'png')
    page.settled('PNG')
    return page


def numbers(text):
    return [int(n) for n in re.findall(r'\d+', text)]


def near(found, wanted, by=4):
    return len(found) == len(wanted) and all(abs(a - b) <= by for a, b in zip(found, wanted))


def only(page):
    (text,) = page.regions()
    assert f'region={text}' in page.command().replace("'", '')
    return text


def changed(page, folder):
    """Where the answer differs from the picture: left, top, right, bottom."""
    before = numpy.asarray(Image.open(folder / 'photo.jpg').convert('RGB')).astype(int)
    after = numpy.asarray(Image.open(io.BytesIO(page.download()[1])).convert('RGB')).astype(int)
    ys, xs = numpy.nonzero(numpy.abs(before - after).max(axis=2) > 6)  # decoders of JPEG may differ by some
    return [xs.min(), ys.min(), xs.max() + 1, ys.max() + 1]


def draw_polygon(page, *places):
    page.tool('polygon')
    for place in places:
        page.click_at(*place)


# --- mouse -------------------------------------------------------------------------------------------
@pytest.mark.parametrize('shape', ('rectangle', 'ellipse'))
def test_boxes_by_mouse(page, folder, shape):
    page.tool(shape)
    page.drag((0.75, 0.8), (0.25, 0.3))  # from any corner to any other
    page.settled()
    text = only(page)
    assert text.startswith('ellipse:') == (shape == 'ellipse') and near(numbers(text), [80, 60, 160, 100])
    assert near(changed(page, folder), [80, 60, 240, 160], 8)
    assert page.find(f'[data-tool={shape}]').get_attribute('aria-pressed') == 'true', 'the tool stays'
    assert page.text('#region-count') == '1 marked'
    page.drag((0.05, 0.05), (0.2, 0.2))
    page.settled()
    assert len(page.regions()) == 2
    page.keys(Keys.ESCAPE)
    assert page.find('[data-tool=select]').get_attribute('aria-pressed') == 'true'


@pytest.mark.parametrize('end', ('first point', 'double click', 'Enter', 'button'))
def test_a_polygon_by_mouse(page, folder, end):
    draw_polygon(page, (0.5, 0.2), (0.8, 0.8), (0.2, 0.8))
    if end == 'first point':
        page.click_at(0.502, 0.2)
    elif end == 'double click':
        x, y = page.place(0.2, 0.8)
        for clicks in (1, 2):
            page.mouse('mousePressed', x, y, clicks)
            page.mouse('mouseReleased', x, y, clicks)
    elif end == 'Enter':
        page.keys(Keys.ENTER)
    else:
        page.find('#finish').click()
    page.settled()
    text = only(page)
    assert text.startswith('polygon:') and near(numbers(text), [160, 40, 256, 160, 64, 160])
    assert near(changed(page, folder), [64, 40, 256, 160], 12)


def test_moved_and_resized_by_mouse(page):
    page.tool('rectangle')
    page.drag((0.2, 0.2), (0.4, 0.4))
    page.click_at(0.3, 0.3)
    page.drag((0.3, 0.3), (0.5, 0.5))
    page.settled()
    assert near(numbers(only(page)), [128, 80, 64, 40])
    page.drag((0.6, 0.6), (0.9, 0.9))  # its lower right corner
    page.settled()
    assert near(numbers(only(page)), [128, 80, 160, 100])
    page.drag((0.5, 0.6), (1.5, 1.4))  # not beyond the picture
    page.settled()
    assert near(numbers(only(page)), [160, 100, 160, 100])


def test_a_point_of_a_polygon_is_moved(page):
    draw_polygon(page, (0.5, 0.2), (0.8, 0.8), (0.2, 0.8))
    page.find('#finish').click()
    page.drag((0.5, 0.2), (0.3, 0.1))
    page.settled()
    assert near(numbers(only(page)), [96, 20, 256, 160, 64, 160])


def test_a_click_is_no_region(page):
    page.tool('rectangle')
    page.click_at(0.5, 0.5)
    assert page.regions() == []
    draw_polygon(page, (0.5, 0.2), (0.8, 0.8))
    page.tool('select')
    assert page.regions() == [] and page.text('#region-count') == 'Whole picture'


def test_several_are_listed_and_deleted(page):
    for shape, at in (('rectangle', 0.1), ('ellipse', 0.4), ('rectangle', 0.7)):
        page.tool(shape)
        page.drag((at, 0.1), (at + 0.2, 0.5))
    page.settled()
    assert len(page.regions()) == 3 and page.command().count('region=') == 3
    page.find('#region-list li:nth-child(2) .away').click()
    page.settled()
    assert len(page.regions()) == 2 and 'ellipse' not in page.command()
    page.click_at(0.2, 0.3)
    page.find('#delete').click()
    page.settled()
    assert near(numbers(only(page)), [224, 20, 64, 80])
    page.find('#clear').click()
    page.settled()
    assert page.regions() == [] and 'region' not in page.command() and not page.find('#clear').is_enabled()


def test_invert_and_feather(page, folder):
    page.find('#region-group summary').click()
    page.set('#region-feather', 4)
    page.settled()
    assert 'feather' not in page.command(), 'nothing to soften yet'
    page.tool('rectangle')
    page.drag((0.25, 0.25), (0.75, 0.75))
    page.find('#region-invert').click()
    page.settled()
    assert 'invert=true' in page.command() and 'feather=4' in page.command()
    assert changed(page, folder)[0] < 40


def test_redaction_hides(page):
    page.choose('redact')
    page.tool('rectangle')
    page.drag((0.25, 0.25), (0.75, 0.75))
    page.settled()
    assert page.command().count('/redact?region=') == 1 and 'mode' not in page.command()
    after = numpy.asarray(Image.open(io.BytesIO(page.download()[1])).convert('L')).astype(int)[64:140, 96:224]
    assert after.max() == 0, 'black'
    page.look('pixelate')
    page.settled()
    assert '/pixelate?' in page.command() and 'mode=redact' in page.command()
    after = numpy.asarray(Image.open(io.BytesIO(page.download()[1])).convert('L')).astype(int)[64:140, 96:224]
    assert 0 < after.max() - after.min() < 90, 'tiles of nearly one colour'


def test_fills_of_a_redaction(page):
    """A name, or a colour from a control of its own; the state in the address brings both back."""
    fill, colour = '#look-solid-fill', '#look-solid-fill + [type=color]'
    page.choose('redact')
    page.tool('rectangle')
    page.drag((0.25, 0.25), (0.75, 0.75))
    page.settled()
    assert 'fill=' not in page.command() and not page.find(colour).is_displayed()
    page.set(fill, 'ring')
    page.settled()
    assert 'fill=ring' in page.command()
    page.set(fill, 'colour')
    page.set(colour, '#c02040')
    page.settled()
    assert 'fill=c02040' in page.command()
    hidden = numpy.asarray(Image.open(io.BytesIO(page.download()[1])).convert('RGB')).astype(int)[80:120, 120:200]
    assert numpy.abs(hidden.mean((0, 1)) - (0xc0, 0x20, 0x40)).max() < 12
    page.set(fill, 'ffffff')
    page.settled()
    assert 'fill=ffffff' in page.command() and not page.find(colour).is_displayed()
    fill, colour = '#look-blur-fill', '#look-blur-fill + [type=color]'
    page.open(state='redact?look=blur&fill=104080&region=10,10,90,90')
    page.settled()
    assert page.value(fill) == 'colour' and page.value(colour) == '#104080' and 'fill=104080' in page.command()


def test_statistics_of_a_region(page, server, folder):
    page.choose('stats')
    page.tool('rectangle')
    page.drag((0.25, 0.25), (0.75, 0.75))
    page.settled('Statistics')
    wanted = json.loads(server.post(f'/stats?region={only(page)}', (folder / 'photo.jpg').read_bytes()).text)
    assert f"{wanted['channels'][0]['mean']:.1f}"[:-1] in page.text('#statistics tbody')


# --- touch ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize('shape', ('rectangle', 'ellipse'))
def test_boxes_by_touch(driver, server, downloads, shape):
    driver.execute_cdp_cmd('Emulation.setTouchEmulationEnabled', {'enabled': True})
    try:
        page = browser.Playground(driver, server.url(''), downloads).open(360, 740, touch=True)
        page.settled()
        page.find(f'[data-tool={shape}]').click()
        page.touch_drag((0.25, 0.25), (0.75, 0.75))
        page.settled()
        assert near(numbers(page.regions()[0]), [240, 160, 480, 320], 12)
        page.touch_drag((0.5, 0.5), (0.5, 0.5))  # a tap selects
        page.touch_drag((0.5, 0.5), (0.6, 0.6))
        page.settled()
        assert near(numbers(page.regions()[0]), [336, 224, 480, 320], 20)
        assert page.wrongs() == []
    finally:
        driver.execute_cdp_cmd('Emulation.setTouchEmulationEnabled', {'enabled': False})


# --- keyboard --------------------------------------------------------------------------------------------
@pytest.mark.parametrize('shape', SHAPES)
def test_by_keyboard(page, shape):
    page.js('document.querySelector(arguments[0]).focus()', f'[data-tool={shape}]')
    page.keys(Keys.ENTER)
    page.js('document.querySelector("#add").focus()')
    page.keys(Keys.ENTER)
    page.settled()
    begin = numbers(only(page))
    assert 'Region 1' in page.focused()
    page.keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    page.settled()
    moved = [value + (2 if i % 2 == 0 else 1) for i, value in enumerate(begin)]
    if shape != 'polygon':
        moved = [begin[0] + 2, begin[1] + 1, *begin[2:]]
    assert numbers(only(page)) == moved and 'Region 1' in page.focused(), 'the focus stays'
    page.keys(Keys.TAB)
    assert page.focused().startswith('Corner 1')
    page.keys(Keys.ARROW_LEFT, shift=True)
    page.settled()
    resized = numbers(only(page))
    assert resized[0] == moved[0] - 10 and (shape == 'polygon' or resized[2] == moved[2] + 10)
    page.keys(Keys.TAB, shift=True)
    page.keys(Keys.DELETE)
    page.settled()
    assert page.regions() == []


def test_points_of_a_polygon_are_deleted_by_keyboard(page):
    draw_polygon(page, (0.2, 0.2), (0.8, 0.2), (0.8, 0.8), (0.2, 0.8))
    page.find('#finish').click()
    page.keys(Keys.TAB)
    page.keys(Keys.DELETE)
    page.settled()
    assert len(numbers(only(page))) == 6 and page.focused().startswith('Corner 1')
    page.keys(Keys.DELETE)
    page.settled()
    assert page.regions() == [], 'a polygon has three points'


def test_escape_gives_up(page):
    draw_polygon(page, (0.2, 0.2), (0.8, 0.2), (0.8, 0.8))
    page.keys(Keys.ESCAPE)
    assert page.regions() == [] and page.find('[data-tool=select]').get_attribute('aria-pressed') == 'true'
    assert not page.find('#finish').is_displayed()
    page.tool('ellipse')
    page.keys(Keys.ESCAPE)
    assert page.find('[data-tool=select]').get_attribute('aria-pressed') == 'true'


def test_a_new_picture_has_no_regions(page):
    page.find('#add').click()
    page.settled()
    page.give('drop', pictures.small_png(), 'other.png', 'image/png')
    page.settled('40 ×')
    assert page.regions() == [] and 'region' not in page.command()


def test_turned_pictures_are_upright(page, tmp_path):
    """Regions are places in the displayed picture, for each stored orientation."""
    exif = Image.Exif()
    exif[0x0112] = 6
    path = tmp_path / 'turned.jpg'
    Image.fromarray(pictures.photograph(320, 200)).save(path, exif=exif)
    page.upload(path)
    assert '200 × 320' in page.settled('200 ×')
    box = page.js('const box = document.querySelector("#overlay").getBoundingClientRect(); return box.width / box.height')
    assert abs(box - 200 / 320) < 0.01
    page.tool('rectangle')
    page.drag((0, 0), (0.5, 0.25))
    page.settled()
    assert near(numbers(only(page)), [0, 0, 100, 80])
