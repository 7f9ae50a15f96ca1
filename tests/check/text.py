# SPDX-License-Identifier: MIT
"""Licence lines, line ends, links between pages, no path of a developer's machine, and pages of docs/ that are manuals: they
name no commit, and a decision has at most 40 lines. Code names no host that it was measured on."""
import re

import tree

LICENSED = (".c", ".h", ".def", ".cu", ".cuh", ".sh", ".py", ".conf", ".js", ".css", ".html")
BINARY = (".jpg", ".jpeg", ".png", ".gz", ".xz", ".zip", ".webp", ".bin", ".icc")
MACHINE = re.compile(r"(?<![\w.])/(?:work|root|home/\w+|Users/\w+|workspace)/")
COMMIT = re.compile(r"(?<![\w.-])(?!ed25519)(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,8}(?![\w.-])")
DECISION_LINES = 40
# Numbers that were measured on a host are in TUNED, and not beside the code.
HOST = re.compile(r"\b(?:A100|B200|H100|H200|EPYC|Xeon)\b")
TUNED = ("core/tuned.h", "gpu/cuda/architectures.def")
PRODUCT = ("core/", "detect/", "filters/", "codecs/", "config/", "cpu/", "gpu/", "server/")
C_SUFFIXES = (".c", ".h", ".def", ".cu", ".cuh")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def check_text(path, name, text):
    problems = []
    head = "\n".join(text.splitlines()[:3])
    if (path.suffix in LICENSED or path.name in ("Makefile", "Dockerfile")) and "SPDX-License-Identifier: MIT" not in head:
        problems.append(f"{name} does not begin with its licence line")
    if text and not text.endswith("\n"):
        problems.append(f"{name} does not end with a line end")
    for number, line in enumerate(text.splitlines(), 1):
        if MACHINE.search(line) and name != "tests/check/text.py":
            problems.append(f"{name}:{number} has a path of one machine")
        if line != line.rstrip():
            problems.append(f"{name}:{number} ends in white space")
        if "\t" in line and path.suffix in (".c", ".h", ".py", ".def", ".cu", ".cuh", ".js"):
            problems.append(f"{name}:{number} has a tab")
        if path.suffix in C_SUFFIXES and name.startswith(PRODUCT) and name not in TUNED and HOST.search(line):
            problems.append(f"{name}:{number} names a host: numbers that were measured are in {TUNED[0]}")
    if path.suffix == ".md":
        for target in LINK.findall(text):
            if "://" not in target and not target.startswith("mailto:") and not (path.parent / target).exists():
                problems.append(f"{name} links to {target}, which is not there")
        if name.startswith("docs/"):
            problems += [f"{name} names the commit {found}" for found in COMMIT.findall(text)]
        if name.startswith("docs/adr/") and text.count("\n") > DECISION_LINES:
            problems.append(f"{name} has {text.count(chr(10))} lines, {DECISION_LINES} at most")
    return problems


def main():
    problems = []
    for path in tree.files():
        if path.suffix in BINARY:
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        problems += check_text(path, tree.name(path), text)
    tree.finish(problems)


main()
