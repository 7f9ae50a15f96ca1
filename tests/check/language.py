# SPDX-License-Identifier: MIT
"""Comments and texts of the product say who does what: a sentence with a subject and a verb, in the words of the field.

Patterns find only part of the violations. Files with known ones are in language.known, which may only
shrink."""
import re

import tree

PRODUCT = ("core", "detect", "filters", "codecs", "config", "cpu", "gpu", "server")
# In any comment or string.
WORDS = re.compile(r"\b(nobody|somebody|anybody|whoever|whomever|one's own)\b", re.I)
# How a comment begins: a clause without a noun, or a heading instead of a sentence.
OPENINGS = (
    (re.compile(r"Those (that|which|who|whose)\b"), "'Those that' has no noun: name them"),
    (re.compile(r"(What|Who|Which) (is|was|are|were|has|have|can|may|must)\b(?!.*\?)"), "'What is' has no noun: name it"),
    (re.compile(r"Of [^.:;]{1,60}:?$"), "'Of X' is no sentence"),
)
COMMENT = re.compile(r"/\*(.*?)\*/|//([^\n]*)", re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')


def comments(text):
    """(line, text in one line) of every comment; lines of // that follow each other are one."""
    blank = STRING.sub(lambda found: '"' + "_" * (len(found.group()) - 2) + '"', text)
    previous = None
    for found in COMMENT.finditer(blank):
        line, body = text.count("\n", 0, found.start()) + 1, found.group(1) or found.group(2) or ""
        body = " ".join(part.strip(" *") for part in body.splitlines()).strip()
        if previous and found.group(2) is not None and previous[2] == line - 1:
            previous = (previous[0], previous[1] + " " + body, line)
            continue
        if previous:
            yield previous[:2]
        previous = (line, body, line if found.group(2) is not None else 0)
    if previous:
        yield previous[:2]


def faults(text):
    for line, comment in comments(text):
        yield from (f"{line}: '{found.group()}'" for found in WORDS.finditer(comment))
        yield from (f"{line}: {why}" for pattern, why in OPENINGS if pattern.match(comment))
    for number, row in enumerate(text.splitlines(), 1):
        yield from (f"{number}: '{word}' in a text" for string in STRING.findall(row) for word in WORDS.findall(string))


def main():
    found, count = {}, 0
    for path in tree.c_files((".c", ".h", ".def", ".cu", ".cuh")):
        name = tree.name(path)
        if name.split("/")[0] in PRODUCT:
            wrong = sorted(faults(path.read_text()), key=lambda fault: int(fault.split(":")[0]))
            count += len(wrong)
            if wrong:
                found[name] = "line " + "; ".join(wrong)
    problems = tree.shrinking("language", "file", found)
    tree.finish(problems, f"left to mend: {count} sentences in {len(found)} files")


main()
