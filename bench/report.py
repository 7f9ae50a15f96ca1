#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes the tables of docs/performance.md and performance-parts.md, between their markers, and the plots beside the
results, all of one file that bench/run.py made. bench/run.py does that, too.

    bench/report.py bench/results/MACHINE-cpu.json [--page FILE]     FILE: another page than docs/performance.md;
                                                                     that of the parts is written beside it"""

import argparse
import json
import os
import pathlib
import re
import statistics

import plot

PAGE = pathlib.Path(__file__).resolve().parents[1] / 'docs' / 'performance.md'
PARTS = PAGE.with_name('performance-parts.md')
README = PAGE.parents[1] / 'README.md'
NAMES = {'pipeline': 'blurd without HTTP', 'opencv': 'OpenCV', 'vips': 'libvips', 'graphicsmagick': 'GraphicsMagick'}
ORDER = ['blurd', 'blurd, effort 0', 'pipeline', 'sharp', 'sharp, optimiseCoding off', 'sharp, PNG rows filtered',
         'sharp, cluster', 'vips', 'opencv', 'graphicsmagick']

# text, section, sigma, peer, how many times the requests per CPU-second of the peer are wanted
RATE = '{}: requests per CPU-second of blurd to those of {}, sigma {}'
GOALS = [(RATE.format(form, NAMES.get(peer, peer), sigma), section, sigma, peer, wanted)
         for form, section, peer, factors in (
             ('JPEG to JPEG', 'sigma', 'sharp', {5: 5.5, 20: 8, 50: 15}),
             ('JPEG to JPEG', 'sigma', 'sharp, optimiseCoding off', {1.5: 4}),
             ('JPEG to JPEG', 'sigma', 'opencv', {5: 5, 20: 20, 50: 75}),
             ('PNG to PNG', 'png', 'sharp', {5: 5, 20: 5, 50: 5}),
             ('PNG to PNG', 'png', 'sharp, PNG rows filtered', {5: 5, 20: 5, 50: 5}))
         for sigma, wanted in factors.items()]


def name(subject):
    return NAMES.get(subject, subject)


def number(value):
    """Three digits that say something."""
    return '-' if value is None else f'{value:,.0f}' if value >= 100 else f'{value:.3g}'


def middle(row, value='cpu_ms'):
    return statistics.median(row[value]) if row and value in row else None


def spread(row, value='cpu_ms'):
    """Half of the range over the median."""
    return f'{(max(row[value]) - min(row[value])) / 2 / middle(row, value):.0%}' if len(row[value]) > 1 else '-'


def table(head, rows):
    """Markdown; all columns but the first are numbers."""
    lines = [head, ['---'] + ['--:'] * (len(head) - 1), *rows]
    return '\n'.join('| ' + ' | '.join(map(str, line)) + ' |' for line in lines)


class Results:
    def __init__(self, path):
        self.content = json.loads(path.read_text())
        self.rows = self.content['rows']

    def find(self, section, **key):
        return [row for row in self.rows
                if row['section'] == section and all(row.get(name) == value for name, value in key.items())]

    def one(self, section, **key):
        return next(iter(self.find(section, **key)), None)

    def subjects(self, section):
        there = {row['subject'] for row in self.find(section)}
        return [subject for subject in ORDER if subject in there]

    def over(self, section, key):
        return sorted({row[key] for row in self.find(section) if key in row})


# --- the tables, by the name of their marker ---------------------------------------------------
def table_machine(results):
    content = results.content
    facts = content['machine']
    quick = ' **One short round: not to be quoted.**' if content['quick'] else ''
    rows = [('processor', f'{facts["cpu"]}, {facts.get("vectors", "")}; {facts["cores"]} cores, {facts["memory_gib"]} GiB'),
            ('system', f'{facts["system"]}, kernel {facts["kernel"]}, load before {facts["load_before"]}'),
            ('date', f'{content["date"]}, {content["minutes"]} minutes.{quick}'), ('pictures', content['pictures']),
            *content['versions'].items()]
    return table(['', ''], [(name(key), value) for key, value in rows]).replace('| --:', '| ---')


def overhead(results):
    """(CPU of a request with one connection, of the same picture without HTTP), ms."""
    served = middle(results.one('overhead', subject='blurd', connections=1, sigma=1.5))
    alone = middle(results.one('overhead', subject='pipeline'))
    return (served, alone) if served and alone else None


def at_most(text, wanted, measured):
    return text, f'at most {wanted}', f'{measured:.3g}', 'met' if measured <= wanted else '**not met**'


# section, form, peer, sigmas, the largest ratio of bytes that is wanted
BYTES = [('sigma', 'JPEG to JPEG', 'sharp', (5, 20, 50), 0.97), ('png', 'PNG to PNG', 'sharp', (5, 20, 50), 1),
         ('png', 'PNG to PNG', 'sharp, PNG rows filtered', (5, 20, 50), 1)]

# text, section, key, value, milliseconds; set for a processor with AVX-512 (Zen 5)
TIMES = [('JPEG, 1920x1080, sigma 5: CPU, ms', 'sigma', {'sigma': 5}, 'cpu_ms', 4.8),
         ('JPEG, 320x180, sigma 5: CPU, ms', 'size', {'width': 320}, 'cpu_ms', 0.22),
         ('PNG, 1920x1080, sigma 5: CPU, ms', 'png', {'sigma': 5}, 'cpu_ms', 20),
         ('JPEG, 1920x1080, sigma 5, one connection: p50, ms', 'alone', {'format': 'jpeg', 'width': 1920}, 'p50_ms', 4)]


def other_goals(results):
    for section, form, peer, sigmas, wanted in BYTES:
        for sigma in sigmas:
            sizes = [middle(results.one(section, subject=subject, sigma=sigma), 'bytes') for subject in ('blurd', peer)]
            if all(sizes):
                yield at_most(f'{form}: bytes of blurd to those of {peer}, sigma {sigma}', wanted, sizes[0] / sizes[1])
    for text, section, key, value, wanted in TIMES:
        measured = middle(results.one(section, subject='blurd', **key), value)
        if measured:
            yield at_most(text, wanted, measured)
    small, large = (middle(results.one('sigma', subject='blurd', sigma=sigma)) for sigma in (5, 200))
    if small and large:
        yield at_most('JPEG to JPEG: CPU of sigma 200 to that of sigma 5', 1.2, large / small)
    if overhead(results):
        served, alone = overhead(results)
        yield at_most('CPU that HTTP adds to a request, ms', 0.15, served - alone)


def table_goals(results):
    rows = []
    for text, section, sigma, peer, wanted in GOALS:
        ours, theirs = (middle(results.one(section, subject=subject, sigma=sigma)) for subject in ('blurd', peer))
        if ours and theirs:
            verdict = 'met' if theirs >= wanted * ours else '**not met**'
            rows.append((text, f'at least {wanted}', f'{theirs / ours:.3g}', verdict))
    return table(['', 'wanted', 'measured', ''], [*rows, *other_goals(results)])


def by_sigma(results, section):
    sigmas = results.over(section, 'sigma')
    rows = []
    for subject in results.subjects(section):
        values = [middle(results.one(section, subject=subject, sigma=sigma)) for sigma in sigmas]
        rows.append([name(subject), *map(number, values)])
    return table(['sigma', *sigmas], rows)


def table_jpeg(results):
    return by_sigma(results, 'sigma')


def served(results, section, sigmas):
    """Everything about the requests of some sigmas."""
    rows = []
    for sigma in sigmas:
        for subject in results.subjects(section):
            row = results.one(section, subject=subject, sigma=sigma)
            if row:
                cpu = [number(middle(row)), spread(row), number(1000 / middle(row))]
                times = [number(middle(row, value)) for value in ('rps', 'p50_ms', 'p99_ms')]
                rows.append([f'{name(subject)}, sigma {sigma}', *cpu, *times, f'{middle(row, "bytes") / 1e3:,.0f}'])
    return table(['', 'CPU, ms', '±', 'requests per CPU-second', 'requests/s', 'p50, ms', 'p99, ms', 'kB'], rows)


def table_jpeg_served(results):
    return served(results, 'sigma', (1.5, 5, 20, 50))


def table_readme(results):
    sigmas = (5, 20, 50, 200)
    rows = []
    for subject in ('blurd', 'sharp', 'opencv'):
        found = [results.one('sigma', subject=subject, sigma=sigma) for sigma in sigmas]
        rows.append([name(subject), *(number(middle(row)) if row else '-' for row in found)])
    return table(['sigma', *sigmas], rows)


def table_png_served(results):
    return served(results, 'png', results.over('png', 'sigma'))


def table_stages(results):
    rows = []
    for section, form in (('sigma', 'JPEG'), ('png', 'PNG')):
        for sigma in results.over(section, 'sigma'):
            alone, http = (results.one(section, subject=subject, sigma=sigma) for subject in ('pipeline', 'blurd'))
            if alone and http:
                parts = [middle(alone, value) for value in ('decode_ms', 'filter_ms', 'encode_ms', 'cpu_ms')]
                rows.append([f'{form}, sigma {sigma}', *map(number, parts), number(middle(http))])
    return table(['', 'decode', 'filter', 'encode', 'all', 'over HTTP'], rows)


def table_errors(results):
    errors = {(row['subject'], row['sigma']): row for row in results.content['errors']}
    sigmas = sorted({sigma for _, sigma in errors})
    rows = []
    for subject in [subject for subject in ORDER if any(subject == each for each, _ in errors)]:
        found = [errors.get((subject, sigma)) for sigma in sigmas]
        rows.append([name(subject)] + [
            f'{row["max"]:.1f} / {row["mean"]:.2f} / {row["over_1"]:.1%}' if row else '-' for row in found])
    return table(['sigma', *sigmas], rows)


def table_size(results):
    widths = results.over('size', 'width')
    rows = [[name(subject), *(number(middle(results.one('size', subject=subject, width=width))) for width in widths)]
            for subject in results.subjects('size')]
    heads = [f'{width}x{results.one("size", width=width)["height"]}' for width in widths]
    return table(['', *heads], rows)


def table_alone(results):
    rows = [[f'{name(row["subject"])}, {row["format"].upper()}, {row["width"]}x{row["height"]}',
             *(number(middle(row, value)) for value in ('p50_ms', 'p99_ms', 'cpu_ms'))] for row in results.find('alone')]
    return table(['', 'p50, ms', 'p99, ms', 'CPU, ms'], rows)


def table_overhead(results):
    rows = []
    for row in results.find('overhead'):
        what = row.get('what', '16x16 JPEG, sigma 1.5')
        over = f', {row["connections"]} connection{"s" if row["connections"] > 1 else ""}' if 'connections' in row else ''
        rows.append([f'{name(row["subject"])}: {what}{over}', f'{middle(row):.3f}', number(middle(row, 'rps'))])
    return table(['', 'CPU, ms', 'requests/s'], rows)


def table_cores(results):
    counts = results.over('cores', 'cores')
    rows = []
    for subject in results.subjects('cores'):
        found = [results.one('cores', subject=subject, cores=count) for count in counts]
        times = [[number(middle(row, value)) for value in ('rps', 'p50_ms', 'p99_ms')] for row in found]
        rows.append([name(subject), *(f'{rate} ({half} / {most})' for rate, half, most in times)])
    return table(['cores', *counts], rows)


def table_filters(results):
    return '```\n' + results.content['filters'] + '\n```'


# --- the plots --------------------------------------------------------------------------------
def points(results, section, key, value):
    return [(name(subject), [(row[key], middle(row, value)) for row in results.find(section, subject=subject)])
            for subject in results.subjects(section)]


def plots(results):
    """(name, SVG) of each plot."""
    if results.find('sigma'):
        yield 'sigma', plot.chart('1920x1080, JPEG to JPEG', 'sigma', 'CPU per picture, ms',
                                  points(results, 'sigma', 'sigma', 'cpu_ms'))
    if results.find('size'):
        labels = {row['width']: row['height'] for row in results.find('size')}
        yield 'size', plot.chart('JPEG to JPEG, sigma 5', 'height, 16:9', 'CPU per picture, ms',
                                 points(results, 'size', 'width', 'cpu_ms'), labels)
    if results.find('cores'):
        labels = {row['cores']: row['cores'] for row in results.find('cores')}
        yield 'cores', plot.chart('1920x1080, JPEG to JPEG, sigma 5', 'cores of the server', 'requests/s',
                                  points(results, 'cores', 'cores', 'rps'), labels, plot.Linear)


def fill(page, place, results, drawn):
    """Replaces the text between <!-- bench:NAME --> and <!-- bench:end -->; `drawn` is {what: path of a
    plot}."""
    def content(found):
        kind, _, what = found[1].partition('-')
        if kind == 'plot':
            made = f'![{what}]({os.path.relpath(drawn[what], place)})' if what in drawn else ''
        else:
            made = globals()['table_' + found[1].replace('-', '_')](results)
        return f'<!-- bench:{found[1]} -->\n\n{made}\n\n<!-- bench:end -->'
    return re.sub(r'<!-- bench:((?!end)[a-z-]+) -->.*?<!-- bench:end -->', content, page, flags=re.S)


def write(path, page=PAGE):
    results = Results(path)
    drawn = {}
    for what, image in plots(results):
        drawn[what] = path.with_name(f'{path.stem}-{what}.svg')
        drawn[what].write_text(image)
    for source, written in ((PAGE, page), (PARTS, page.with_name(PARTS.name))):
        written.write_text(fill(source.read_text(), page.parent, results, drawn))
    if page == PAGE:
        README.write_text(fill(README.read_text(), README.parent, results, drawn))
    print(f'{page} and {len(drawn)} plots beside {path}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('results', type=pathlib.Path)
    parser.add_argument('--page', type=pathlib.Path, default=PAGE)
    options = parser.parse_args()
    write(options.results, options.page)


if __name__ == '__main__':
    main()
