# SPDX-License-Identifier: MIT
"""Uses of the page: pictures in, parameters, before and after, errors, files and commands out."""

import io
import subprocess
import time

import pytest
from PIL import Image
from selenium.webdriver.common.keys import Keys

import browser
import pictures

OWN = '#own > .panel:not([hidden]) '  # where the parameters of the chosen filter are
ODD = "it's a $HOME; `id`, \"so\".png"


def same(page, folder, name, content, **environment):
    """Runs the displayed command in a shell in the picture's folder: it must give the bytes that the page
    got."""
    (folder / name).write_bytes(content)
    done = subprocess.run(['bash', '-euc', page.command()], cwd=folder, capture_output=True, timeout=60, check=False,
                          env={'PATH': '/usr/bin:/bin', 'HOME': '/nonexistent', **environment})
    assert done.returncode == 0, (page.command(), done.stderr)
    (made,) = (path for path in folder.iterdir() if path.name not in (name, 'tokens'))
    assert made.read_bytes() == page.download()[1]
    return page.command()


def picture_of(content):
    image = Image.open(io.BytesIO(content))
    image.load()
    return image


# --- pictures in ---------------------------------------------------------------------------------
def test_it_begins_with_a_sample(page):
    assert '960 × 640 JPEG' in page.text('#facts') and ' · cpu/' in page.text('#facts')
    assert page.text('#version') and page.text('#backends').startswith('cpu/')


@pytest.mark.parametrize('number,format', ((0, 'PNG'), (1, 'JPEG'), (2, 'JPEG'), (3, 'PNG')))
def test_samples(page, number, format):
    page.all('#samples button')[number].click()
    assert f'960 × 640 {format}' in page.settled(format)
    before = page.pixels('#frame').resize((64, 40))
    assert len(before.getcolors(4096)) > 100, 'something is on it'


def test_upload(page, folder):
    page.upload(folder / 'photo.jpg')
    assert '320 × 200 JPEG' in page.settled('320 ×')
    name, content = page.download()
    assert name == 'photo-blur.jpg' and picture_of(content).size == (320, 200)
    page.upload(folder / ODD)
    assert '320 × 200 PNG' in page.settled('PNG')


@pytest.mark.parametrize('event', ('paste', 'drop'))
def test_paste_and_drop(page, event):
    page.give(event, pictures.small_png(), 'given.png', 'image/png')
    assert '40 × 30 PNG' in page.settled('40 ×') and '@given.png' in page.command()


def test_what_is_no_picture_is_said_once(page, folder):
    page.upload(folder / 'text.jpg')
    assert 'Unsupported' in page.refused()
    assert 'cannot display' not in page.js('return document.body.innerText')
    page.choose('redact')
    page.until(lambda: page.all('#finds button'))[0].click()
    time.sleep(0.3)
    assert page.regions() == [], 'nothing is searched in it'
    page.choose('blur')
    assert not page.find('#tools').is_displayed() and not page.find('#download').is_displayed()
    page.upload(folder / 'photo.jpg')
    assert '320 × 200' in page.settled('320 ×') and page.find('#tools').is_displayed()


def test_what_the_browser_cannot_show_is_shown_as_the_daemon_reads_it(page, folder):
    page.js("""const decode = HTMLImageElement.prototype.decode;
               let first = true;
               HTMLImageElement.prototype.decode = function () {
                   const fails = first;
                   first = false;
                   return fails ? Promise.reject(new Error('no such format here')) : decode.call(this);
               };""")
    page.upload(folder / 'photo.jpg')
    assert '320 × 200' in page.settled('320 ×') and page.find('#frame').is_displayed()
    assert page.js('return performance.getEntriesByType("resource").filter((entry) => entry.name.includes("/rotate?angle=0&format=jpeg")).length') == 1


# --- before and after ------------------------------------------------------------------------------
def halves(page):
    image = page.pixels('#frame')
    w, h = image.size
    return [image.crop((int(w * a), h // 3, int(w * b), h // 2)) for a, b in ((0.1, 0.3), (0.7, 0.9))]


def detail(image):
    grey = image.convert('L')
    pixels = grey.load()
    return sum(abs(pixels[x, y] - pixels[x + 1, y]) for x in range(grey.width - 1) for y in range(grey.height)) / grey.width / grey.height


def test_the_slider(page):
    left, right = (detail(half) for half in halves(page))
    assert left > 3 * right, 'sharp before, blurred after'
    page.set('#split', 0)
    assert detail(halves(page)[0]) < left / 3
    page.set('#split', 100)
    assert detail(halves(page)[1]) > 3 * right
    page.js('document.querySelector("#split").focus()')
    page.keys(Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert float(page.value('#split')) == 1 and page.js('return document.querySelector("#frame").style.getPropertyValue("--split")') == '1%'
    x, y = page.place(0.01, 1)
    page.mouse('mousePressed', x, y)
    page.mouse('mouseMoved', *page.place(0.75, 1))
    page.mouse('mouseReleased', *page.place(0.75, 1))
    assert 70 < float(page.value('#split')) < 80


# --- parameters --------------------------------------------------------------------------------------
def test_every_filter_answers(page):
    for name in ('sharpen', 'convolve', 'pixelate', 'redact', 'pipeline', 'blur'):
        page.choose(name)
        if name == 'redact':
            page.find('#add').click()
        page.settled()
        assert f'/{name}' in page.command()
        assert len(page.all('#runs .stages > div')) == 6
        assert not page.find('#problem').is_displayed()


def test_number_and_slider_follow_each_other(page):
    number, slider = OWN + '[data-parameter=sigma] input', OWN + '[data-parameter=sigma] [type=range]'
    page.set(number, 30)
    page.settled()
    assert 'sigma=30' in page.command() and 600 < int(page.value(slider)) < 720
    page.js('document.querySelector(arguments[0]).focus()', slider)
    page.keys(Keys.HOME)
    page.settled()
    assert page.value(number) == '0.1' and 'sigma=0.1' in page.command()
    page.set(number, 1.5)
    page.settled()
    assert '?' not in page.command(), 'defaults are not sent'
    page.find('#reset').click()
    page.settled()
    assert 'sigma=8' in page.command()


def test_the_answer_group(page):
    page.set('#output-format', 'png')
    assert '960 × 640 PNG' in page.settled('PNG')
    name, content = page.download()
    assert name == 'landscape-blur.png' and picture_of(content).format == 'PNG'
    assert 'format=png' in page.command() and '-o landscape-blur.png' in page.command()


def test_a_pipeline(page):
    page.choose('pipeline')
    page.settled()
    assert 'ops=blur:sigma=2|convolve:preset=emboss' in page.command()
    page.find('#add-step').click()
    page.set('.step:last-child select', 'pixelate')
    page.settled()
    assert 'emboss|pixelate' in page.command()
    page.find('.step:last-child [aria-label="Move this step up"]').click()
    page.find('.step:first-child [aria-label="Remove this step"]').click()
    page.settled()
    assert 'ops=pixelate|convolve:preset=emboss' in page.command()
    same_as_shown = page.download()[1]
    assert picture_of(same_as_shown).size == (960, 640)


def test_kernel_or_preset(page):
    page.choose('convolve')
    page.set(OWN + 'textarea', '1,2,1')
    page.settled()
    assert 'kernel=1,2,1' in page.command() and 'preset' not in page.command()
    page.set(OWN + 'select', 'box')
    page.settled()
    assert 'preset=box' in page.command() and 'kernel' not in page.command()


def test_on_a_gpu(driver, start_gpu, downloads):
    """Where one serves, its name and its stages are seen."""
    page = browser.Playground(driver, start_gpu().url(''), downloads).open()
    assert ' · cuda:0' in page.settled()
    assert page.text('#backends').startswith('cuda') and len(page.all('#backends li')) == 2
    assert {'to the GPU', 'from the GPU'} <= {term.get_attribute('textContent') for term in page.all('#runs dt')}
    page.driver.get('about:blank')


def test_the_same_on_the_cpu(driver, start_gpu, downloads):
    """Next to the GPU's answer: stages on one scale, and whether the bytes are the same."""
    page = browser.Playground(driver, start_gpu().url(''), downloads).open()
    page.settled()
    page.find('#timing summary').click()
    page.find('#compare').click()
    page.until(lambda: page.text('#compared'), what='the comparison')
    assert page.text('#compared') == 'Both answers have the same bytes.'
    first, second = [name.get_attribute('textContent') for name in page.all('#runs h2')]
    assert first == 'cuda:0' and second.startswith('cpu/')
    assert 'backend=' not in page.command()
    page.set('#input-fields select', 'cpu')  # the first one says where
    assert ' · cpu/' in page.settled() and 'backend=cpu' in page.command()
    assert not page.find('#compare').is_displayed() and len(page.all('#runs h2')) == 1
    page.driver.get('about:blank')


def test_nothing_to_compare_without_a_gpu(page):
    assert not page.find('#compare').is_displayed()


def test_statistics(page):
    page.choose('stats')
    page.settled('Statistics')
    assert page.find('#statistics svg').is_displayed() and len(page.all('#statistics tbody tr')) == 3
    assert not page.find('#after').is_displayed() and not page.find('#download').is_displayed()
    assert '/stats' in page.command() and ' -o ' not in page.command()
    page.choose('blur')
    page.settled()
    assert page.find('#after').is_displayed() and not page.find('#statistics').is_displayed()


def test_placeholder(page):
    page.choose('placeholder')
    page.settled('Placeholder')
    cells = [cell.text for cell in page.all('#statistics td')]
    assert len(cells) == 4 and len(cells[0]) == 28 and cells[2].startswith('#') and len(cells[3]) == 7
    assert page.find('#after').is_displayed() and page.js('return document.getElementById("after").src').startswith('data:image/png;base64,')
    assert '/placeholder' in page.command() and ' -o ' not in page.command()
    page.choose('blur')
    page.settled()
    assert not page.js('return document.getElementById("after").src').startswith('data:')


def test_requests_that_are_outdated_are_cancelled(page):
    """A burst of changes ends in the answer to the last."""
    for sigma in range(20, 60):
        page.set(OWN + '[data-parameter=sigma] input', sigma)
    page.settled()
    asked = page.js('return performance.getEntriesByType("resource").filter((entry) => entry.name.includes("/blur")).length')
    assert asked < 10 and 'sigma=59' in page.command()


# --- errors ------------------------------------------------------------------------------------------
def test_a_refusal_is_shown_at_its_parameter(page):
    number = OWN + '[data-parameter=sigma] input'
    page.set(number, 0)
    assert 'sigma is 0, it must be from 0.1 to 500 pixels' in page.refused()
    assert page.find(number).get_attribute('aria-invalid') == 'true'
    assert 'must be from' in page.text(OWN + '[data-parameter=sigma] .wrong')
    assert not page.find('#download').is_displayed() and not page.find('#timing').is_displayed()
    page.set(number, 3)
    page.settled()
    assert not page.find('#problem').is_displayed() and page.find(number).get_attribute('aria-invalid') is None


def test_a_refusal_opens_the_group_of_its_parameter(page):
    page.set('#output-quality', 101)
    page.refused()
    assert page.find('#output-quality').is_displayed() and page.find('#output-quality').get_attribute('aria-invalid') == 'true'


def test_a_refusal_of_a_step(page):
    page.choose('pipeline')
    page.set('.step:first-child input', 1000)
    assert 'step 1' in page.refused()
    assert page.find('.step:first-child input').get_attribute('aria-invalid') == 'true'
    assert page.find('.step:last-child input').get_attribute('aria-invalid') is None


def test_a_broken_picture(page, folder):
    page.upload(folder / 'broken.jpg')
    assert 'Corrupt' in page.refused() or 'damaged' in page.refused()


def test_a_server_that_is_gone(driver, start_daemon, downloads):
    own = start_daemon('--gpus', 'none')
    page = browser.Playground(driver, own.url(''), downloads).open()
    page.settled()
    own.stop()
    page.choose('sharpen')
    assert 'could not be reached' in page.refused()
    page.driver.get('about:blank')


# --- tokens --------------------------------------------------------------------------------------------
def test_a_token(driver, start_daemon, downloads, tmp_path):
    path = tmp_path / 'tokens'
    path.write_text('a-token-for-the-playground\n')
    own = start_daemon('--gpus', 'none', '--token-file', path)
    page = browser.Playground(driver, own.url(''), downloads).open()
    assert 'bearer token' in page.refused() and page.find('#token').is_displayed()
    page.find('#token').send_keys('a-token-for-the-playground')
    page.settled()
    assert 'a-token' not in page.command() and 'Bearer $TOKEN' in page.command()
    same(page, tmp_path, *page.download('#original'), TOKEN='a-token-for-the-playground')
    assert page.js('return [localStorage.length, sessionStorage.length, document.cookie]') == [0, 0, '']
    page.driver.get('about:blank')


# --- commands and files ----------------------------------------------------------------------------------
def test_the_command_for_a_sample(page, tmp_path):
    command = same(page, tmp_path, *page.download('#original'))
    assert command.startswith('curl -f --data-binary @landscape.jpg ') and command.endswith(' -o landscape-blur.jpg')


@pytest.mark.parametrize('name', ('photo.jpg', ODD, '-o.jpg'))
def test_the_command_for_hard_names(page, folder, tmp_path, name):
    page.upload(folder / name)
    page.settled('320 ×')
    assert not page.find('#original').is_displayed()
    same(page, tmp_path, name, (folder / name).read_bytes())


@pytest.mark.parametrize('filter', ('convolve', 'redact', 'pipeline'))
def test_the_command_for_hard_values(page, folder, tmp_path, filter):
    page.upload(folder / 'photo.jpg')
    page.settled('320 ×')
    page.choose(filter)
    if filter == 'convolve':
        page.set(OWN + 'textarea', '[[0, -1, 0],\n [-1, 5, -1],\n [0, -1, 0]]')
    page.tool('ellipse')
    page.drag((0.2, 0.2), (0.6, 0.7))
    page.settled()
    same(page, tmp_path, 'photo.jpg', (folder / 'photo.jpg').read_bytes())


@pytest.mark.parametrize('name', ('photo.jpg', ODD))
def test_the_command_for_what_is_too_long_for_a_query(page, folder, tmp_path, name):
    page.upload(folder / name)
    page.settled('320 ×')
    page.choose('convolve')
    page.set(OWN + 'textarea', '[[0,-1,0],[-1,5,-1],[0,-1,0' + ' ' * 3500 + ']]')
    page.find('#add').click()
    page.settled()
    assert '-F ' in same(page, tmp_path, name, (folder / name).read_bytes()) and '--form-string' in page.command()


def test_copy(page):
    page.driver.execute_cdp_cmd('Browser.grantPermissions', {'permissions': ['clipboardReadWrite', 'clipboardSanitizedWrite']})
    page.find('#copy').click()
    page.until(lambda: page.text('#copy') == 'Copied')
    assert page.js('return getSelection().toString()') == page.command()
