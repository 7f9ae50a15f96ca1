# SPDX-License-Identifier: MIT
"""Line charts as SVG, both axes logarithmic, readable on light and on dark pages. No library."""

import html
import math

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 64, 190, 44, 52
GREY = '#7d8590'
COLORS = {'blurd': '#2f81f7', 'blurd without HTTP': '#79a7e3', 'sharp': '#d4861a', 'sharp, optimiseCoding off': '#b3915a',
          'sharp, cluster': '#b3915a', 'OpenCV': '#3fa34d', 'libvips': '#a371f7', 'GraphicsMagick': '#e0605a'}
LABEL_HEIGHT = 15


class Logarithmic:
    """Values to places along an axis."""

    def __init__(self, values, begin, end, margin):
        self.low, self.high = min(values) / margin, max(values) * margin
        self.begin, self.end = begin, end

    def place(self, value):
        part = math.log(value / self.low) / math.log(self.high / self.low)
        return self.begin + part * (self.end - self.begin)

    def ticks(self):
        """1, 2, 5, 10 and so on; only powers of ten where that would be many."""
        steps = (1, 2, 5) if self.high / self.low < 2000 else (1,)
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        found = [step * 10.0 ** power for power in powers for step in steps]
        return [tick for tick in found if self.low * 0.999 <= tick <= self.high * 1.001]


def spread(places):
    """Moves labels apart that would lie on each other; keeps their order."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    moved = list(places)
    for before, i in zip(order, order[1:]):
        moved[i] = max(moved[i], moved[before] + LABEL_HEIGHT)
    over = max(0, moved[order[-1]] - (HEIGHT - BOTTOM)) if order else 0
    return [place - over for place in moved]


def text(x, y, content, more=''):
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{html.escape(str(content))}</text>'


def grid(across, up, at, x_label, y_label):
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for tick in up.ticks():
        y = up.place(tick)
        yield f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield text(LEFT - 8, y + 4, f'{tick:g}', 'text-anchor="end"')
    for value, label in at:
        x = across.place(value)
        yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}"/>'
        yield text(x, bottom + 18, label, 'text-anchor="middle"')
    yield text((LEFT + right) / 2, HEIGHT - 10, x_label, 'text-anchor="middle"')
    yield text(LEFT - 48, TOP - 10, y_label)


def lines(series, across, up):
    ends = spread([up.place(points[-1][1]) for _, points in series])
    for (name, points), end in zip(series, ends):
        color = COLORS.get(name, GREY)
        places = [(across.place(x), up.place(y)) for x, y in points]
        path = ' '.join(f'{x:.1f},{y:.1f}' for x, y in places)
        yield f'<polyline points="{path}" stroke="{color}" stroke-width="{3 if name == "blurd" else 1.8}"/>'
        yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{color}"/>' for x, y in places)
        yield (f'<line x1="{places[-1][0] + 4:.1f}" y1="{places[-1][1]:.1f}" x2="{WIDTH - RIGHT + 10}" y2="{end:.1f}" '
               f'stroke="{color}" stroke-width="0.8" opacity="0.6"/>')
        yield text(WIDTH - RIGHT + 14, end + 4, name, f'style="fill:{color}"')


def chart(title, x_label, y_label, series):
    """SVG of [(name, [(x, y), …])]."""
    series = [(name, sorted(points)) for name, points in series if points]
    across = Logarithmic([x for _, points in series for x, _ in points], LEFT, WIDTH - RIGHT, 1.04)
    up = Logarithmic([y for _, points in series for _, y in points], HEIGHT - BOTTOM, TOP, 1.15)
    at = [(tick, f'{tick:g}') for tick in across.ticks()]
    body = [*grid(across, up, at, x_label, y_label), *lines(series, across, up)]
    return '\n'.join([
        '<!-- SPDX-License-Identifier: MIT; made by bench/report.py -->',
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">',
        f'<style>text{{font:13px system-ui,sans-serif;fill:{GREY}}} .title{{font-size:15px;font-weight:600}} '
        f'.grid{{stroke:{GREY};stroke-opacity:.22}} polyline{{fill:none;stroke-linejoin:round}}</style>',
        text(LEFT - 48, 18, title, 'class="title"'), *body, '</svg>', ''])
