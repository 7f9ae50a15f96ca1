# SPDX-License-Identifier: MIT
"""Small changes of C code, of the kind that programmers make by mistake.

`mutants(path)` reads one source file of this project's style (clang-format) and returns every change that it knows:
single tokens of a line, and what dropped.py leaves out of statements and tables. Comments, strings and preprocessor
lines are left alone; only bodies of functions and tables are changed.
"""

import dataclasses
import re

import dropped


@dataclasses.dataclass(frozen=True)
class Mutant:
    path: str
    line: int  # counted from 1
    function: str
    kind: str
    before: str  # the line without the blanks around it
    after: str
    text: str  # the whole changed line
    lines: int = 1  # that many lines become this one

    @property
    def key(self):
        """Names the mutant without its line number, so that it survives edits elsewhere in the file."""
        return f"{self.path} {self.function}: {self.before} => {self.after}"


RELATIONS = {"<": ["<=", ">="], "<=": ["<"], ">": [">=", "<="], ">=": [">"], "==": ["!="], "!=": ["=="]}
SWAPPED = {"&&": "||", "||": "&&", "+": "-", "-": "+", "+=": "-=", "-=": "+=", "|=": "=", "<<": ">>", ">>": "<<"}
IGNORED_CALLS = re.compile(r"log_message|poison|assert|metrics_set|va_end|va_start|printf")
FUNCTION = re.compile(r"^[a-z_].*?\b([a-z_0-9]+)\(.*\{$")


def mask(line, inside):
    """The line with comments and literals blanked out, and whether a comment goes on behind it."""
    out, i = [], 0
    while i < len(line):
        if inside:
            end = line.find("*/", i)
            stop = len(line) if end < 0 else end + 2
            out.append(" " * (stop - i))
            inside, i = end < 0, stop
        elif line.startswith("/*", i):
            inside = True
        elif line[i] in "\"'":
            stop = i + 1
            while stop < len(line) and line[stop] != line[i]:
                stop += 2 if line[stop] == "\\" else 1
            out.append("\x00" * (min(stop + 1, len(line)) - i))
            i = stop + 1
        else:
            out.append(line[i])
            i += 1
    return "".join(out), inside


def replace(line, start, end, new):
    return line[:start] + new + line[end:]


def operators(line, masked):
    for found in re.finditer(r" (<=|>=|==|!=|<|>|&&|\|\||\+=|-=|\|=|<<|>>|\+|-) ", masked):
        old = found.group(1)
        for new in RELATIONS.get(old, []) + ([SWAPPED[old]] if old in SWAPPED else []):
            yield "operator", replace(line, found.start(1), found.end(1), new)
    for found in re.finditer(r" [+-] 1\b(?!\.)", masked):
        yield "off by one", replace(line, found.start(), found.end(), "")
    for found in re.finditer(r"(?<![\w.\[])([2-9]|[1-9]\d+)(?![\w.\]])", masked):
        yield "constant", replace(line, found.start(1), found.end(1), str(int(found.group(1)) + 1))


def statements(line, masked, following):
    bare = masked.strip()
    indent = line[: len(line) - len(line.lstrip())]
    call = re.fullmatch(r"(?:\(void\))?[a-z_][\w>.\-]*\(.*\);", bare)
    if call and not IGNORED_CALLS.match(bare):
        yield "missing call", indent + ";"
    if re.fullmatch(r"[\w>.\-\[\]*&()]+ (=|\+=|-=|\|=|&=) [^;]*;", bare) and not bare.startswith("return"):
        yield "missing assignment", indent + ";"
    if re.fullmatch(r"[\w>.\-\[\]()*]+(\+\+|--);", bare):
        yield "missing assignment", indent + ";"
    condition = re.fullmatch(r"(\} else )?if \((.*)\) \{", bare)
    if condition:
        start, end = masked.index("if (") + 4, masked.rindex(") {")
        inside = line[start:end]
        yield "negated condition", replace(line, start, end, f"!({inside})")
        if re.match(r"\s*(return|goto|break|continue)\b", following):
            yield "dropped check", replace(line, start, end, f"false && ({inside})")
    if bare == "return status;":
        yield "lost status", indent + "return ST_OK;"


def arguments(line, masked):
    simple = r"[\w>.\-&*\[\]]+"
    for found in re.finditer(rf"\b[a-z_]\w*\(({simple}), ({simple})\)", masked):
        if found.group(1) != found.group(2):
            yield "swapped arguments", replace(
                line, found.start(1), found.end(2), f"{line[found.start(2):found.end(2)]}, {found.group(1)}"
            )


class Statements:
    """Puts lines together to statements, which end with a semicolon or a brace outside of brackets."""

    def __init__(self):
        self.first, self.parts, self.masked = None, [], []

    def add(self, number, line, masked):
        """(number of the first line, how many lines, text, masked text) of a statement that ends here, or None."""
        if not masked.strip():
            return None
        self.first = self.first or number
        self.parts.append(line.strip())
        self.masked.append(masked.strip())
        whole = " ".join(self.masked)
        depth = sum((c in "([") - (c in ")]") for c in whole)
        if depth > 0 or not whole.endswith((";", "{", "}", ":")):
            return None
        made = (self.first, number - self.first + 1, " ".join(self.parts), whole)
        self.first, self.parts, self.masked = None, [], []
        return made if len(made[2]) == len(made[3]) else None  # a comment stands within it


def bodies(lines):
    """(number, line, masked line, function or None, whether it lies in a table) of each line that may be changed."""
    function, inside, head, table = None, False, "", False
    for number, line in enumerate(lines, 1):
        masked, inside = mask(line, inside)
        if line.startswith("#"):
            continue
        if table:
            table = not masked.rstrip().endswith("};")
            yield number, line, masked, function, True
            continue
        table = bool(re.search(r"\bstatic const\b.*\[.*\] = \{$", head + " " + masked.strip() if function is None else masked))
        head = head + " " + masked.strip() if line[:1].strip() else head + masked if function is None else ""
        if table:
            head = ""
        elif function is None:
            begins = masked.endswith("{") and FUNCTION.match(head.strip())
            if begins and not re.match(r"(struct|enum|union|typedef)\b[^(]*\{$", head.strip()):
                name = re.search(r"\b([a-z]\w*)\(", head)
                function = name.group(1) if name else begins.group(1)
            head = "" if masked.endswith(("}", ";", "{")) else head
        elif line == "}":
            function, head = None, ""
        else:
            yield number, line, masked, function, False


def mutants(path, root="."):
    with open(f"{root}/{path}", encoding="utf-8") as file:
        lines = file.read().split("\n")
    names = dropped.status_functions(str(root))
    found, seen, statements_of = [], set(), Statements()

    def note(number, count, function, kind, before, text):
        if text.strip() != before and (number, text.strip()) not in seen:
            seen.add((number, text.strip()))
            found.append(Mutant(path, number, function, kind, before, text.strip(), text, count))

    for number, line, masked, function, table in bodies(lines):
        if table:
            for kind, text in dropped.rows(line, masked):
                note(number, 1, function or "table", kind, line.strip(), text)
            if not function:
                continue
        following = lines[number] if number < len(lines) else ""
        for kind, text in (*operators(line, masked), *statements(line, masked, following), *arguments(line, masked)):
            note(number, 1, function, kind, line.strip(), text)
        whole = None if table else statements_of.add(number, line, masked)
        if whole:
            for kind, text in dropped.statement(whole[2], whole[3], following, names):
                note(whole[0], whole[1], function, kind, whole[2], text)
    return found
