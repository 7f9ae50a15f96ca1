# SPDX-License-Identifier: MIT
"""The Markdown of the project's own docs as simple HTML: headings, paragraphs, lists, tables, code, links, emphasis."""

import html
import re

STYLE = """:root { color-scheme: light dark } body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 16px auto; padding: 0 16px }
code, pre { font: 13.5px/1.4 monospace } pre { padding: 8px; border: 1px solid #8888 } table { border-collapse: collapse; font-size: 14px }
td, th { border: 1px solid #8888; padding: 3px 8px; text-align: left }"""


def inline(text):
    text = html.escape(re.sub(r'!?\[([^\]]*)\]\([^)]*\)', r'\1', text), quote=False)
    text = re.sub(r'`([^`]+)`', r'<code>\1</code>', text)
    text = re.sub(r'\*\*([^*]+)\*\*', r'<b>\1</b>', text)
    return re.sub(r'\*([^*\s][^*]*)\*', r'<i>\1</i>', text)


def table(lines):
    rows = [re.split(r'(?<!\\)\|', line.strip().strip('|')) for line in lines if not re.fullmatch(r'[|:\s-]+', line)]
    return '<table>' + ''.join('<tr>' + ''.join(f'<td>{inline(cell.strip())}</td>' for cell in row) + '</tr>' for row in rows) + '</table>'


def block(lines):
    """HTML of lines between two that are empty."""
    head = re.match(r'(#{1,6}) +(.*)', lines[0])
    if head:
        level = len(head[1])
        return f'<h{level}>{inline(head[2])}</h{level}>' + (block(lines[1:]) if lines[1:] else '')
    if lines[0].startswith('    '):
        return '<pre>' + html.escape('\n'.join(line[4:] for line in lines), quote=False) + '</pre>'
    if lines[0].startswith('|'):
        return table(lines)
    if re.match(r'\s*([*-]|\d+\.) ', lines[0]):
        items = re.split(r'^\s*(?:[*-]|\d+\.) +', '\n'.join(lines), flags=re.M)[1:]
        return '<ul>' + ''.join(f'<li>{inline(item)}</li>' for item in items) + '</ul>'
    return f'<p>{inline(" ".join(lines))}</p>'


def page(text):
    """A whole page of a file in Markdown."""
    text = re.sub(r'<!--.*?-->\n?', '', text, flags=re.S)
    out = []
    for number, part in enumerate(re.split(r'^```.*\n', text, flags=re.M)):
        if number % 2:
            out.append(f'<pre>{html.escape(part, quote=False)}</pre>')
        else:
            out += [block(lines.split('\n')) for lines in re.split(r'\n\s*\n', part.strip('\n')) if lines.strip()]
    return f'<!doctype html><meta charset=utf-8><style>{STYLE}</style><body>' + '\n'.join(out)
