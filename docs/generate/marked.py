# SPDX-License-Identifier: MIT
"""Pages with parts between marks, which a script writes."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def rewrite(pages, made, check, hint):
    """`made` takes a page and its text, and returns the text that it should have. With `check` nothing is written, and pages with another text are
    named with the hint. Returns the exit status."""
    stale = []
    for page in pages:
        text = page.read_text()
        wanted = made(page, text)
        if wanted != text:
            stale.append(page)
            if not check:
                page.write_text(wanted)
    for page in stale if check else ():
        print(f'    {page.relative_to(ROOT)} {hint}')
    return 1 if check and stale else 0
