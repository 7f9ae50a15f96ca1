# SPDX-License-Identifier: MIT
"""The playground's scripts: syntax (node), imports, and a few rules. Without node the syntax is skipped with a notice."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tree

FOLDER = tree.ROOT / "server" / "pages" / "playground"
FILE_MAX = 400
RULES = (
    (r"(?<!using )\bvar\s", "var: rather const or let"),
    (r"(?<![=!<>])[=!]=(?!=)", "== or !=: rather === or !=="),
    (r"\b(inner|outer)HTML\b|\binsertAdjacentHTML\b|\bdocument\.write\b", "text as HTML: rather textContent and elements"),
    (r"\beval\s*\(|\bnew Function\b|\bset(?:Timeout|Interval)\s*\(\s*[\"'`]", "text as code"),
    (r"\bconsole\.|\bdebugger\b|\balert\s*\(", "left over from debugging"),
    (r"\b(?:local|session)Storage\b|\bdocument\.cookie\b", "the page keeps nothing"),
)
BLANK = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";', re.M)
EXPORT = re.compile(r"^export (?:async )?(?:function\*?|class|const|let) (\w+)", re.M)
TOP = re.compile(r"^(?:async )?(?:function\*?|class|const|let) (\w+)", re.M)


def blank(text):
    """Without comments and strings, with the same line numbers."""
    return BLANK.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def used(name, text):
    return len(re.findall(rf"(?<![\w$]){re.escape(name)}(?![\w$])", text))


def check_file(name, text, exports):
    """The number of lines of one file; reports unused imports and declarations."""
    plain = blank(text)
    for number, line in enumerate(plain.splitlines(), 1):
        yield from (f"{name}:{number} {rule}" for pattern, rule in RULES if re.search(pattern, line))
    if text.count("\n") > FILE_MAX:
        yield f"{name} has {text.count(chr(10))} lines, {FILE_MAX} at most"
    for names, source in IMPORT.findall(text):
        for one in (one.strip() for one in names.split(",")):
            if one not in exports.get(source, ()):
                yield f"{name} imports {one}, which {source} does not export"
            if used(one, text) < 2:
                yield f"{name} imports {one} and does not use it"
    yield from (f"{name} declares {one} and does not use it" for one in TOP.findall(plain) if used(one, text) < 2)


def check_syntax(texts):
    """Each file alone, and all joined as join.sh does, where no name may come twice."""
    joined = "\n".join(re.sub(r"^import .*$|^export ", "", text, flags=re.M) for text in texts.values())
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (*texts.items(), ("all scripts of the page", joined)):
            path = pathlib.Path(folder) / "script.mjs"
            path.write_text(text)
            run = subprocess.run(["node", "--check", path], capture_output=True, text=True)
            if run.returncode:
                said = [line for line in run.stderr.splitlines() if "Error" in line] or ["node refuses it"]
                yield f"{name}: {said[0]}"


def main():
    texts = {path.name: path.read_text() for path in sorted(FOLDER.glob("*.js"))}
    exports = {name: set(EXPORT.findall(text)) for name, text in texts.items()}
    problems = [problem for name, text in texts.items() for problem in check_file(name, text, exports)]
    imported = {(source, one.strip()) for text in texts.values() for names, source in IMPORT.findall(text)
                for one in names.split(",")}
    problems += [f"{name} exports {one}, which no file imports" for name in texts for one in sorted(exports[name])
                 if (name, one) not in imported]
    if shutil.which("node"):
        problems += check_syntax(texts)
    else:
        print("    no node: the syntax of the scripts is not looked at")
        if not problems:
            sys.exit(77)
    tree.finish(problems, f"{len(texts)} scripts, {sum(text.count(chr(10)) for text in texts.values())} lines")


main()
