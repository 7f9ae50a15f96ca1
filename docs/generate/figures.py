#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keeps the measured figures in sentences of the pages equal to stored results. docs/generate/figures.txt says where each comes from:

    [docs/video.md]                                                   the page of the following lines
    name = nvidia-h200-video.md | faces redacted; 8 | frames a second the rows of bench/results/… with these cells, and the column
    name = check-hostile.md | C5; | last figure | ([0-9.]+)x          all figures in such places of the cells, in place of the first one
    name = *-cpu.json | sigma; blurd; sigma=5 | cpu_ms                the rows of all machines: section, subject, more; the median of their rounds
    name = docs/performance.md | blur, sigma 5 | H100: p99, ms        a table of a page that docs/generate/results.py makes
    name := 1000 / middle(other)                                      arithmetic with the lists of values of names: least, middle, most, [0]
    > redacts faces in {name} frames a second                         a sentence of the page with figures of stored results
    - wait for 20 ms                                                  no measurement: a limit, a default, a size, a definition, another's statement;
                                                                      the head of a table stands for all of the table

{name} is the value in three digits, or `least to most`; {name 2} in two digits; {name least}, {name middle 2} one of the values.

    docs/generate/figures.py [--check]    writes figures into their sentences; --check only says what is not current, and
                                          which figures with units of a measurement the list does not have"""
import fnmatch
import pathlib
import re
import statistics
import sys

import results

LIST = pathlib.Path(__file__).with_name('figures.txt')
NUMBER = r'[0-9][0-9,]*(?:\.[0-9]+)?'
RANGE = rf'({NUMBER}(?: to {NUMBER})?)'
PLACE = re.compile(r'\{(\S+)(?: (least|middle|most))?(?: (\d))?\}')
GENERATED = re.compile(r'<!-- (?:results|table): .*?<!-- end -->', re.S)
NO_TEXT = re.compile(r'```.*?```|`[^`\n]*`|\]\([^)]*\)|^    (?=\S)[^\n]*', re.S | re.M)
SKIPPED = ('docs/adr/*', 'docs/configuration.md')
THINGS = 'faces|words|plates|persons|codes|pictures|bytes|memory|the time|the rate|the bytes|that of'
# What looks like a measured figure: a number with a unit of speed, time, memory or share.
UNITS = (r'(?:ms|µs|fps|[MG]B/s|/s|GiB/s|MB|kB|KB)\b', r'(?:[^\s|.]+\s+){1,4}?(?:a|per)\s+second\b', r'/s\b', r'requests/s\b', r'ms\s+of\s+a\s+core\b',
         r'%\s*\|', r'times\s+(?:as|less|more|faster|slower|the\s+(?:time|memory|CPU)|their)\b', rf'%\s+(?:of\s+(?:all\s+|the\s+)?(?:{NUMBER}\s+)?(?:{THINGS})|fewer|smaller|larger|less|more|faster|slower)\b',
         r'of\s+[0-9][0-9,]*\s+(?:faces|words|plates|persons|codes|photographs|pictures)\b')
FIGURE = re.compile(rf'(?<![\w.,/x*^-]){NUMBER}\s*(?:{"|".join(UNITS)})')
CELL = re.compile(r'^\**[<~]?[0-9][0-9,.]*\**(?: (?:ms|MB|kB|%|MiB|x))?(?: \([^)]*\))?$')


def pages():
    found = [results.ROOT / 'README.md', *sorted(results.ROOT.glob('docs/**/*.md'))]
    names = [(str(path.relative_to(results.ROOT)), path) for path in found]
    return {name: path for name, path in names if not any(fnmatch.fnmatch(name, skipped) for skipped in SKIPPED)}


# --- stored values ------------------------------------------------------------------------------
def numbers(cell):
    return [float(number.replace(',', '')) for number in re.findall(NUMBER, cell)]


def of_json(pattern, words, value):
    (section, subject, *more) = words
    key = {name: float(number) if number.replace('.', '').isdigit() else number for name, number in (word.split('=') for word in more)}
    found = [results.report.middle(results.report.Results(path).one(section, subject=subject, **key), value) for path in sorted(results.RESULTS.glob(pattern))]
    return [number for number in found if number is not None]


def of_tables(paths, words, column, places=None):
    """The first figures of cells, both of a range; or those in `places`, a regular expression."""
    found = []
    for path in paths:
        for _, rows in results.tables(path):
            for row in rows:
                if column in row and all(word in row.values() for word in words):
                    cell = row[column].replace('*', '')
                    if places:
                        found += [float(number) for number in re.findall(places, cell)]
                    else:
                        found += numbers(cell) if re.fullmatch(RANGE, cell) else numbers(cell)[:1]
    return found


def stored(source):
    where, cells, column, *places = (part.strip() for part in source.split(' | '))
    words = [word.strip() for word in cells.rstrip(';').split(';') if word != '*']
    if where.endswith('.json'):
        return of_json(where, words, column)
    return of_tables([results.ROOT / where] if where.startswith('docs/') else sorted(results.RESULTS.glob(where)), words, column, *places)


def computed(formula, known):
    names = {name: values for name, values in known.items() if name.isidentifier()}
    tools = {'least': min, 'middle': statistics.median, 'most': max, 'round': round}
    return [float(eval(formula, {'__builtins__': {}, **tools}, names))]  # pylint: disable=eval-used # a file of the repository


def text_of(value, digits):
    """So many digits that say something, at most as many as that."""
    whole = len(str(int(value)))
    if value < 1:
        return f'{value:.{digits}g}'
    if whole >= digits:
        unit = 10 ** (whole - digits)
        return f'{round(value / unit) * unit:,}'
    return f'{value:#.{digits}g}'


def shown(known, place):
    values = known.get(place[1])
    if not values:
        return 'nothing'
    digits = int(place[3] or 3)
    if place[2]:
        return text_of({'least': min, 'middle': statistics.median, 'most': max}[place[2]](values), digits)
    ends = [text_of(value, digits) for value in (min(values), max(values))]
    return ends[0] if ends[0] == ends[1] else ' to '.join(ends)


# --- the list ------------------------------------------------------------------------------------
class Entry:
    def __init__(self, line, words, measured):
        self.line, self.words, self.measured = line, words, measured


def read_list():
    """{page: [entry]}, {name: values}, [problem]"""
    found, known, problems, page = {}, {}, [], None
    for number, line in enumerate(LIST.read_text().splitlines(), 1):
        if line.startswith('['):
            page = found.setdefault(line.strip('[]'), [])
        elif line[:2] in ('> ', '- '):
            page.append(Entry(number, line[2:].strip(), line[0] == '>'))
        elif line and line[0] != '#':
            name, _, source = line.partition('=')
            name, formula = name.strip(' :'), name.endswith(':')
            try:
                known[name] = computed(source.strip(), known) if formula else stored(source.strip())
            except (LookupError, NameError, ZeroDivisionError):
                known[name] = []
            if not known[name]:
                problems.append(f'figures.txt:{number}: no stored result has {source.strip()}')
    return found, known, problems


def pattern(words):
    """The sentence wherever its line ends are; each figure of a stored result is a group."""
    parts, last = [], 0
    for place in PLACE.finditer(words):
        parts += [re.escape(words[last:place.start()]), RANGE]
        last = place.end()
    return re.compile(r'\s+'.join(''.join([*parts, re.escape(words[last:])]).split(r'\ ')))


def settle(text, entries, known):
    """The text with the stored figures, [(begin, end) of what the list has], [problem]."""
    spans, problems = [], []
    for entry in entries:
        matches = list(pattern(entry.words).finditer(text))
        if not matches:
            problems.append(f'figures.txt:{entry.line}: no such sentence: {entry.words}')
        for match in reversed(matches):
            for group, place in reversed(list(enumerate(PLACE.finditer(entry.words), 1))) if entry.measured else ():
                wanted = shown(known, place)
                if match[group].split() != wanted.split():
                    problems.append(f'"{match[0]}" is not what is stored: {wanted}, not {match[group]}')
                    text = text[:match.start(group)] + wanted + text[match.end(group):]
    for entry in entries:
        end = r'.*\n(?:\|.*\n)*' if entry.words.startswith('|') and not entry.measured else ''  # a whole table
        spans += [match.span() for match in re.finditer(pattern(entry.words).pattern + end, text)]
    return text, spans, problems


def blank(found):
    return re.sub(r'[^\n]', ' ', found.group())


def unlisted(text, spans):
    """(line, words) of figures that are neither made nor in the list, and of tables of figures."""
    plain = NO_TEXT.sub(blank, GENERATED.sub(blank, text))
    for found in FIGURE.finditer(plain):
        if not any(begin <= found.start() and found.end() <= end for begin, end in spans):
            yield plain.count('\n', 0, found.start()) + 1, ' '.join(found[0].split())
    for table in re.finditer(r'^\|.*\n\|[-:| ]+\n((?:\|.*\n)+)', plain, re.M):
        cells = [cell.strip() for row in table[1].splitlines() for cell in row.strip('|').split(' | ')[1:]]
        if sum(bool(CELL.match(cell)) for cell in cells) * 2 > len(cells) and not any(begin <= table.start() < end for begin, end in spans):
            yield plain.count('\n', 0, table.start()) + 1, 'a table of figures: ' + table[0].splitlines()[0]


def main():
    check = sys.argv[1:] == ['--check']
    entries, known, problems = read_list()
    every = pages()
    problems += [f'figures.txt: there is no page {name}' for name in entries if name not in every]
    for name, path in every.items():
        text = path.read_text()
        wanted, spans, wrong = settle(text, entries.get(name, ()), known)
        problems += [f'{name}: {problem}' for problem in wrong if check or 'is not what is stored' not in problem]
        problems += [f'{name}:{line}: {words} is neither generated nor in docs/generate/figures.txt' for line, words in unlisted(wanted, spans)]
        if wanted != text and not check:
            path.write_text(wanted)
    for problem in problems:
        print(f'    {problem}')
    sys.exit(1 if problems else 0)


if __name__ == '__main__':
    main()
