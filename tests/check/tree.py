# SPDX-License-Identifier: MIT
"""The files of the source tree, for the checks beside this file."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = {"build", ".git", "__pycache__", ".pytest_cache"}
C_FOLDERS = ("core", "filters", "codecs", "cpu", "gpu", "config", "server", "bench", "tests")


def files(*suffixes):
    """Every file with one of the suffixes (all files without any), in a stable order."""
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        if path.is_file() and not SKIPPED.intersection(parts) and (not suffixes or path.suffix in suffixes):
            yield path


def name(path):
    return str(path.relative_to(ROOT))


def c_files(suffixes=(".c", ".h")):
    return [path for path in files(*suffixes) if path.relative_to(ROOT).parts[0] in C_FOLDERS]


TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def code(path):
    """The C text without comments and strings, with the same line numbers."""
    return TOKEN.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), path.read_text())


def finish(problems, summary=""):
    """Ends a check: prints what is wrong, or the summary."""
    for problem in problems:
        print("    " + problem)
    if summary:
        print("    " + summary)
    sys.exit(1 if problems else 0)
