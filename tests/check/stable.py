# SPDX-License-Identifier: MIT
"""What docs/compatibility.md promises for all of 1.x is still there, by what the program says of itself: tests/check/stable/*.txt has a line
for each fact, in words that a change of a type, a default or a limit changes.

    tests/check/stable.py            fails for a line that is gone or changed, and for one that the lists lack
    tests/check/stable.py --write    adds what is new; with --break it also removes what is gone, which only a new major version may do

Needs a current build with all formats (BLURD=path of the program, build/release/blurd); without one the exit status is 77."""
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile

import tree

sys.path.insert(0, str(tree.ROOT / "docs/generate"))
import tables  # noqa: E402

LISTS = tree.ROOT / "tests/check/stable"
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("BLURD_") and name != "PORT"}
ROW = re.compile(r"^\| `([^`]+)` \| (.*?) \| (.*?) \| (.*?) \| ", re.M)
# What scripts test `$?` for.
COMMANDS = ("--version", "--check-config", "--no-such-option", "--port=many", "--config=/no/such/file", "--check-health --port=1", "--benchmark=no-such-job x",
            "run", "run blur /no/such/file -o OUT", "run blur?sigma=no PICTURE -o OUT", "run blur PICTURE -o OUT", "run blur LICENSE -o OUT2",
            "verify", "verify PICTURE /no/such/file")


def program(*arguments):
    return subprocess.run([tables.PROGRAM, *arguments], stdout=subprocess.PIPE, text=True, check=True, env=CLEAN).stdout


def of_schema(name, schema):
    """Lines of a value: its type, its default and its limits; each value of a list has a line of its own, so that more may come."""
    kind = schema.get("$ref", "").rpartition("/")[2] or schema.get("format") or schema.get("type") or "any"
    yield f"{name}: {kind}"
    yield from (f"{name}: {word} {schema[word]}" for word in ("default", "x-default", "minimum", "maximum", "const") if word in schema)
    yield from (f"{name}: value {value}" for value in schema.get("enum", ()))


def of_objects(schemas):
    for name, schema in schemas.items():
        for key, inner in schema.get("properties", {}).items():
            yield from of_schema(f"{name}.{key}", inner)
        yield from (f"{name}.{key}: always there" for key in schema.get("required", ()))


def parameters(document):
    schemas = document["components"]["schemas"]
    for key, one in document["components"]["parameters"].items():
        schema = one["schema"]
        yield from of_schema(key, schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema)


def paths(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method == "head":
                continue  # wherever there is a GET
            name = f"{method.upper()} {path}"
            yield f"{name}: {operation['operationId']}"
            yield from (f"{name}: {one['$ref'].rpartition('/')[2]}" for one in operation.get("parameters", ()) if "$ref" in one)
            yield from (f"{name}: takes {kind}" for kind in operation.get("requestBody", {}).get("content", ()))


def options(text):
    for name, flags, default, allowed in ROW.findall(text):
        yield f"{name}: {flags.replace('<br>', ' ')}, default {default}"
        values = re.fullmatch(r"one of (.*)", allowed)
        yield from (f"{name}: value {value}" for value in values[1].split(", ")) if values else [f"{name}: {allowed}"]


def chart():
    return (f"{row[0]} default {row[1]}" for row in (line.split(" | ") for line in tables.chart_table().splitlines()[2:]) for row in [(row[0][2:], row[1])])


def exits(folder):
    """Exit statuses, by running the program."""
    names = {"PICTURE": str(tree.ROOT / "docs/pictures/original.jpg"), "LICENSE": str(tree.ROOT / "LICENSE"), "OUT": f"{folder}/out", "OUT2": f"{folder}/out2"}
    running = [(line, subprocess.Popen([tables.PROGRAM, *(names.get(word, word) for word in line.split())], env=CLEAN, cwd=folder,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)) for line in COMMANDS]
    return [f"blurd {line}: {one.wait(60)}" for line, one in running]


class Daemon:
    """One that is asked for what it counts and logs, on a socket in the folder."""
    def __init__(self, folder):
        self.path = f"{folder}/socket"
        self.process = subprocess.Popen([tables.PROGRAM, "--listen", f"unix:{self.path}", "--gpus=none", "--cpu-level=baseline", "--log-format=json"], env=CLEAN,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if '"listening"' in line:
                break

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(self.path)
        connection.request(method, path, body)
        return connection.getresponse().read().decode(errors="replace")

    def log(self):
        self.process.send_signal(signal.SIGTERM)
        return [json.loads(line) for line in self.process.communicate(timeout=60)[1].splitlines()]


def metrics(text):
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    for name, kind in kinds.items():
        rows = re.findall(rf"^{name}(?:_bucket|_sum|_count)?(?:{{(.*?)}})? ", text, re.M)
        labels = sorted({label for row in rows for label in re.findall(r'(\w+)="', row)})
        yield f"{name}: {kind}" + (f" by {', '.join(labels)}" if labels else "")


def stable():
    """{list: its lines}"""
    document = json.loads(program("--help-openapi"))
    known = re.findall(r"^(?:READ_)?FORMAT\(\w+, (\w+),", (tree.ROOT / "codecs/formats.def").read_text(), re.M)
    if set(known) - set(document["x-formats"]["reads"]):
        print("    this build lacks a format: what is stable is compared by builds that have all")
        sys.exit(77)
    known = document["components"]
    shared = {schema["$ref"].rpartition("/")[2] for one in known["parameters"].values() for schema in [one["schema"]] if "$ref" in schema}
    with tempfile.TemporaryDirectory() as folder:
        daemon = Daemon(folder)
        daemon.ask("POST", "/blur", (tree.ROOT / "docs/pictures/original.jpg").read_bytes())
        daemon.ask("POST", "/blur?sigma=no", b"x")
        counted, version, made = daemon.ask("GET", "/metrics"), json.loads(daemon.ask("GET", "/version")), exits(folder)
        fields = {key for row in daemon.log() for key in row if row["event"] == "request"}
    return {
        "paths": paths(document), "parameters": parameters(document), "schemas": of_objects({key: one for key, one in known["schemas"].items() if key not in shared}),
        "problems": (value.replace("urn:blurd:problem:", "") for value in known["schemas"]["Problem"]["properties"]["type"]["enum"]),
        "headers": (line for key, one in known["headers"].items() for line in of_schema(key, one["schema"])),
        "options": options(program("--help-markdown")), "chart": chart(), "metrics": metrics(counted), "exit": made,
        "log": fields, "version": version,
    }


def main():
    if not tables.is_current():
        print("    blurd is not built, or older than its sources: what is stable is compared by the http tests")
        sys.exit(77)
    problems = []
    for name, lines in stable().items():
        path, now = LISTS / f"{name}.txt", set(lines)
        old = set(path.read_text().splitlines()) if path.exists() else set()
        gone, new = old - now, now - old
        if "--write" in sys.argv:
            LISTS.mkdir(exist_ok=True)
            path.write_text("".join(line + "\n" for line in sorted(now if "--break" in sys.argv else now | old)))
            new, gone = set(), gone if "--break" not in sys.argv else set()
        problems += [f"stable/{name}.txt has '{line}', which is gone or changed: 1.x promises it (docs/compatibility.md)" for line in sorted(gone)]
        problems += [f"stable/{name}.txt lacks '{line}': run python3 tests/check/stable.py --write" for line in sorted(new)]
    tree.finish(problems)


main()
