# SPDX-License-Identifier: MIT
"""Changes that leave something out of a statement: what no single token shows.

    dropped status    a function is called and what it returns is taken for ST_OK
    dropped call      a function is not called at all, and what it would return is taken for ST_OK
    dropped operand   one side of &&, ||, + or |
    dropped check     an `if` that leaves, or a choice between a failure and going on
    dropped row       an element of a table

A statement is what stands between two semicolons or braces, on one line or several.
"""

import pathlib
import re

STATUS_FUNCTION = re.compile(r"^(?:static )?(?:inline )?enum status \**([a-z_]\w*)\(", re.MULTILINE)
IGNORED = re.compile(r"(log_message|poison|assert\w*|metrics_set|va_end|va_start|\w*printf|free|close)\(")
# What ends an operand at its own depth of brackets: all that binds less than the operator.
ENDS = {
    "||": r" = | \|= | \+= | -= | &= | \? | : |, |; |\breturn ",
    "&&": r" = | \|= | \+= | -= | &= | \? | : |, |; |\breturn | \|\| ",
    "|": r" = | \|= | \+= | -= | &= | \? | : |, |; |\breturn | \|\| | && | \^ | & | == | != ",
    "+": r" = | \|= | \+= | -= | &= | \? | : |, |; |\breturn | \|\| | && | \^ | & | \| | == | != | < | > | <= | >= | << | >> ",
}
SAME = {"||": r" \|\| ", "&&": r" && ", "|": r" \| ", "+": r" [+-] "}
_names = {}


def status_functions(root):
    """Names of all functions of the tree that return a status."""
    if root not in _names:
        files = [path for folder in ("core", "detect", "filters", "codecs", "cpu", "config", "server", "gpu")
                 for path in pathlib.Path(root, folder).rglob("*.[ch]")]
        _names[root] = {name for path in files for name in STATUS_FUNCTION.findall(path.read_text(encoding="utf-8"))}
    return _names[root]


def closing(text, opening):
    """Where the bracket at `opening` is closed; None when it is not."""
    depth = 0
    for i in range(opening, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return i
    return None


def edges(masked, at, width, pattern):
    """Where the operands of the operator at `at` begin and end: at a bracket of a lower depth, or at the pattern."""
    begin, end = 0, len(masked.rstrip(";{ "))
    depth = 0
    for i in range(at - 1, -1, -1):
        depth += (masked[i] in ")]}") - (masked[i] in "([{")
        found = re.compile(pattern).match(masked, i) if depth == 0 else None
        if depth < 0 or (found and found.end() <= at + 1):
            begin = i + 1 if depth < 0 else found.end()
            break
    depth = 0
    for i in range(at + width, end):
        depth += (masked[i] in "([{") - (masked[i] in ")]}")
        if depth < 0 or (depth == 0 and re.compile(pattern).match(masked, i)):
            end = i
            break
    return begin, end


def operands(text, masked):
    for found in re.finditer(r" (&&|\|\||\+|\|) ", masked):
        operator = found.group(1)
        both = ENDS[operator] + "|" + SAME[operator]
        begin, end = edges(masked, found.start(), found.end() - found.start(), both)
        left, right = text[begin:found.start()], text[found.end():end]
        if left.strip() and right.strip() and "{" not in masked[begin:end]:
            yield "dropped operand", text[:begin] + right + text[end:]
            yield "dropped operand", text[:begin] + left + text[end:]


def statuses(text, masked, names):
    for found in re.finditer(r"(?<![\w>.])(?:[a-z_][\w\[\]]*(?:->|\.))*([a-z_]\w*)\(", masked):
        end = closing(masked, found.end() - 1)
        if found.group(1) not in names or end is None or masked[:found.start()].strip() in ("", "(void)"):
            continue
        before, call, after = text[:found.start()], text[found.start():end + 1], text[end + 1:]
        yield "dropped status", f"{before}((void){call}, ST_OK){after}"
        yield "dropped call", f"{before}ST_OK{after}"


def calls(text, masked):
    found = re.match(r"(?:\(void\))?[a-z_][\w>.\-]*\(", masked)
    if found and closing(masked, found.end() - 1) == len(masked) - 2 and not IGNORED.match(masked):
        yield "dropped call", ";"


def choices(text, masked):
    """`condition ? one : other` becomes one or the other where one of them is a failure."""
    for found in re.finditer(r" \? ", masked):
        begin, _ = edges(masked, found.start(), 3, r" = |, |; |\breturn | : | \? ")
        depth, nested, colon, end = 0, 0, None, len(masked.rstrip(";{ "))
        for i in range(found.end(), end):
            depth += (masked[i] in "([{") - (masked[i] in ")]}")
            nested += depth == 0 and masked.startswith(" ? ", i)
            if depth == 0 and masked.startswith(" : ", i):
                colon, nested = (i, nested - 1) if colon is None and nested == 0 else (colon, nested - 1)
            if depth < 0 or (depth == 0 and re.match(r", |; ", masked[i:])):
                end = i
                break
        if colon is None:
            continue
        one, other = text[found.end():colon], text[colon + 3:end]
        if re.search(r"\bfail\w*\(|\bST_[A-Z]", one + other):
            yield "dropped check", text[:begin] + one + text[end:]
            yield "dropped check", text[:begin] + other + text[end:]


def checks(text, masked, following):
    found = re.fullmatch(r"(\} else )?if \((.*)\) \{", masked)
    if found and re.match(r"\s*(return|goto|break|continue)\b", following):
        yield "dropped check", f"{text[:found.start(2)]}false && ({text[found.start(2):found.end(2)]}){text[found.end(2):]}"


def rows(text, masked):
    """Elements of a table that stand on one line: `{1, "a"}, {2, "b"},` or `NAME, OTHER(2),`."""
    start, depth, end = len(text) - len(text.lstrip()), 0, len(masked.removesuffix("};"))
    for i in range(start, end + 1):
        depth += i < end and (masked[i] in "([{") - (masked[i] in ")]}")
        if depth < 0:
            return
        if depth == 0 and (i == end or masked[i] == ","):
            if masked[start:i].strip(" \x00"): # a text alone goes on from the line before
                yield "dropped row", text[:start] + text[min(i + 1, end):].lstrip()
            start = i + 1


def statement(text, masked, following, names):
    """All changes of one statement."""
    yield from statuses(text, masked, names)
    yield from calls(text, masked)
    yield from checks(text, masked, following)
    yield from choices(text, masked)
    yield from operands(text, masked)
