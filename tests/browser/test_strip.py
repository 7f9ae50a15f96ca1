# SPDX-License-Identifier: MIT
"""Several pictures: a strip, what is hidden in all, and a zip of nothing but what was hidden."""

import io
import zipfile

import numpy
import pytest
from PIL import Image

import faces
import pictures
from test_hiding import begin, find, pixels

pytestmark = faces.needed


@pytest.fixture
def files(tmp_path):
    """Two pictures with faces, one without, and what is no picture; two have the same name."""
    (tmp_path / 'more').mkdir()
    content = {'group.jpg': faces.photograph(), 'more/group.jpg': faces.large(), 'none.png': pictures.png(pictures.photograph(320, 200)), 'text.jpg': b'no picture'}
    for name, data in content.items():
        (tmp_path / name).write_bytes(data)
    return [tmp_path / name for name in content]


@pytest.fixture
def strip(page, files):
    begin(page)
    page.upload('\n'.join(map(str, files)))
    page.until(lambda: len(page.all('.thumb')) == 4 and page.js('return document.getElementById("before").naturalWidth') == 500, what='the strip')
    return page


def hide_all(page):
    page.find('#hide-all').click()
    page.until(lambda: 'hidden.' in page.text('#strip-status'), what='the end')
    return page.text('#strip-status')


def unpacked(page):
    name, content = page.download('#zip')
    assert name == 'hidden.zip'
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        return {one: archive.read(one) for one in archive.namelist()}


def zip_there(page):
    return page.js('const link = document.getElementById("zip"); return link.checkVisibility() && Boolean(link.getAttribute("href"))')


def test_one_zip_of_what_was_hidden(strip):
    assert not zip_there(strip)
    sentence = hide_all(strip)
    assert sentence == '2 of 4 hidden. none.png: nothing found, not in the zip. text.jpg: failed, Unsupported image.'
    content = unpacked(strip)
    assert list(content) == ['group-hidden.jpg', 'group-hidden-2.jpg']
    after = pixels(content['group-hidden.jpg'])
    for left, top, right, bottom in faces.reference():
        assert after[int(top + bottom) // 2, int(left + right) // 2].max() < 12
    assert [button.get_attribute('class') for button in strip.all('.thumb')] == ['thumb done', 'thumb done', 'thumb bad', 'thumb bad']


def test_pictures_keep_what_was_marked_in_them(strip, server, files):
    """Found and corrected by hand in the one that is open, searched in the others."""
    find(strip, 'faces')
    strip.settled('500 ×')
    strip.find('#region-list .chip').click()
    strip.settled('500 ×')
    command = strip.command()
    marked = [text for text in strip.regions()][1:]
    strip.all('.thumb')[2].click()
    strip.until(lambda: strip.js('return document.getElementById("before").naturalWidth') == 320)
    assert strip.regions() == []
    strip.drag((0.2, 0.2), (0.6, 0.6))
    strip.settled('320 ×')
    strip.all('.thumb')[0].click()
    strip.settled('500 ×')
    assert strip.command() == command and strip.text('#region-list .chip').endswith('kept')
    assert hide_all(strip).startswith('3 of 4 hidden.')
    content = unpacked(strip)
    query = '&'.join(f'region={text}' for text in marked)
    assert content['group-hidden.jpg'] == server.post(f'/redact?{query}', files[0].read_bytes()).content
    assert pixels(content['none-hidden.png'])[80, 128].max() == 0


def test_a_change_takes_the_zip_away(strip):
    hide_all(strip)
    assert zip_there(strip)
    strip.set('#look-solid-fill', 'ffffff')
    assert not zip_there(strip) and not strip.all('.thumb.done')
    hide_all(strip)
    after = pixels(unpacked(strip)['group-hidden.jpg'])
    assert after.reshape(-1, 3).min(axis=1).max() > 250, 'white boxes'
    strip.find('#add').click()
    assert not zip_there(strip)


def test_what_does_not_say_that_it_hid_is_not_in_the_zip(strip):
    """The daemon counts what it found; an answer without the count is not believed."""
    strip.js("""const ask = window.fetch;
                window.fetch = async (...given) => {
                    const answer = await ask(...given);
                    const headers = new Headers(answer.headers);
                    headers.delete('X-Regions');
                    return new Response(await answer.blob(), { status: answer.status, headers });
                };""")
    assert hide_all(strip).startswith('0 of 4 hidden.') and not zip_there(strip)


def test_only_hiding_has_a_zip(strip):
    hide_all(strip)
    strip.choose('blur')
    strip.settled('500 ×')
    assert not strip.find('#hide-all').is_displayed() and not zip_there(strip)
    assert len(strip.all('.thumb')) == 4
    strip.choose('redact')
    assert strip.find('#hide-all').is_displayed() and not zip_there(strip)


def test_one_picture_has_no_strip(strip, folder):
    strip.upload(folder / 'photo.jpg')
    strip.until(lambda: not strip.find('#strip').is_displayed(), what='no strip')
    strip.find('[data-sample=Pass]').click()
    assert not strip.find('#strip').is_displayed()


def test_the_daemon_is_gone(page, start_daemon, downloads, driver, files):
    """Each failure is named, and there is no zip."""
    import browser
    own = start_daemon('--gpus', 'none')
    alone = begin(browser.Playground(driver, own.url(''), downloads))
    alone.upload('\n'.join(map(str, files)))
    alone.until(lambda: len(alone.all('.thumb')) == 4)
    own.stop()
    assert hide_all(alone).count('failed, no answer') == 4 and not zip_there(alone)
    alone.driver.get('about:blank')
