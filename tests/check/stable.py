#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What docs/compatibility.md promises for all of 1.x is still there, by what the program says of itself and does: tests/check/stable/*.txt has a line
for each fact (facts.py), in words that a change of a type, a default or a limit changes.

    tests/check/stable.py            fails for a line that is gone or changed, for a narrower limit, and for what the lists lack
    tests/check/stable.py --write    adds what is new, and wider limits; with --break it also takes what is gone or narrower, which only a new
                                     major version may do

Needs a current build with all formats and models (BLURD=path of the program, build/release/blurd); without one the exit status is 77."""
import atexit
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import facts
import tree

sys.path.insert(0, str(tree.ROOT / "docs/generate"))
import tables  # noqa: E402

LISTS = tree.ROOT / "tests/check/stable"
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("BLURD_") and name != "PORT"}
PICTURE = tree.ROOT / "docs/pictures/original.jpg"
PROGRAM = tables.PROGRAM.resolve()
STORED = tree.ROOT / "tests/http/stored"
# What scripts test `$?` for.
COMMANDS = ("--version", "--check-config", "--no-such-option", "--port=many", "--config=/no/such/file", "--check-health --port=1", "--benchmark=no-such-job x",
            "--require-gpu=true --gpus=none", "--require-gpu=true --gpus=all --cuda-library=/no/such/file --port=0 --admin-port=0",
            "run", "run blur /no/such/file -o OUT", "run blur?sigma=no PICTURE -o OUT", "run blur PICTURE -o OUT -R LINES --hash", "run blur LICENSE -o OUT2 -R LINES2",
            "verify", "verify PICTURE /no/such/file", "verify --report-trust KEYS REPORT ANSWER", "verify --report-trust KEYS REPORT PICTURE",
            "verify --report-trust /no/such/file REPORT ANSWER", "verify --port=many",
            "doctor --gpus=none --listen=unix:FREE --admin-port=0", "doctor --gpus=none --port=TAKEN --admin-port=0", "doctor --port=many")
# Requests whose answers' headers have lines of their own, beside those that /openapi.json lists: (what, method, path, headers).
ORIGIN = {"Origin": "https://page.example"}
SENT = (("a preflight", "OPTIONS", "/blur", {**ORIGIN, "Access-Control-Request-Method": "POST"}),
        ("an answer for another origin", "POST", "/blur", ORIGIN), ("a coded body", "POST", "/blur", {"Content-Encoding": "br"}),
        ("a packed description", "GET", "/openapi.json", {"Accept-Encoding": "gzip"}))
DETECTED = "/redact?detect=faces,text,codes,plates,persons&require=false"
TRACE = {"traceparent": f"00-{'1' * 32}-{'2' * 16}-01"}


def program(*arguments, **more):
    return subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, text=True, check=True, env={**CLEAN, **more}).stdout


def skip(why):
    print(f"    {why}")
    sys.exit(77)


def exits(folder):
    """Exit statuses, by running the program."""
    dual = socket.has_dualstack_ipv6()
    with socket.create_server(("", 0), family=socket.AF_INET6 if dual else socket.AF_INET, dualstack_ipv6=dual) as taken:
        names = {"PICTURE": PICTURE, "LICENSE": tree.ROOT / "LICENSE", "KEYS": STORED / "keys", "REPORT": STORED / "report.json", "ANSWER": STORED / "answer.jpg",
                 **{name: f"{folder}/{name}" for name in ("OUT", "OUT2", "LINES", "LINES2", "FREE")}, "TAKEN": taken.getsockname()[1]}

        def start(line):
            words = [re.sub("[A-Z][A-Z0-9]+$", lambda found: str(names.get(found[0], found[0])), word) for word in line.split()]
            return subprocess.Popen([PROGRAM, *words], env=CLEAN, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        running = [(line, start(line)) for line in COMMANDS]
        return [f"blurd {line}: {one.wait(60)}" for line, one in running]


class Daemon:
    """One that is asked for what it sends, counts and logs, on a socket in the folder."""
    def __init__(self, folder, *options):
        self.path = f"{folder}/socket{len(options)}"
        self.process = subprocess.Popen([PROGRAM, "--listen", f"unix:{self.path}", "--gpus=none", "--cpu-level=baseline", "--log-format=json", *options],
                                        env=CLEAN, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)  # where one of the checks ends early
        for line in self.process.stderr:
            if '"listening"' in line:
                break

    @contextlib.contextmanager
    def asked(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(self.path)
        connection.request(method, path, body, headers or {})
        with contextlib.closing(connection):
            yield connection.getresponse()

    def ask(self, *request):
        with self.asked(*request) as answer:
            return answer.read().decode(errors="replace")

    def end(self, *signals):
        """The lines of the log, behind the signals."""
        for one in signals:
            self.process.send_signal(one)
        return [json.loads(line) for line in self.process.communicate(timeout=60)[1].splitlines()]


def ends(folder):
    """Exit statuses of a daemon that is told to end: once, and twice while it waits for its load balancer."""
    once, twice = Daemon(folder), Daemon(folder, "--drain-delay=1m")
    once.end(signal.SIGTERM)
    twice.process.send_signal(signal.SIGTERM)
    for line in twice.process.stderr:
        if '"drain"' in line:
            break
    twice.end(signal.SIGTERM)
    return [f"SIGTERM: {once.process.returncode}", f"SIGTERM twice: {twice.process.returncode}"]


def sent(daemon, picture):
    """Headers that answers have by what the request has; those of connections aside, whose rules are HTTP's."""
    for what, method, path, headers in SENT:
        with daemon.asked(method, path, picture if method == "POST" else None, headers) as answer:
            yield f"{what}: {answer.status}"
            yield from (f"{what} has {name}" for name in answer.headers if name not in ("Date", "Connection", "Content-Length"))
    with daemon.asked("POST", "/redact?region=0,0,16,16&report=true", picture, {}) as answer:
        for part in re.findall(rb'Content-Disposition: ([^\r]*)', answer.read()):
            yield f"a report has a part with Content-Disposition: {part.decode()}"


def lives(folder):
    """What is told by daemons: {list: its lines}."""
    picture, key = PICTURE.read_bytes(), f"{folder}/key.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True, stderr=subprocess.DEVNULL)
    daemon = Daemon(folder, "--cors-origins", ORIGIN["Origin"], "--report-key", key)
    version = json.loads(daemon.ask("GET", "/version"))
    if not all(version[name] for name in ("faces", "text", "codes", "plates", "persons")):
        skip("this build lacks a format or a model: what is stable is compared by builds that have all")
    daemon.ask("POST", "/blur?sigma=no", b"x", TRACE)
    daemon.ask("POST", DETECTED, picture)
    daemon.ask("POST", "/series/blur", picture, {"Content-Type": "video/x-mjpeg"})
    found = {"headers": list(sent(daemon, picture)), "metrics": list(facts.metrics(daemon.ask("GET", "/metrics"))), "version": version}
    return {**found, "log": {key for row in daemon.end(signal.SIGTERM) for key in row if row["event"] == "request"}}


def stable():
    """{list: its lines}"""
    document = json.loads(program("--help-openapi"))
    known = re.findall(r"^(?:READ_)?FORMAT\(\w+, (\w+),", (tree.ROOT / "codecs/formats.def").read_text(), re.M)
    if set(known) - set(document["x-formats"]["reads"]):
        skip("this build lacks a format: what is stable is compared by builds that have all")
    if not shutil.which("openssl"):
        skip("no openssl, which makes a key for reports")
    with tempfile.TemporaryDirectory() as folder:
        lists, statuses = lives(folder), [*exits(folder), *ends(folder)]
        for name in ("LINES", "LINES2"):  # what is done, and what has failed
            rows = [json.loads(line) for line in pathlib.Path(folder, name).read_text().splitlines()]
            lists["run"] = lists.get("run", set()) | {key for row in rows for key in row}
    options = {*facts.options(program("--help-markdown"), program("--help"))}
    options |= {"the variable PORT is BLURD_PORT"} if re.search("^port = 1234\\b", program("--check-config", PORT="1234"), re.M) else set()
    rows = [line[2:].split(" | ") for line in tables.chart_table().splitlines()[2:]]
    return {
        **lists, "paths": facts.paths(document), "parameters": facts.parameters(document), "schemas": facts.schemas(document),
        "problems": (value.replace("urn:blurd:problem:", "") for value in document["components"]["schemas"]["Problem"]["properties"]["type"]["enum"]),
        "headers": [*lists["headers"], *facts.headers(document)], "options": options, "chart": facts.chart((row[0], row[1]) for row in rows), "exit": statuses,
        "report": facts.report(json.loads((tree.ROOT / "docs/api/report.schema.json").read_text())),
    }


def held(path, now, write=False, breaking=False):
    """What is wrong with a list, and the list brought up to date."""
    old = set(path.read_text().splitlines()) if path.exists() else set()
    broken, new, wider = facts.compared(old, now)
    if write:
        kept = now if breaking else new | (old - wider)
        path.write_text("".join(line + "\n" for line in sorted(kept)))
        broken, new, wider = set() if breaking else broken, set(), set()
    name = f"stable/{path.name}"
    return [f"{name}: '{line}' is gone, changed or a narrower limit: 1.x promises what the list has (docs/compatibility.md)" for line in sorted(broken)] + \
        [f"{name} lacks '{line}': run python3 tests/check/stable.py --write" for line in sorted(new)] + \
        [f"{name} has '{line}', which is wider now: run python3 tests/check/stable.py --write" for line in sorted(wider)]


def main():
    if not tables.is_current():
        skip("blurd is not built, or older than its sources: what is stable is compared by the http tests")
    words = {"write": "--write" in sys.argv, "breaking": "--break" in sys.argv}
    tree.finish([problem for name, lines in stable().items() for problem in held(LISTS / f"{name}.txt", set(lines), **words)])


if __name__ == "__main__":
    main()
