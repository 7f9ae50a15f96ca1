# SPDX-License-Identifier: MIT
"""Runs each line of curl of docs/gallery.md, as it stands there, and puts what was sent and what came back above it."""

import json
import re
import subprocess

import stage

LINE = re.compile(r'^    (curl .*)$', re.M)
HEADING = re.compile(r'^#+ (.*)$', re.M)
SENT, ANSWERED = re.compile(r'@([\w.-]+)'), re.compile(r' -o ([\w.-]+)$')
# The lines name the usual port: curl is told where that is.
CURL = 'curl() {{ command curl -sS --connect-to localhost:8080:127.0.0.1:{} "$@"; }}; {}'
JSON_LINES = 14


def run(line, folder, port):
    done = subprocess.run(['bash', '-c', CURL.format(port, line)], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f'docs/gallery.md: {line}\n{done.stderr}')
    return done.stdout


def figure(alt, name):
    return f'<figure markdown="span">\n![{alt}](gallery/{name})\n<figcaption>{name}</figcaption>\n</figure>\n'


def shown(answer):
    """What a person wants to see of an answer in JSON."""
    lines = json.dumps(json.loads(answer), indent=1).splitlines()
    lines = lines if len(lines) <= JSON_LINES else [*lines[:JSON_LINES], ' …']
    return '```json\n' + '\n'.join(line if len(line) < 60 else line[:58] + ' …' for line in lines) + '\n```\n'


def pair(heading, line, folder, port):
    sent = SENT.findall(line)
    answer = run(line, folder, port)
    made = ANSWERED.search(line)
    parts = [figure(f'{heading}: what is sent', name) for name in sent if name.endswith(('.jpg', '.png'))]
    parts.append(figure(f'{heading}: the answer', made[1]) if made else shown(answer))
    return '<div class="pair" markdown>\n\n' + '\n'.join(parts) + '\n</div>\n\n'


def page(text, folder, port):
    """The page with pictures; `folder` has those that are sent, and gets the answers."""
    parts, start = [], 0
    for found in LINE.finditer(text):
        heading = HEADING.findall(text, 0, found.start())[-1]
        parts += [text[start:found.start()], pair(heading, found[1], folder, port), stage.requests([found[0] + '\n']), '\n']
        start = found.end()
    return ''.join(parts) + text[start:]
