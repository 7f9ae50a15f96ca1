# SPDX-License-Identifier: MIT
"""Copies the pages into one folder, where they stand to each other as in the repository, with all that they link to. So links are
the same in both. A link to a source file leads to a page that shows it, and one to a folder to a page that lists it."""

import os
import re
import shutil

LINK = re.compile(r'(\]\()([^)#\s]+)((?:#[^)]*)?\))')
PICTURES = ('.jpg', '.png', '.svg', '.webp', '.gif')
LANGUAGES = {'.py': 'python', '.json': 'json', '.yaml': 'yaml', '.yml': 'yaml', '.c': 'c', '.ts': 'typescript', '.mjs': 'javascript',
             '.go': 'go', '.sh': 'bash', '.service': 'ini', '.socket': 'ini', '.conf': 'nginx'}
NOT_SEARCHED = '---\nsearch:\n  exclude: true\n---\n'
BAR_IN_CODE = re.compile(r'`[^`]*`')
REQUESTS = re.compile(r'(?<=\n\n)(?:    curl .*\n)+')
PARAMETERS = re.compile(r'^\| parameter \| values \| default \| meaning \|\n(?:\|.*\n)+', re.M)
ALONE = ('README.md', 'docs/gallery.md')  # pages whose part of the list has no other: they get its place


def title(path):
    found = re.search(r'^# (.*)$', path.read_text(), re.M)
    return found[1] if found else path.name


def source_page(root, path):
    language = LANGUAGES.get(path.suffix, 'text')
    return f'{NOT_SEARCHED}# {path.relative_to(root)}\n\n````{language}\n{path.read_text()}````\n'


def folder_page(root, folder):
    pages = sorted(folder.glob('*.md'))
    return f'{NOT_SEARCHED}# {folder.relative_to(root)}\n\n' + ''.join(f'* [{title(page)}]({page.name})\n' for page in pages)


class Stage:
    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        self.done = set()
        shutil.rmtree(folder, ignore_errors=True)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def add(self, path):
        """Copies a page and all that it leads to."""
        left = [path]
        while left:
            path = left.pop()
            if path not in self.done:
                self.done.add(path)
                left += self.page(path)

    def page(self, path):
        """Copies one page, and tells to which others it leads."""
        leads_to = []

        def replace(found):
            target = found[2]
            if '://' in target or target.startswith('mailto:'):
                return found[0]
            there = (path.parent / target).resolve()
            name = os.path.relpath(there, self.root)
            if there.is_dir():
                self.write(f'{name}/index.md', folder_page(self.root, there))
                leads_to.extend(there.glob('*.md'))
                return f'{found[1]}{target.rstrip("/")}/index.md{found[3]}'
            if there.suffix == '.md':
                leads_to.append(there)
            elif there.suffix in PICTURES:
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(there, self.folder / name)
            else:
                self.write(f'{name}.md', source_page(self.root, there))
                return f'{found[1]}{target}.md{found[3]}'
            return found[0]

        self.write(path.relative_to(self.root), LINK.sub(replace, arranged(path.relative_to(self.root), path.read_text())))
        return leads_to


def requests(found):
    """Lines of curl are broken where the screen ends, with a class that site.css knows."""
    lines = ''.join(line[4:] for line in found[0].splitlines(keepends=True))
    return f'``` {{ .sh .requests }}\n{lines}```\n'


def arranged(name, text):
    """What is for screens: tables of parameters, which site.css puts below each other on phones, and lines of curl."""
    text = PARAMETERS.sub(lambda found: f'<div class="parameters" markdown>\n\n{found[0]}\n</div>\n', unescaped(text))
    text = REQUESTS.sub(requests, text) if str(name) != 'docs/gallery.md' else text
    return ('---\nhide: [navigation]\n---\n' if str(name) in ALONE else '') + text


def unescaped(text):
    """In code within tables GitHub wants bars with a backslash, which Python's Markdown would show."""
    return ''.join(BAR_IN_CODE.sub(lambda code: code[0].replace('\\|', '|'), line) if line.startswith('|') else line
                   for line in text.splitlines(keepends=True))
