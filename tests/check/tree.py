# SPDX-License-Identifier: MIT
"""The files of the source tree, for the checks beside this file."""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = {"build", "compile_commands.json", ".git", "__pycache__", ".pytest_cache"}
C_FOLDERS = ("core", "detect", "filters", "codecs", "cpu", "gpu", "config", "server", "bench", "tests")


def files(*suffixes):
    """Every file with one of the suffixes (all files without any), in a stable order."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [one for one in folders if one not in SKIPPED]
        found += [pathlib.Path(folder, one) for one in names if one not in SKIPPED]
    return [path for path in sorted(found) if path.is_file() and (not suffixes or path.suffix in suffixes)]


def name(path):
    return str(path.relative_to(ROOT))


def c_files(suffixes=(".c", ".h")):
    return [path for path in files(*suffixes) if path.relative_to(ROOT).parts[0] in C_FOLDERS]


TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def code(path):
    """The C text without comments and strings, with the same line numbers."""
    return TOKEN.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), path.read_text())


def shrinking(check, kind, found):
    """The problems of {fault: what is wrong}, where known faults are lines `kind fault` of CHECK.known. The
    list may only shrink: a new fault is a problem, and so is a line whose fault is gone. `python3
    tests/check/CHECK.py --forget` removes such lines."""
    path = ROOT / "tests" / "check" / f"{check}.known"
    lines = path.read_text().splitlines()
    known = {line[len(kind) + 1:] for line in lines if line.startswith(kind + " ")}
    gone = {f"{kind} {fault}" for fault in known - set(found)}
    if gone and "--forget" in sys.argv:
        path.write_text("".join(line + "\n" for line in lines if line not in gone))
        gone = set()
    return [f"{fault}: {found[fault]}" for fault in sorted(set(found) - known)] + \
        [f"{path.name} has '{line}', which is mended: remove it, or run python3 tests/check/{check}.py --forget" for line in sorted(gone)]


def finish(problems, summary=""):
    """Ends a check: prints the problems, or the summary."""
    for problem in problems:
        print("    " + problem)
    if summary:
        print("    " + summary)
    sys.exit(1 if problems else 0)
