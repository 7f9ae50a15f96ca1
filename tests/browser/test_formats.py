# SPDX-License-Identifier: MIT
"""The comparison of formats: pixels, bytes and time side by side, one of which is chosen."""

import re

import pytest
from selenium.webdriver.common.keys import Keys

FORMATS = {'jpeg': 'JPEG', 'webp': 'WebP', 'avif': 'AVIF', 'jxl': 'JPEG XL', 'gif': 'GIF', 'png': 'PNG'}


def written(server):
    return [name for name in FORMATS if name in server.get('/version').json()['formats']['writes']]


def compared(page):
    """Waits for the last card; the bytes of each format as the cards say them."""
    page.until(lambda: not page.js('return document.getElementById("compare-cards").hasAttribute("aria-busy")') and
               page.text('[data-format=png] strong'), what='the cards')
    return {name: page.text(f'[data-format={name}] strong') for name in FORMATS}


@pytest.fixture
def view(page):
    page.find('#compare-formats').click()
    compared(page)
    return page


def test_each_format_has_its_pixels_bytes_and_time(view, server):
    names = written(server)
    for name in names:
        card = f'[data-format={name}] '
        assert FORMATS[name] in view.text(card + 'h3')
        assert re.fullmatch(r'\d+ % of the picture, [\d.]+ ms', view.text(card + '.help'))
        assert view.js('return document.querySelector(arguments[0]).naturalWidth', card + 'img') == 960
    sizes = {name: len(view.download(f'[data-format={name}] a')[1]) for name in names}
    assert sizes == {name: pytest.approx(float(compared(view)[name].split()[0]) * 1000, abs=500) for name in names}
    bars = {name: view.js('return parseFloat(document.querySelector(arguments[0]).style.width)', f'[data-format={name}] .fill') for name in names}
    assert max(bars, key=bars.get) == max(sizes, key=sizes.get) and max(bars.values()) == 100


def test_cards_wait_without_broken_pictures(page):
    """A spinner stands where no picture is yet."""
    page.js("""const ask = window.fetch;
               window.fetch = (...given) => new Promise((go) => { window.goOn = () => go(ask(...given)); });""")
    page.find('#compare-formats').click()
    cards = page.all('.card')
    assert len(cards) == len(FORMATS) and all(card.get_attribute('aria-busy') == 'true' for card in cards)
    assert not any(page.js('return [...document.querySelectorAll(".card img")].map((one) => one.checkVisibility())'))
    for _ in FORMATS:
        page.until(lambda: page.js('const go = window.goOn; delete window.goOn; go?.(); return Boolean(go)'))
    compared(page)
    page.until(lambda: not page.all('.card[aria-busy]'), what='the pictures')


def test_a_format_that_the_server_lacks_says_so(view, server):
    for name in set(FORMATS) - set(written(server)):
        assert view.text(f'[data-format={name}] .help') == 'This server does not write it.'


def test_quality_changes_the_bytes(view):
    before = compared(view)
    view.set('#compare-quality', 20)
    assert view.text('#compare-value') == '20'
    view.until(lambda: compared(view)['jpeg'] != before['jpeg'], what='other bytes')
    assert float(compared(view)['jpeg'].split()[0]) < float(before['jpeg'].split()[0]) and compared(view)['png'] == before['png']


def test_one_is_used(view):
    view.set('#compare-quality', 40)
    view.find('[data-format=png] button').click()
    assert 'PNG' in view.settled('PNG') and 'format=png' in view.command() and 'quality' not in view.command()
    view.find('#compare-formats').click()
    view.set('#compare-quality', 40)
    view.find('[data-format=jpeg] button').click()
    view.settled('JPEG')
    assert 'format=jpeg&quality=40' in view.command() and view.value('#output-quality') == '40'
    view.find('#undo').click()
    view.settled('PNG')
    assert 'format=png' in view.command()


def test_keys_close_it_and_the_focus_returns(page):
    page.js('document.getElementById("compare-formats").focus()')
    page.keys(Keys.ENTER)
    page.until(lambda: page.find('#formats').is_displayed(), what='the comparison')
    assert page.js('return document.activeElement.closest("dialog") !== null')
    page.keys(Keys.ESCAPE)
    page.until(lambda: not page.find('#formats').is_displayed(), what='its end')
    assert page.focused('id') == 'compare-formats'


def test_statistics_have_no_format(page):
    page.choose('stats')
    page.settled('Statistics')
    assert not page.find('#compare-formats').is_displayed()
