# SPDX-License-Identifier: MIT
"""Pages that are made up: a form, mail, chat, tables, code, a terminal, an invoice, a dashboard, a calendar. Always the same."""

import html
import random

NAMES = ('Anna Ben Carla David Emma Felix Greta Hannah Ilse Jonas Karl Lena Max Nora Otto Paul Quentin Rosa Simon Tina Ulrich Vera '
         'Wilhelm Xenia Yusuf Zoe Alexander Christopher Elisabeth Friedrich Maximilian Bartholomew Li Wu Ng Ana Ida Eva Jo Al Bo Cy '
         'Di Ed Fay Gus Hal Ivy Jan Kim').split()
PLACES = 'Aachen Bergen Cork Delft Essen Faro Gent Hull Izmir Jena Kiel Lyon Malmö Nancy Oslo Porto'.split()
WORDS = ('the invoice was sent on time and we will look at it again before the meeting about delivery of new parts for a machine that '
         'nobody has ordered so far please tell them where it should go').split()
STYLE = """:root { color-scheme: light dark } body { font: 15px/1.45 sans-serif; margin: 12px 20px }
table { border-collapse: collapse } td, th { padding: 3px 10px; border-bottom: 1px solid #8885; text-align: left } .n { text-align: right }
pre { font: 13px/1.35 monospace; margin: 4px 0 } .small { font-size: 10px } .tiny { font-size: 8px } input, select, button {
font: 14px sans-serif; padding: 4px 8px } .grey { color: #888 } .badge { background: #c22; color: #fff; border-radius: 9px; padding: 0 6px;
font-size: 11px } .bubble { display: inline-block; background: #8883; border-radius: 12px; padding: 6px 12px; margin: 4px 0 }
.mine { text-align: right } .k { color: #0969da } .s { color: #1a7f37 } .c { color: #888; font-style: italic }
@media (prefers-color-scheme: dark) { .k { color: #79c0ff } .s { color: #7ee787 } }"""


class Maker:
    """Random content of one page."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def one(self, things):
        return self.random.choice(things)

    def name(self):
        return f'{self.one(NAMES)} {self.one(NAMES)}s'

    def mail(self):
        return f'{self.one(NAMES)}.{self.random.randint(1, 99)}@example.org'.lower()

    def number(self, digits):
        return ''.join(self.one('0123456789') for _ in range(digits))

    def amount(self):
        return f'{self.random.randint(1, 10 ** self.random.randint(1, 6)):,}.{self.number(2)}'

    def date(self):
        return f'{self.random.randint(2019, 2026)}-{self.random.randint(1, 12):02}-{self.random.randint(1, 28):02}'

    def text(self, words):
        return ' '.join(self.one((self.one(WORDS),) * 8 + (self.one(NAMES), self.number(4))) for _ in range(words)).capitalize() + '.'


def form(make):
    rows = ''
    for label, value in (('Name', make.name()), ('E-mail', make.mail()), ('Phone', '+49 ' + make.number(9)), ('IBAN', 'DE' + make.number(20)),
                         ('Card', make.number(16)), ('PIN', make.number(4)), ('Street', f'{make.one(NAMES)} Street {make.number(2)}')):
        rows += f'<p><label>{label}<br><input size=30 value="{value}"></label> <input size=24 placeholder="e.g. {value[::-1]}"></p>'
    options = ''.join(f'<option>{place}' for place in make.random.sample(PLACES, 6))
    return (f'<h2>Your account</h2>{rows}<p><select>{options}</select> <button>Save</button> <input disabled value="{make.mail()}"></p>'
            f'<div contenteditable style="border: 1px solid #8888; padding: 6px">{make.text(30)}</div><p class=small>{make.text(25)}</p>')


def mail(make):
    rows = ''.join(f'<tr><td><b>{make.name()}</b><td>{make.text(5)} <span class=grey>{make.text(7)}</span><td class=small>{make.date()}'
                   f'<td><span class=badge>{make.random.randint(1, 9)}</span>' for _ in range(12))
    return (f'<table>{rows}</table><h3>{make.text(6)}</h3><p class=grey>From {make.name()} &lt;{make.mail()}&gt; to {make.mail()}</p>'
            + ''.join(f'<p>{make.text(50)}</p>' for _ in range(5)))


def chat(make):
    return ''.join(f'<div class="{make.one(("", "mine"))}"><div class="small grey">{make.one(NAMES)}, {make.number(2)}:{make.number(2)}</div>'
                   f'<span class=bubble>{make.text(make.random.randint(1, 14))}</span></div>' for _ in range(22))


def ledger(make):
    rows = ''.join(f'<tr><td>{i + 1}<td>{make.name()}<td>{make.date()}<td>{make.one(PLACES)}<td class=n>{make.amount()}'
                   f'<td class=n>{make.amount()}<td>{make.one("ABCX")}<td><code>{make.number(12)}</code>' for i in range(40))
    return f'<h2>Payments</h2><table style="font-size: 13px"><tr><th>No.<th>Name<th>Date<th>Place<th class=n>Sum<th class=n>Rest<th>Key<th>Account{rows}</table>'


def code(make):
    lines = []
    for i in range(60):
        a, b = make.one(NAMES).lower(), make.one(WORDS)
        lines.append(make.one((
            f'<span class=k>def</span> {a}_{b}({b}, x=<span class=s>{make.number(3)}</span>):', f'    {a} = {b}[{i}] + <span class=s>"{make.mail()}"</span>',
            f'    <span class=k>if</span> {a} != l <span class=k>and</span> i &lt; {make.number(2)}:', f'        <span class=k>return</span> {{"{b}": x}}',
            f'    <span class=c># {make.text(8)}</span>', f'    token = <span class=s>\'{make.random.getrandbits(160):x}\'</span>', '')))
    return '<pre>' + '\n'.join(f'<span class=grey>{i + 1:4}</span>  {line}' for i, line in enumerate(lines)) + '</pre>'


def terminal(make):
    lines = [f'{make.date()}T{make.number(2)}:{make.number(2)}:{make.number(2)}Z {make.one(("INFO", "WARN", "DEBUG"))} user={make.mail()} '
             f'ip=10.{make.number(2)}.1.{make.number(2)} took {make.number(3)} ms {make.text(4)}' for _ in range(60)]
    return f'<pre style="background: #111; color: #ddd; padding: 12px; font-size: 12px">{html.escape(chr(10).join(lines))}</pre>'


def invoice(make):
    rows = ''.join(f'<tr><td>{i + 1}<td>{make.text(4)}<td class=n>{make.random.randint(1, 30)}<td class=n>{make.amount()}' for i in range(9))
    return (f'<div style="font-family: serif"><h1>Invoice {make.number(7)}</h1><p>{make.name()}<br>{make.one(NAMES)} Street {make.number(2)}<br>'
            f'{make.number(5)} {make.one(PLACES)}</p><p>{make.text(40)}</p><table width=100%>{rows}</table><p class=n><b>{make.amount()} EUR</b></p>'
            f'<p class=tiny>{make.text(60)}</p><p class=small>{make.name()}, {make.mail()}, DE{make.number(20)}</p></div>')


def dashboard(make):
    cells = ''.join(f'<div style="border: 1px solid #8886; padding: 8px; width: 150px"><div class=small>{make.text(2)}</div>'
                    f'<div style="font-size: {make.one((20, 28, 40, 64))}px">{make.number(make.random.randint(1, 4))}</div>'
                    f'<div class=tiny>{make.one(NAMES)} {make.date()}</div><span class=badge>{make.random.randint(1, 9)}</span></div>' for _ in range(28))
    return f'<div style="display: flex; flex-wrap: wrap; gap: 8px">{cells}</div>'


def calendar(make):
    days = [f'<td valign=top style="border: 1px solid #8886; width: 150px; height: 90px"><b>{i % 31 + 1}</b>' + ''.join(
        f'<div class=small style="background: {make.one(("#174ea6", "#0d652d", "#a50e0e"))}; color: #fff; margin: 1px">{make.number(2)}:00 {make.name()}</div>'
        for _ in range(make.random.randint(0, 3))) for i in range(42)]
    return '<table>' + ''.join('<tr>' + ''.join(days[i:i + 7]) for i in range(0, 42, 7)) + '</table>'


def pages():
    """(name, HTML) of each."""
    for seed, content in enumerate((form, mail, chat, ledger, code, terminal, invoice, dashboard, calendar)):
        for copy in range(2):
            yield f'{content.__name__} {copy + 1}', f'<!doctype html><meta charset=utf-8><style>{STYLE}</style><body>{content(Maker(100 * seed + copy))}'
