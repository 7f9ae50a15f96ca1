#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the tables of measured figures that stand between marks in the pages and in README.md, from bench/results:

    <!-- results: NAME... -->     NAME is a function below, table_NAME; what follows it are its arguments
    <!-- end -->

    docs/generate/results.py [--check]     --check only says which pages are not current

A range is that of all stored runs of its table: one file of results for each processor (`machines` lists them), several runs for a GPU."""

import re
import statistics
import sys

import marked
from marked import ROOT

RESULTS = ROOT / 'bench/results'
sys.path.insert(0, str(ROOT / 'bench'))
import report  # noqa: E402 (bench/ has to be in the path)

PAGES = [*sorted(ROOT.glob('docs/*.md')), *sorted(ROOT.glob('docs/api/*.md')), *sorted(ROOT.glob('docs/gpu/*.md')), ROOT / 'README.md']
MARKED = re.compile(r'(<!-- results: (.*?) -->\n).*?(<!-- end -->\n)', re.S)
FACT = re.compile(r'^(FACT|RELIED)\(\w+,\s*"(.*?)",\s*"(.*?)"\)', re.M)
PEERS = ('blurd', 'sharp', 'vips', 'opencv', 'graphicsmagick')
# (title, work in the files, connections)
GPU_WORK = (('blur, sigma 1.5', '1.5', 128), ('blur, sigma 5', '5', 128), ('blur, sigma 20', '20', 128), ('blur, sigma 100', '100', 128),
            ('resize to 400 wide', 'to 400 wide', 128), ('blur, 400x300', '400x300', 128), ('blur, 12 megapixels', '12 megapixels', 32),
            ('blur in RGB', '1080p, `colorspace=rgb`', 128), ('blur in linear light', '1080p, `colorspace=linear`', 128),
            ('sharpen', '1080p, sharpened', 128), ('4 regions redacted', '4 regions redacted', 128),
            ('faces redacted, full size', 'faces redacted, 1920x1088', 128), ('progressive JPEGs', '1080p, progressive', 128),
            ('JPEG to PNG', '1080p, `format=png`', 128), ('PNG to JPEG', '1080p, PNG, `format=jpeg`', 128))
ALONE = (('blur, sigma 5, one connection', '5', 1),)


def span(values, form=report.number):
    """'3 to 5', or one value where both ends look alike; '-' for none."""
    values = [value for value in values if value is not None]
    if not values:
        return '-'
    low, high = form(min(values)), form(max(values))
    return low if low == high else f'{low} to {high}'


def rounded(value):
    """A rate, to three digits."""
    digits = 10 ** max(0, len(str(int(value))) - 3)
    return f'{round(value / digits) * digits:,}'


# --- cores: one JSON for each machine ------------------------------------------------------------
def machines():
    """[(its name, its results)], sorted."""
    return [(path.name.removesuffix('-cpu.json'), report.Results(path)) for path in sorted(RESULTS.glob('*-cpu.json'))]


def of(results, section, subject, value='cpu_ms', **key):
    return report.middle(results.one(section, subject=subject, **key), value)


def per_second(milliseconds):
    return report.number(1000 / milliseconds) if milliseconds else '-'


def table_cores(place):
    rows = []
    for name, results in machines():
        facts = results.content['machine']
        rows.append([f'[{name}]({place}bench/results/{name}-cpu.md)', facts.get('vectors', ''),
                     per_second(of(results, 'sigma', 'blurd', sigma=5)), per_second(of(results, 'png', 'blurd', sigma=5)),
                     *(report.number(of(results, 'size', 'blurd', width=width)) for width in (320, 3840)),
                     *(report.number(of(results, 'alone', 'blurd', value, format='jpeg', width=1920)) for value in ('p50_ms', 'p99_ms'))])
    return report.table(['two cores', 'vectors', 'JPEG', 'PNG', '320x180, ms', '3840x2160, ms', 'alone: p50, ms', 'p99, ms'], rows)


def table_cpu(_, *words):
    """CPU milliseconds; words: jpeg or png, and after each the sigmas."""
    columns, form = [], None
    for word in words:
        if word in ('jpeg', 'png'):
            form = word
        else:
            columns.append((form, word))
    rows = [[report.name(peer), *(span([of(results, {'jpeg': 'sigma'}.get(form, form), peer, sigma=float(sigma)) for _, results in machines()])
                                  for form, sigma in columns)] for peer in PEERS]
    return report.table(['', *(f'{form.upper()}, {sigma}' for form, sigma in columns)], rows)


def table_machines(place):
    """What the runs on cores were done with: the one beside other servers, and those of all other tables, one for each processor."""
    about = ' '.join((RESULTS / 'servers.md').read_text().split())
    cpu, cores, date = re.search(r' on ([^;]*), (\d+) cores; .*? on (\d{4}-\d\d-\d\d),', about).groups()
    rows = [[f'[beside other servers]({place}bench/results/servers.md)', cpu, cores, date, re.search(r'\* blurd, blurd (\S+)', about)[1]]]
    for name, results in machines():
        facts = results.content['machine']
        rows.append([f'[{name}]({place}bench/results/{name}-cpu.md)', facts['cpu'], facts['cores'], results.content['date'],
                     results.content['versions']['blurd'].split()[1]])
    return report.table(['run', 'processor', 'cores', 'date', 'blurd'], rows).replace('| --:', '| ---')


def table_losses(_):
    """Where another server takes less time than blurd in servers.md, or writes fewer bytes."""
    everything = [row for _, rows in tables(RESULTS / 'servers.md') for row in rows]
    own = {row['work']: row for row in everything if row['server'] == 'blurd'}
    rows = []
    for row in everything:
        for what in ('CPU, ms', 'kB of an answer'):
            theirs, ours = (one[what].split(' (')[0] for one in (row, own[row['work']]))
            if float(theirs.replace(',', '')) < float(ours.replace(',', '')):
                rows.append([row['work'], row['server'], what, theirs, ours])
    return report.table(['work', 'server', 'what', 'its', "blurd's"], rows).replace('| --: | --: | --: | --: |', '| --- | --- | --: | --: |')


def table_bytes(_, *sigmas):
    """Bytes of blurd's answers to those of others."""
    rows = []
    for section, peers in (('sigma', PEERS[1:]), ('png', ('sharp', 'sharp, PNG rows filtered', *PEERS[2:]))):
        for peer in peers:
            found = []
            for sigma in map(float, sigmas):
                pairs = [(of(results, section, 'blurd', 'bytes', sigma=sigma), of(results, section, peer, 'bytes', sigma=sigma)) for _, results in machines()]
                found.append(span([ours / theirs for ours, theirs in pairs if theirs], '{:.2f}'.format))
            rows.append([f'{"PNG" if section == "png" else "JPEG"}, to {report.name(peer)}', *found])
    return report.table(['bytes, sigma', *sigmas], rows)


def table_alone(_):
    rows = []
    for form, width in (('jpeg', 1920), ('jpeg', 3840), ('png', 1920)):
        cells = [span([of(results, 'alone', peer, value, format=form, width=width) for _, results in machines()])
                 for value in ('p50_ms', 'cpu_ms') for peer in ('blurd', 'sharp')]
        rows.append([f'{form.upper()}, {width} wide', *cells])
    return report.table(['', 'p50 of blurd, ms', 'of sharp', 'CPU of blurd, ms', 'of sharp'], rows)


def table_errors(_):
    """The worst of all machines."""
    everything = [row for _, results in machines() for row in results.content['errors']]
    sigmas = sorted({row['sigma'] for row in everything})
    rows = []
    for peer in PEERS:
        found = [[row for row in everything if row['subject'] == peer and row['sigma'] == sigma] for sigma in sigmas]
        rows.append([report.name(peer), *(f'{max(row["max"] for row in each):.1f}, {max(row["mean"] for row in each):.2f}' for each in found)])
    return report.table(['sigma', *sigmas], rows)


# --- tables in files of Markdown -----------------------------------------------------------------
def tables(path):
    """Yields (headings above, [{column: cell}]) of each table."""
    headings, head, rows = [], None, []
    for line in [*path.read_text().splitlines(), '']:
        cells = [cell.strip() for cell in re.split(r'(?<!\\)\|(?=\s|$)', line.strip()[1:])[:-1]] if line.startswith('|') else None
        if cells and '--' in line and set(line) <= set('|-: '):
            continue
        if cells and head and len(cells) == len(head):
            rows.append(dict(zip(head, cells)))
        elif cells:
            head = cells
        elif line.startswith('* ') and head and not rows:
            continue
        elif head:
            yield headings, rows
            head, rows = None, []
        if line.startswith('#'):
            level = line.index(' ')
            headings = [*(title for title in headings if title.index(' ') < level), line]


def loads(card):
    """{(work, connections): [row]} of all runs of a card, with the daemon's defaults."""
    found = {}
    for path in sorted(RESULTS.glob(f'nvidia-{card}-*.md')):
        for headings, rows in tables(path):
            title = ' '.join(headings)
            if 'codec cpu' in title or 'codec gpu' in title or not rows or not {'connections', 'requests/s', 'CPU, ms/request'} <= set(rows[0]):
                continue
            for row in rows:
                work = row.get('work') or row.get('sigma, or resize') or (f'crowd {row["sigma"]}' if 'One daemon' in title else None)
                found.setdefault((work, int(row['connections'])), []).append(row)
    return found


def column(rows, name):
    return [float(row[name]) for row in rows if row[name] != '-']


def table_gpu(_):
    """Each kind of work on each card."""
    cards = {card: loads(card) for card in ('h100', 'h200')}
    rows = []
    for title, work, connections in (*GPU_WORK, *ALONE):
        cells = []
        for found in cards.values():
            runs = found.get((work, connections), ())
            cells += [span(column(runs, 'requests/s'), rounded), span(column(runs, 'p99, ms')), span(column(runs, 'CPU, ms/request'))] if runs else ['-'] * 3
        rows.append([title, *cells])
    heads = [f'{card.upper()}: {what}' for card in cards for what in ('requests/s', 'p99, ms', 'CPU, ms')]
    return report.table(['work', *heads], rows)


def table_connections(_):
    found = loads('h100')
    rows = []
    for count in (32, 128, 512, 2048):
        runs = found.get(('crowd 5', count), []) + found.get(('5', count), [])
        rows.append([count, span(column(runs, 'requests/s'), rounded), span(column(runs, 'p99, ms')), span(column(runs, 'CPU, ms/request'))])
    return report.table(['connections', 'requests/s', 'p99, ms', 'CPU, ms'], rows)


def table_several(_):
    """How many times as many requests as one GPU several do, sigma 5, over all hosts."""
    hosts = [{row['daemons']: row for row in rows if row['sigma'] == '5'} for headings, rows in tables(RESULTS / 'nvidia-h100-several.md')
             if rows and 'daemons' in rows[0]]
    names = list(hosts[0])
    rows = [[name, span([float(host[name]['requests/s']) for host in hosts], rounded),
             span([float(host[name]['requests/s']) / float(host[names[0]]['requests/s']) for host in hosts], '{:.2f}'.format)] for name in names]
    return report.table(['daemons', 'requests/s', 'to one GPU'], rows)


def table_service(_):
    """Starts and faults of the GPU's process."""
    found = [rows for _, rows in tables(RESULTS / 'nvidia-h100-service.md')]
    starts = next(rows for rows in found if rows and 'first answer, ms' in rows[0])
    rounds = {row['round']: row for rows in found if rows and 'round' in rows[0] for row in rows}
    rows = [['start: first answer, by the CPU', span(column(starts, 'first answer, ms')), '-'],
            ['start: first answer of the GPU', span(column(starts, 'first from a GPU, ms')), '-']]
    for name, title in (('fault', 'two kernels fault'), ('kill', 'its process is killed twice'), ('hang', 'its process is stopped, then killed')):
        each = [rounds[f'{kind} {name}'] for kind in ('gpu', 'jpeg')]
        again = [float(time) for row in each for time in re.findall(r'[A-Z]+1? (\d+)', row['GPU serves again after, ms'])]
        rows.append([title, span(column(each, 'p99, ms')), span(again)])
    return report.table(['', 'p99 of the round, or time, ms', 'the GPU serves again after, ms'], rows)


def table_gpu_peers(_):
    """OpenCV on all cores and torchvision on the GPU, in memory."""
    runs = {}
    for path in sorted(RESULTS.glob('nvidia-h100-*.md')):
        for _, rows in tables(path):
            for row in rows if rows and 'torchvision, pictures/s' in rows[0] else ():
                runs.setdefault(row['sigma'], []).append(row)
    rows = [[sigma, span(column(found, 'blurd, `auto`, requests/s'), rounded), span(column(found, 'torchvision, pictures/s')), span(column(found, 'OpenCV, pictures/s'))]
            for sigma, found in runs.items()]
    return report.table(['sigma', 'blurd over HTTP, requests/s', 'torchvision on the GPU, pictures/s', 'OpenCV on the cores, pictures/s'], rows)


def scaling():
    """Requests a second of a core, kB of a request and of an answer, for JPEG and PNG; requests a second of an H100."""
    found = []
    for form, section in (('jpeg', 'sigma'), ('png', 'png')):
        sent = next(row for _, rows in tables(RESULTS / 'servers.md') for row in rows if row['work'] == f'{form.upper()}, blur, sigma 5')
        cpu, size = (statistics.median(of(results, section, 'blurd', value, sigma=5) for _, results in machines()) for value in ('cpu_ms', 'bytes'))
        found.append((1000 / cpu, float(sent['kB of a picture'].replace(',', '')), size / 1000))
    return found, statistics.median(column(loads('h100')['5', 128], 'requests/s'))


def table_scaling(_):
    figures, _ = scaling()
    titles = ('requests a second and core', 'kB of a request', 'kB of an answer')
    return report.table(['figure', 'JPEG', 'PNG'], [[title, *(report.number(form[i]).replace(',', '') for form in figures)] for i, title in enumerate(titles)])


def table_arithmetic(_):
    """Cores times requests a second times gain, and the bytes of that."""
    ((core, request, answer), _), gpu = scaling()
    gain = gpu / 16 / core
    rows = []
    for title, cores, times in (('a core', 1, 1), ('a small host', 8, 1), ('a large host', 64, 1), ('a GPU with 16 cores', 16, gain), ('a host of 8 GPUs', 128, gain),
                                ('a thousand GPUs', 16000, gain)):
        rate = cores * core * times
        rows.append([title, cores, f'{times:.3g}', *(f'{float(f"{value:.3g}"):.10g}' for value in (rate, rate * request * 8e-6, rate * answer * 8e-6))])
    return report.table(['', 'cores', 'gain', 'requests/s', 'in, Gbit/s', 'out, Gbit/s'], rows)


def table_facts(_):
    """What `bench/gpu.sh facts` measured on each card; '-' for what no stored run has."""
    cards = {}
    for path in sorted(RESULTS.glob('nvidia-*-facts.md')):
        found = next(rows for _, rows in tables(path) if rows and 'behaviour' in rows[0])
        cards[f'{path.name.split("-")[1].upper()}, driver {found[0]["driver"]}'] = {row['behaviour']: row['figure'] for row in found}
    rows = []
    for kind, behaviour, meaning in FACT.findall((ROOT / 'bench/gpu/facts/facts.def').read_text()):
        title = behaviour + (' (relied on)' if kind == 'RELIED' else '')
        rows.append([title, *([figures.get(title, '-') for figures in cards.values()] or ['-']), meaning])
    return report.table(['behaviour', *(cards or ['figure']), 'what it means'], rows).replace('| --:', '| ---')


def table_sharing(place):
    """What `bench/gpu.sh sharing` measured on each card."""
    made = []
    for path in sorted(RESULTS.glob('nvidia-*-sharing.md')):
        found = next(rows for _, rows in tables(path) if rows and 'of each daemon' in rows[0])
        made.append(f'[{path.stem.split("-")[1].upper()}]({place}bench/results/{path.name}):\n\n' +
                    report.table(list(found[0]), [list(row.values()) for row in found]))
    return '\n\n'.join(made) or 'Not measured on a card yet.'


def table_copy(_, name, *columns):
    """The first table of a file, or of a part of it after #; all columns, or those that are given by number."""
    file, _, part = name.partition('#')
    rows = next(rows for headings, rows in tables(RESULTS / file) if not part or headings[-1].lstrip('# ').lower().replace(' ', '-') == part)
    heads = [list(rows[0])[int(number)] for number in columns] if columns else list(rows[0])
    return report.table(heads, [[row[head] for head in heads] for row in rows])


def filled(page, text):
    place = '../' * (len(page.relative_to(ROOT).parts) - 1)

    def made(found):
        kind, *words = found[2].split()
        return f'{found[1]}{globals()["table_" + kind.replace("-", "_")](place, *words)}\n{found[3]}'
    return MARKED.sub(made, text)


if __name__ == '__main__':
    sys.exit(marked.rewrite(PAGES, filled, sys.argv[1:] == ['--check'], 'is not what bench/results says: run docs/generate/results.py'))
