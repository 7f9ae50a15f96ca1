# SPDX-License-Identifier: MIT
"""Builds the site into build/site, as docs/site/README.md says. `make site` runs it:

    tests/python.sh docs/site/build.py      BLURD names the program, SAMPLE the one that draws a photograph

Ends with 1, and says why, if a link leads nowhere, a line of the gallery fails, or a page would fetch something from another host."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'docs/generate'), str(ROOT / 'tests/http')]
import daemon  # noqa: E402 pylint: disable=wrong-import-position
import drawing  # noqa: E402 pylint: disable=wrong-import-position
import faces  # noqa: E402 pylint: disable=wrong-import-position
import gallery  # noqa: E402 pylint: disable=wrong-import-position
import reference  # noqa: E402 pylint: disable=wrong-import-position
import stage  # noqa: E402 pylint: disable=wrong-import-position

WORK, SITE, PACKAGES = ROOT / 'build/mkdocs', ROOT / 'build/site', ROOT / 'build/mkdocs/python'
SAMPLE = os.environ.get('SAMPLE') or str(ROOT / 'build/release/bench/sample')
PAGE = re.compile(r'^ +- (?:[^:]+: )?([\w./*-]+\.md|[\w./-]+/\*)$', re.M)
# What a browser fetches by itself: not what a link leads to.
FETCHED = re.compile(r'<(?:script|img|iframe|source|video|audio)\b[^>]*\bsrc=["\']?([^"\'\s>]+)|'
                     r'<link\b(?![^>]*rel=["\']?(?:canonical|next|prev|alternate))[^>]*\bhref=["\']?([^"\'\s>]+)')
IN_STYLE = re.compile(r'url\(["\']?([^"\')]+)|@import\s+["\']([^"\']+)')


def configuration():
    """The file for MkDocs, with each page where it has a folder, and the names of the pages."""
    text = (ROOT / 'docs/site/mkdocs.yml').read_text()

    def every(found):
        return ''.join(f'{found[1]}- {path.relative_to(ROOT)}\n' for path in sorted((ROOT / found[2]).glob('*.md')))

    text = re.sub(r'^( +)- ([\w./-]+)/\*\n', every, text, flags=re.M)
    return text, PAGE.findall(text)


def make_gallery(staged):
    folder = staged / 'docs/gallery'
    folder.mkdir()
    subprocess.run([SAMPLE, folder / 'photo.jpg', '2'], check=True, stdout=subprocess.DEVNULL)
    drawing.draw(folder)
    page = staged / 'docs/gallery.md'
    with daemon.Daemon('--gpus', 'none') as server:
        page.write_text(gallery.page(page.read_text(), folder, server.port))


def make_stage(staged, pages):
    copies = stage.Stage(ROOT, staged)
    for name in pages:
        if not name.startswith('made/'):
            copies.add(ROOT / name)
    for name, text in reference.pages(daemon.BINARY).items():
        copies.write(f'made/api/{name}', text)
    for name in ('site.css', 'iframe-worker.js'):
        shutil.copy(ROOT / 'docs/site' / name, staged / 'made' / name)


def run_mkdocs(text):
    (WORK / 'mkdocs.yml').write_text(text)
    # The packages are seen by MkDocs alone.
    start = f'import sys; sys.path.insert(0, {str(PACKAGES)!r}); from mkdocs.__main__ import cli; cli()'
    command = [sys.executable, '-c', start, 'build', '--strict', '--clean', '--config-file', WORK / 'mkdocs.yml']
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout)


def of_other_hosts(site):
    """What pages and styles would make a browser fetch from elsewhere."""
    wrong = []
    for pattern, kind in ((FETCHED, '*.html'), (IN_STYLE, '*.css')):
        for path in site.rglob(kind):
            names = {name for found in pattern.findall(path.read_text()) for name in found}
            wrong += [f'{path.relative_to(site)} fetches {name}' for name in sorted(names) if re.match(r'(?:\w+:)?//', name)]
    return wrong


def main():
    if not PACKAGES.exists() or not faces.FILE.exists():
        sys.exit('site: what config/pypi.sh mkdocs and faces bring is not there')
    text, pages = configuration()
    make_stage(WORK / 'stage', pages)
    make_gallery(WORK / 'stage')
    run_mkdocs(text)
    wrong = of_other_hosts(SITE)
    if wrong:
        sys.exit('\n'.join([*wrong[:20], f'{len(wrong)} in all']))
    print(f'site: {len(list(SITE.rglob("*.html")))} pages, open {SITE}/index.html')


main()
