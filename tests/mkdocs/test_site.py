# SPDX-License-Identifier: MIT
"""The built site (make site) in Chromium, on a desktop and on a phone: pictures are there, nothing is wider than the screen, the search
finds, and no other host is asked. `make check-site` runs it."""

import contextlib
import functools
import http.server
import json
import pathlib
import sys
import threading
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/browser'))
import browser  # noqa: E402 pylint: disable=wrong-import-position

SITE = ROOT / 'build/site'
PAGES = ('index.html', 'docs/index.html', 'docs/gallery.html', 'docs/start/web.html', 'docs/api.html', 'docs/api/redaction.html', 'docs/configuration.html',
         'made/api/operations.html', 'made/api/parameters.html', 'docs/performance.html', 'docs/adr/0001-record-decisions.html')
SIZES = {'desktop': (1280, 900), 'phone': (390, 844)}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served():
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Quiet, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f'http://127.0.0.1:{server.server_address[1]}'
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope='module')
def site(tmp_path_factory):
    if not browser.there() or not (SITE / 'index.html').exists():
        pytest.skip('no Chromium, or no site: make site')
    with served() as origin, browser.running(tmp_path_factory.mktemp('downloads'), requests=True) as driver:
        driver.execute_cdp_cmd('Network.enable', {})
        yield driver, origin


def show(site, page, size):
    driver, origin = site
    width, height = SIZES[size]
    driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride',
                           {'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': size == 'phone'})
    driver.get(f'{origin}/{page}')
    return driver


@pytest.mark.parametrize('size', SIZES)
@pytest.mark.parametrize('page', PAGES)
def test_a_page(site, page, size):
    driver = show(site, page, size)
    # The script of a page arranges its tables.
    wide = driver.execute_script('return document.documentElement.scrollWidth')
    assert wide <= SIZES[size][0], f'{wide} pixels wide'
    # What is wider than the screen scrolls in a box of its own.
    outside = driver.execute_script('''
        const found = []
        for (const one of document.querySelectorAll('.md-content p, .md-content pre, .md-content img, .md-content li, .md-content h1, .md-content h2')) {
          if (one.closest('.md-typeset__scrollwrap, pre') && one.tagName != 'PRE') continue
          const box = one.getBoundingClientRect()
          if (box.width && (box.right > innerWidth + 1 || box.left < -1)) found.push(one.tagName + ' ' + one.textContent.slice(0, 60))
        }
        return found''')
    assert not outside
    broken = driver.execute_async_script('''
        const done = arguments[0], all = [...document.images]
        for (const one of all) one.loading = 'eager'
        Promise.allSettled(all.map(one => one.decode())).then(() => done(all.filter(one => !one.naturalWidth).map(one => one.src)))''')
    assert not broken
    small = driver.execute_script('''
        return Math.min(...[...document.querySelectorAll('.md-content :is(p, li, td, code, figcaption)')].map(one => parseFloat(getComputedStyle(one).fontSize)))''')
    assert small >= 11.5


def test_the_gallery_has_pictures(site):
    driver = show(site, 'docs/gallery.html', 'desktop')
    pairs = driver.execute_script('''return [...document.querySelectorAll('.pair')].map(
        one => [one.querySelectorAll('img').length, one.querySelectorAll('pre').length])''')
    lines = sum(line.startswith('    curl') for line in (ROOT / 'docs/gallery.md').read_text().splitlines())
    assert len(pairs) == lines and lines >= 40
    assert all(images + blocks >= 2 for images, blocks in pairs)


@pytest.mark.parametrize('where', ('server', 'disk'))
def test_the_search(site, where):
    driver = show(site, 'index.html', 'desktop')
    if where == 'disk':
        driver.get((SITE / 'index.html').as_uri())
    field = driver.find_element('css selector', '.md-search__input')
    field.click()
    field.send_keys('BlurHash')
    end = time.monotonic() + 20
    while not driver.execute_script('return document.querySelectorAll(".md-search-result__item").length'):
        assert time.monotonic() < end, 'nothing is found'
        time.sleep(0.1)
    assert 'placeholder' in driver.execute_script('return document.querySelector(".md-search-result__list").innerHTML')


def test_no_other_host_is_asked(site):
    """All that the pages of the other tests made the browser fetch."""
    driver, origin = site
    driver.get_log('performance')
    for page in PAGES:
        show(site, page, 'desktop')
    events = [json.loads(entry['message'])['message'] for entry in driver.get_log('performance')]
    asked = [event['params']['request']['url'] for event in events if event['method'] == 'Network.requestWillBeSent']
    assert len(asked) > len(PAGES)
    assert not [url for url in asked if not url.startswith((origin, 'data:', 'blob:'))]
