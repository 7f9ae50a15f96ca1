# SPDX-License-Identifier: MIT
"""What Chromium shows of an animation or a BMP, where it and selenium are installed (config/packages.sh browser)."""

import atexit
import base64
import functools
import http.server
import shutil
import threading

import numpy

SCRIPT = '''
const [text, type, done] = arguments;
(async () => {
    const data = Uint8Array.from(atob(text), c => c.charCodeAt(0)), frames = [];
    const decoder = new ImageDecoder({data, type, colorSpaceConversion: 'none'});
    await decoder.tracks.ready;
    await decoder.completed;
    for (let i = 0; i < decoder.tracks.selectedTrack.frameCount; i++) {
        const {image} = await decoder.decode({frameIndex: i});
        const canvas = new OffscreenCanvas(image.displayWidth, image.displayHeight), context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        const bytes = context.getImageData(0, 0, canvas.width, canvas.height).data;
        frames.push([canvas.width, canvas.height, image.duration / 1000, btoa(Array.from(bytes, b => String.fromCharCode(b)).join(''))]);
    }
    done(frames);
})().catch(error => done(String(error)));'''


class Page(http.server.BaseHTTPRequestHandler):
    """ImageDecoder is there in pages of the own host alone."""

    def do_GET(self):  # pylint: disable=invalid-name
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


@functools.lru_cache(1)
def driver():
    """None where there is no browser."""
    try:
        from selenium import webdriver  # pylint: disable=import-outside-toplevel
        from selenium.webdriver.chrome.service import Service  # pylint: disable=import-outside-toplevel
    except ImportError:
        return None
    if not shutil.which('chromedriver'):
        return None
    options = webdriver.ChromeOptions()
    for word in ('--headless=new', '--no-sandbox', '--disable-gpu'):
        options.add_argument(word)
    made = webdriver.Chrome(options=options, service=Service('/usr/bin/chromedriver'))
    atexit.register(made.quit)
    server = http.server.HTTPServer(('127.0.0.1', 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    made.get(f'http://127.0.0.1:{server.server_port}/')
    return made


def version():
    return driver().capabilities['browserVersion'] if driver() else 'not installed'


def decode(data, kind):
    """[(pixels of red, green, blue and alpha, milliseconds)]; where alpha is below 255, colours were multiplied by it and divided."""
    said = driver().execute_async_script(SCRIPT, base64.b64encode(data).decode(), f'image/{kind}')
    if isinstance(said, str):
        raise ValueError(said)
    return [(numpy.frombuffer(base64.b64decode(text), numpy.uint8).reshape(height, width, 4), time) for width, height, time, text in said]
