# SPDX-License-Identifier: MIT
"""Debian's Chromium, driven through its chromedriver."""

import contextlib
import io
import json
import os
import time

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

BROWSER = '/usr/bin/chromium'
DRIVER = '/usr/bin/chromedriver'
# Faults of the page before a test can look: violations of its policy, errors of its script.
LISTEN = """
window.wrongs = [];
addEventListener('securitypolicyviolation', (event) => wrongs.push(`policy: ${event.violatedDirective} ${event.blockedURI}`));
addEventListener('error', (event) => wrongs.push(`error: ${event.message}`));
addEventListener('unhandledrejection', (event) => wrongs.push(`rejection: ${event.reason}`));
"""


BLUR = 'blur?sigma=8&sample=Landscape'  # the state that most tests begin with


def there():
    return os.access(BROWSER, os.X_OK) and os.access(DRIVER, os.X_OK)


def start(folder, width=1280, height=900, requests=False):
    """With `requests` the log `performance` has what the browser asks for."""
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    # No sandbox: a browser that root starts has none, and it sees no page but ours.
    for flag in ('--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--hide-scrollbars',
                 '--force-color-profile=srgb', f'--window-size={width},{height}'):
        options.add_argument(flag)
    options.add_experimental_option('prefs', {'download.default_directory': str(folder), 'download.prompt_for_download': False,
                                              'profile.default_content_setting_values.automatic_downloads': 1})
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL', **({'performance': 'ALL'} if requests else {})})
    driver = webdriver.Chrome(service=Service(DRIVER), options=options)
    driver.execute_cdp_cmd('Page.addScriptToEvaluateOnNewDocument', {'source': LISTEN})
    driver.set_script_timeout(60)
    return driver


@contextlib.contextmanager
def running(folder, requests=False):
    driver = start(folder, requests=requests)
    try:
        yield driver
    finally:
        driver.quit()


class Playground:
    """The page, and how people use it."""

    def __init__(self, driver, origin, folder):
        self.driver, self.origin, self.folder = driver, origin, folder

    def open(self, width=1280, height=900, dark=False, touch=False, motion='no-preference', state=BLUR):
        self.driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
            'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': touch})
        self.driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {'features': [
            {'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'},
            {'name': 'prefers-reduced-motion', 'value': motion}]})
        self.driver.get('about:blank')  # else another fragment alone loads nothing
        self.driver.get(f'{self.origin}/#{state}' if state else self.origin + '/')
        self.driver.get_log('browser')
        return self

    # --- looking -----------------------------------------------------------------------
    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self, selector):
        return self.js('return document.querySelector(arguments[0]).textContent', selector)

    def value(self, selector):
        return self.js('return document.querySelector(arguments[0]).value', selector)

    def until(self, condition, timeout=15, what=''):
        end = time.monotonic() + timeout
        while True:
            value = condition()
            if value:
                return value
            assert time.monotonic() < end, what or f'never came; {self.text("#facts")} {self.text("#problem")}'
            time.sleep(0.03)

    def settled(self, needle=' · '):
        """Waits for the answer to the last request, which is sent after a pause."""
        time.sleep(0.2)
        self.until(lambda: needle in self.text('#facts') and not self.js(
            'return document.querySelector("#result").hasAttribute("aria-busy")'))
        return self.text('#facts')

    def refused(self):
        time.sleep(0.2)
        self.until(lambda: self.find('#problem').is_displayed() and not self.js(
            'return document.querySelector("#result").hasAttribute("aria-busy")'))
        return self.text('#problem')

    def command(self):
        return self.text('#code')

    def regions(self):
        return [chip.get_attribute('data-shape') for chip in self.all('#region-list [data-shape]')]

    def wrongs(self):
        """Errors of the page or in the console, except refused requests."""
        lines = [entry['message'] for entry in self.driver.get_log('browser') if 'Failed to load resource' not in entry['message']]
        return lines + self.js('return window.wrongs')

    def pixels(self, selector):
        """The picture in an element, as seen on the screen."""
        return Image.open(io.BytesIO(self.find(selector).screenshot_as_png)).convert('RGB')

    def screenshot(self, path):
        self.driver.save_screenshot(str(path))

    # --- doing -------------------------------------------------------------------------
    def choose(self, name):
        self.js('document.querySelector(`input[name=filter][value=${arguments[0]}]`).click()', name)

    def look(self, name):
        self.js('document.querySelector(`input[name=look][value=${arguments[0]}]`).click()', name)

    def set(self, selector, value):
        """Sets the value as typing does, for types of fields that a driver cannot fill in."""
        self.js("""const field = document.querySelector(arguments[0]);
                   field.value = arguments[1];
                   field.dispatchEvent(new Event('input', { bubbles: true }));
                   field.dispatchEvent(new Event('change', { bubbles: true }));""", selector, str(value))

    def upload(self, path):
        self.find('#file').send_keys(str(path))

    def give(self, event, data, name, kind):
        """A paste or a drop of a file, as the page sees it."""
        self.js("""const [event, data, name, type] = arguments;
                   const transfer = new DataTransfer();
                   transfer.items.add(new File([new Uint8Array(data)], name, { type }));
                   const made = event === 'paste' ? new ClipboardEvent(event, { clipboardData: transfer, bubbles: true, cancelable: true })
                                                  : new DragEvent(event, { dataTransfer: transfer, bubbles: true, cancelable: true });
                   document.body.dispatchEvent(made);""", event, list(data), name, kind)

    def place(self, x, y):
        """Parts of the picture, 0 to 1, as a point of the window."""
        box = self.js("""document.querySelector('#stage').scrollIntoView({ block: 'center' });
                         const box = document.querySelector('#overlay').getBoundingClientRect();
                         return [box.x, box.y, box.width, box.height]""")
        return box[0] + x * box[2], box[1] + y * box[3]

    def mouse(self, kind, x, y, clicks=1):
        self.driver.execute_cdp_cmd('Input.dispatchMouseEvent', {
            'type': kind, 'x': x, 'y': y, 'button': 'left', 'buttons': 0 if kind == 'mouseReleased' else 1, 'clickCount': clicks})

    def drag(self, begin, end, steps=4):
        (ax, ay), (bx, by) = self.place(*begin), self.place(*end)
        self.mouse('mousePressed', ax, ay)
        for i in range(1, steps + 1):
            self.mouse('mouseMoved', ax + (bx - ax) * i / steps, ay + (by - ay) * i / steps)
        self.mouse('mouseReleased', bx, by)

    def click_at(self, *place):
        x, y = self.place(*place)
        self.mouse('mousePressed', x, y)
        self.mouse('mouseReleased', x, y)

    def touch_drag(self, begin, end, steps=4):
        (ax, ay), (bx, by) = self.place(*begin), self.place(*end)
        def touch(kind, points):
            self.driver.execute_cdp_cmd('Input.dispatchTouchEvent', {'type': kind, 'touchPoints': points})
        touch('touchStart', [{'x': ax, 'y': ay}])
        for i in range(1, steps + 1):
            touch('touchMove', [{'x': ax + (bx - ax) * i / steps, 'y': ay + (by - ay) * i / steps}])
        touch('touchEnd', [])

    def tool(self, name):
        self.find(f'[data-tool={name}]').click()

    def keys(self, *keys, shift=False):
        chain = ActionChains(self.driver)
        if shift:
            chain.key_down(Keys.SHIFT)
        chain.send_keys(*keys)
        if shift:
            chain.key_up(Keys.SHIFT)
        chain.perform()

    def focused(self, name='aria-label'):
        return self.js('return document.activeElement.getAttribute(arguments[0]) || document.activeElement.id', name)

    def download(self, selector='#download'):
        """The bytes that the link saves."""
        before = set(os.listdir(self.folder))
        self.js('document.querySelector(arguments[0]).click()', selector)
        def arrived():
            # The downloaded file has another name; an empty file keeps its place.
            names = set(os.listdir(self.folder)) - before
            complete = len(names) == 1 and not [name for name in names if name.endswith('.crdownload') or name[0] == '.']
            return [name for name in names if complete and os.path.getsize(os.path.join(self.folder, name))]
        name = self.until(arrived, what='nothing was downloaded')[0]
        path = os.path.join(self.folder, name)
        with open(path, 'rb') as file:
            content = file.read()
        os.unlink(path)  # else the next of that name gets a number
        return name, content
