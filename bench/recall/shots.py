# SPDX-License-Identifier: MIT
"""Pages in Chromium: screenshots, the places of all words there, and the ink of their letters."""

import base64
import dataclasses
import io
import time

import numpy
from PIL import Image

# [left, top, width, height, text, height of the font, whether it is code] of each word, in pixels of CSS. Rectangles of text
# nodes come from the browser; what fields show is not among these and is measured apart (of text areas: not at all).
WORDS = """
const out = [], code = (e) => Boolean(e.closest('pre, code, kbd, samp, tt'));
const add = (box, text, style, e) => {
    if (box.width >= 1 && box.height >= 1 && box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth) {
        out.push([box.left, box.top, box.width, box.height, text, parseFloat(style.fontSize), code(e)]);
    }
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node; (node = walker.nextNode());) {
    const e = node.parentElement, style = getComputedStyle(e);
    if (['SCRIPT', 'STYLE', 'NOSCRIPT', 'OPTION', 'TEXTAREA'].includes(e.tagName)
        || !e.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    for (const word of node.data.matchAll(/\\S+/g)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        for (const box of range.getClientRects()) add(box, word[0], style, e);
    }
}
const canvas = document.createElement('canvas').getContext('2d');
for (const field of document.querySelectorAll('input, select')) {
    if (['checkbox', 'radio', 'range', 'file', 'hidden', 'color', 'password'].includes(field.type)) continue;
    const style = getComputedStyle(field), box = field.getBoundingClientRect();
    const text = (field.selectedOptions ? field.selectedOptions[0]?.text : field.value || field.placeholder) || '';
    if (!box.width || style.visibility !== 'visible') continue;
    canvas.font = style.font;
    const start = box.left + parseFloat(style.paddingLeft) + parseFloat(style.borderLeftWidth);
    for (const word of text.matchAll(/\\S+/g)) {
        const left = start + canvas.measureText(text.slice(0, word.index)).width, width = canvas.measureText(word[0]).width;
        const right = Math.min(left + width, box.right);
        add({ left, right, width: right - left, top: box.top, bottom: box.bottom, height: box.height }, word[0], style, field);
    }
}
return out;
"""
STILL = '*, *::before, *::after { transition: none !important; animation: none !important; caret-color: transparent !important }'
HIDDEN = """*, *::before, *::after, ::placeholder { -webkit-text-fill-color: transparent !important; text-shadow: none !important;
    text-decoration-color: transparent !important; -webkit-text-stroke-color: transparent !important }
    svg text, svg tspan { fill: transparent !important; stroke: transparent !important } ::marker { color: transparent !important }"""
STYLE = """const sheet = new CSSStyleSheet(); sheet.replaceSync(arguments[0]);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];"""
SCROLL = 'scrollTo(0, arguments[0] * Math.max(0, document.documentElement.scrollHeight - innerHeight))'


@dataclasses.dataclass
class Word:
    left: float
    top: float
    width: float
    height: float
    text: str
    font: float
    code: bool


@dataclasses.dataclass
class Shot:
    """One screenshot. `ink` is by how much each pixel changes with the letters, `ground` the picture without them."""
    name: str
    png: bytes
    ground: numpy.ndarray
    ink: numpy.ndarray
    words: list


def capture(driver):
    return base64.b64decode(driver.execute_cdp_cmd('Page.captureScreenshot', {'format': 'png'})['data'])


def pixels(png):
    return numpy.asarray(Image.open(io.BytesIO(png)).convert('RGB')).astype(numpy.int16)


def show(driver, width, height, scale, dark=False):
    """Pages look so from now on."""
    driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {'width': width, 'height': height, 'deviceScaleFactor': scale, 'mobile': False})
    driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {'features': [{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}]})


def take(driver, name, url, part, scale):
    """The page at this part of its height, 0 to 1."""
    driver.get(url)
    driver.execute_script(STYLE, STILL)
    driver.execute_script(SCROLL, part)
    time.sleep(1.5 if url.startswith('http') else 0.1)
    words = [Word(*(value * scale for value in one[:4]), one[4], one[5] * scale, one[6]) for one in driver.execute_script(WORDS)]
    png = capture(driver)
    driver.execute_script(STYLE, HIDDEN)
    time.sleep(0.05)
    ground = pixels(capture(driver))
    ink = numpy.abs(pixels(png) - ground).max(2)
    ink[ink < 8] = 0
    return Shot(name, png, ground, ink, words)
