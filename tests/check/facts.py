# SPDX-License-Identifier: MIT
"""What the program says of itself as lines, for tests/check/stable.py: a line for each fact that programs of others may rely on. What may be left
out, and how long, large or many something may be, stands there as what is allowed, so that a line that is gone is always a promise broken."""
import re

LIMIT = re.compile(r"(.*): (minimum|minLength|minItems|maximum|maxLength|maxItems) (\S+)")
LIMITS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "KiB": 2 ** 10, "MiB": 2 ** 20, "GiB": 2 ** 30, "MP": 10 ** 6}
# Columns of --help-markdown: an option of the daemon has four, one of `blurd run` three.
OPTION = re.compile(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \| ", re.M)
JOB_OPTION = re.compile(r"^\| (`--[^|]*) \| ([^|]*) \| [^|]* \|$", re.M)
FLAG = re.compile(r"^  (--[a-z-]+)(?: [A-Z]+)?$", re.M)


def reference(one):
    return one.get("$ref", "").rpartition("/")[2]


def named(part):
    """Names of the schemas that a part of the description refers to."""
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return {reference(part) if isinstance(part, dict) else ""} - {""} | {name for one in inner for name in named(one)}


def sent(document):
    """Names of the schemas of what clients send."""
    known, found = document["components"]["schemas"], set()
    more = named([one["schema"] for one in document["components"]["parameters"].values()])
    more |= named([operation.get("requestBody", {}) for methods in document["paths"].values() for operation in methods.values()])
    while more - found:
        found |= more
        more = {name for one in found if one in known for name in named(known[one])}
    return found


def of_schema(name, schema, is_sent=False):
    """Lines of a value and of all that lies in it: types, defaults, limits, members. What a reference names has its own lines. What clients send
    may also always be left out, or be any text, where it once was so."""
    if "anyOf" in schema and not schema.keys() & {"type", "$ref"}:
        yield from (line for one in schema["anyOf"] for line in of_schema(f"{name} (or)" if "type" in one else name, one, is_sent))
        return
    yield f"{name}: {reference(schema) or schema.get('format') or schema.get('type') or 'any'}"
    yield from (f"{name}: {word} {schema[word]}" for word in ("default", "const", *LIMITS) if word in schema)
    yield from (f"{name}: value {value}" for value in schema.get("enum", ()))
    if is_sent and schema.get("type") == "string" and not schema.keys() & {"enum", "const", "pattern", "format"}:
        yield f"{name}: any text"
    yield from (f"{name}.{key}: always there" for key in schema.get("required", ()))
    for key, inner in schema.get("properties", {}).items():
        yield from of_schema(f"{name}.{key}", inner, is_sent)
        if is_sent and key not in schema.get("required", ()):
            yield f"{name}.{key}: may be left out"
    for key, inner in (("[]", "items"), (" holds", "contentSchema")):
        if inner in schema:
            yield from of_schema(name + key, schema[inner], is_sent)


def schemas(document):
    taken = sent(document)
    return (line for name, one in document["components"]["schemas"].items() for line in of_schema(name, one, name in taken))


def report(document):
    """The text of reports, as docs/api/report.schema.json has it."""
    yield from of_schema("report", document)
    yield from (line for name, one in document["$defs"].items() for line in of_schema(name, one))


def of_parameter(name, one):
    yield f"{name}: {one['name']} in {one['in']}"
    yield from of_schema(name, one["schema"], True)
    if not one.get("required"):
        yield f"{name}: may be left out"


def parameters(document):
    return (line for name, one in document["components"]["parameters"].items() for line in of_parameter(name, one))


def headers(document):
    return (line for name, one in document["components"]["headers"].items() for line in of_schema(name, one["schema"]))


def of_answer(name, answer):
    yield name
    yield from (f"{name} with {header}" for header in answer.get("headers", ()))
    for kind, one in answer.get("content", {}).items():
        yield from of_schema(f"{name} as {kind}", one["schema"])
    yield from (f"{name} may be {slug}" for slug in re.findall(r"^`([a-z-]+)`: ", answer.get("description", ""), re.M))


def of_form(name, schema):
    for key, part in schema.get("properties", {}).items():
        yield from of_schema(f"{name}: part {key}", part, True)
        if key not in schema.get("required", ()):
            yield f"{name}: part {key}: may be left out"


def of_operation(name, operation):
    yield f"{name}: {operation['operationId']}"
    for one in operation.get("parameters", ()):
        yield from [f"{name}: {reference(one)}"] if "$ref" in one else of_parameter(f"{name}: {one['name']}", one)
    for kind, one in operation.get("requestBody", {}).get("content", {}).items():
        yield f"{name}: takes {kind}"
        yield from of_form(name, one["schema"]) if "properties" in one["schema"] else of_schema(f"{name}: takes {kind}", one["schema"])
    for status, answer in operation["responses"].items():
        yield from of_answer(f"{name}: answers {status}", answer) if "$ref" not in answer else [f"{name}: answers {reference(answer)}"]


def paths(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield from of_operation(f"{method.upper()} {path}", operation)
    for status, answer in document["components"]["responses"].items():
        yield from of_answer(f"answer {status}", answer)


def options(table, page):
    """Options of the daemon and of `blurd run` by --help-markdown, and by --help the flags that do something else than serve."""
    for name, flags, default, allowed in OPTION.findall(table):
        yield f"{name}: {flags.replace('<br>', ' ')}, default {default}"
        values = re.fullmatch(r"one of (.*)", allowed)
        span = re.fullmatch(r"(.*)from (\S+) to (\S+)(.*)", allowed)
        if values:
            yield from (f"{name}: value {value}" for value in values[1].split(", "))
        elif span:
            yield from (f"{name}: {span[1]}a number{span[4]}", f"{name}: minimum {span[2]}", f"{name}: maximum {span[3]}")
        else:
            yield f"{name}: {allowed}"
    yield from (f"blurd run {flags.replace('`', '')}, default {default}" for flags, default in JOB_OPTION.findall(table))
    yield from (f"blurd {flag}" for flag in FLAG.findall(page) if f"`{flag}`" not in table)


def chart(rows):
    """Values of the chart; what they are for probes and resources may change."""
    for name, default in rows:
        yield name
        if not re.search("resources|[pP]robe", name):
            yield f"{name} default {default}"


def metrics(text):
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M):
        rows = re.findall(rf"^{name}(?:_bucket|_sum|_count)?(?:{{(.*?)}})? ", text, re.M)
        labels = sorted({label for row in rows for label in re.findall(r'(\w+)="', row)})
        yield f"{name}: {kind}" + (f" by {', '.join(labels)}" if labels else "")


def amount(text):
    """10ms, 1GiB, 1000MP or 0.5 as a number."""
    number, unit = re.fullmatch(r"(-?[\d.]+(?:e[+-]?\d+)?)(\D*)", text).groups()
    return float(number) * UNITS.get(unit, 1)


def limits(lines):
    """{(whose, which): (the line, the amount)}"""
    return {found.group(1, 2): (found[0], amount(found[3])) for found in map(LIMIT.fullmatch, lines) if found}


def compared(old, now):
    """(broken, new, wider): lines whose promise is broken, lines that are new, and old ones of limits that are wider now."""
    had, have = limits(old), limits(now)
    known, there = ({line.rpartition(": ")[0] for line in lines} for lines in (old, now))
    wider = {line for key, (line, was) in had.items() if key[0] in there and (key not in have or _lets_in(key[1], have[key][1], was))}
    narrower = {line for key, (line, limit) in have.items() if key[0] in known and not (key in had and _lets_in(key[1], limit, had[key][1]))}
    return (old - now - wider) | (narrower - old), now - old - narrower, wider - now


def _lets_in(which, limit, was):
    """Whether all that the old limit let in is let in."""
    return limit <= was if which.startswith("min") else limit >= was
