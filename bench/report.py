#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes the tables and the plot of one file of results that bench/run.py made, beside it: MACHINE-cpu.md and
MACHINE-cpu-sigma.svg. bench/run.py does that, too. docs/generate/results.py makes the tables of the pages from the files of all machines.

    bench/report.py bench/results/MACHINE-cpu.json...    for each of them"""

import argparse
import json
import pathlib
import statistics

import plot

RESULTS = pathlib.Path(__file__).resolve().parent / 'results'
NAMES = {'pipeline': 'blurd without HTTP', 'opencv': 'OpenCV', 'vips': 'libvips', 'graphicsmagick': 'GraphicsMagick'}
ORDER = ['blurd', 'blurd, effort 0', 'pipeline', 'sharp', 'sharp, optimiseCoding off', 'sharp, PNG rows filtered',
         'sharp, cluster', 'vips', 'opencv', 'graphicsmagick']


def name(subject):
    return NAMES.get(subject, subject)


def number(value):
    """Three digits that say something."""
    return '-' if value is None else f'{value:,.0f}' if value >= 100 else f'{value:.3g}'


def middle(row, value='cpu_ms'):
    return statistics.median(row[value]) if row and value in row else None


def write_table(stem, about, made):
    """A file of results with one table: the text `about` and the table."""
    (RESULTS / f'{stem}.md').write_text(f'{about}\n\n{made}\n')


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


SECTIONS = (
    ('The machine', '', table_machine),
    ('JPEG to JPEG, 1080p', 'CPU per picture in milliseconds, by sigma:', table_jpeg),
    ('JPEG to JPEG, 1080p, as served', '*±* is half the range of the rounds, divided by the median.', table_jpeg_served),
    ('PNG to PNG, 1080p', '', table_png_served),
    ("Where blurd's time goes", 'CPU milliseconds of a 1080p picture; the last column is the whole request.', table_stages),
    ('The cost of HTTP', 'Pictures so small that HTTP dominates:', table_overhead),
    ('Error against the Gaussian', 'PNG in and out, compared with a float64 Gaussian with tails to 6 sigma and repeated edges: the largest error of '
     '255 / the mean error (0.25 is perfect rounding) / the share of samples that are off by more than 1.', table_errors),
    ('Size of the picture', 'CPU per picture in milliseconds, JPEG to JPEG, sigma 5.', table_size),
    ('One request at a time', 'One connection, sigma 5.', table_alone),
    ('Cores', 'Requests per second (p50 / p99 in milliseconds), JPEG to JPEG, sigma 5, four connections per core; `wrk` runs on all cores.', table_cores),
    ('Filters without HTTP', 'Milliseconds on one thread at each instruction set, beside a copy of the same bytes.', table_filters))


def page(results, plotted):
    """The whole file of tables."""
    parts = [f'# blurd and others on {results.content["machine"]["cpu"]}']
    for title, words, made in SECTIONS:
        parts += [f'## {title}', *([words] if words else []), made(results)]
    return '\n\n'.join([*parts, *([f'![CPU by sigma]({plotted})'] if plotted else [])]) + '\n'


def write(path):
    results = Results(path)
    plotted = ''
    if results.find('sigma'):
        series = [(name(subject), [(row['sigma'], middle(row)) for row in results.find('sigma', subject=subject)])
                  for subject in results.subjects('sigma')]
        plotted = f'{path.stem}-sigma.svg'
        path.with_name(plotted).write_text(plot.chart('1920x1080, JPEG to JPEG', 'sigma', 'CPU per picture, ms', series))
    path.with_suffix('.md').write_text(page(results, plotted))
    print(path.with_suffix('.md'))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('results', type=pathlib.Path, nargs='+')
    for path in parser.parse_args().results:
        write(path)


if __name__ == '__main__':
    main()
