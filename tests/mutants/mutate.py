# SPDX-License-Identifier: MIT
"""Small changes of C code, of the kind that programmers make by mistake.

`mutants(path)` reads one source file of this project's style (clang-format, one statement a line) and returns
every change that it knows. Comments, strings and preprocessor lines are left alone; only bodies of functions
are changed.
"""

import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Mutant:
    path: str
    line: int  # counted from 1
    function: str
    kind: str
    before: str  # the line without the blanks around it
    after: str
    text: str  # the whole changed line

    @property
    def key(self):
        """Names the mutant without its line number, so that it survives edits elsewhere in the file."""
        return f"{self.path} {self.function}: {self.before} => {self.after}"


RELATIONS = {"<": ["<=", ">="], "<=": ["<"], ">": [">=", "<="], ">=": [">"], "==": ["!="], "!=": ["=="]}
SWAPPED = {"&&": "||", "||": "&&", "+": "-", "-": "+", "+=": "-=", "-=": "+=", "|=": "=", "<<": ">>", ">>": "<<"}
IGNORED_CALLS = re.compile(r"log_message|poison|assert|metrics_set|va_end|va_start|printf")
FUNCTION = re.compile(r"^[a-z].*?\b([a-z_0-9]+)\(.*\{$")


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


def mutants(path, root="."):
    with open(f"{root}/{path}", encoding="utf-8") as file:
        lines = file.read().split("\n")
    found, function, inside, seen, head = [], None, False, set(), ""
    for number, line in enumerate(lines, 1):
        masked, inside = mask(line, inside)
        if line.startswith("#"):
            continue
        head = head + " " + masked.strip() if line[:1].strip() else head + masked if function is None else ""
        if function is None:
            begins = masked.endswith("{") and FUNCTION.match(head.strip())
            if begins and not re.match(r"(struct|enum|union|typedef)\b[^(]*\{$", head.strip()):
                function = begins.group(1)
                name = re.search(r"\b([a-z_]\w*)\(", head)
                function = name.group(1) if name else function
            head = "" if masked.endswith(("}", ";", "{")) else head
            continue
        if line == "}":
            function, head = None, ""
            continue
        following = lines[number] if number < len(lines) else ""
        for kind, text in (*operators(line, masked), *statements(line, masked, following), *arguments(line, masked)):
            if text != line and (number, text) not in seen:
                seen.add((number, text))
                found.append(Mutant(path, number, function, kind, line.strip(), text.strip(), text))
    return found
