# SPDX-License-Identifier: MIT
"""Functions that invite mistakes are not used."""
import re

import tree

BANNED = {
    "sprintf": "snprintf", "vsprintf": "vsnprintf", "strcpy": "snprintf or memcpy", "strcat": "snprintf",
    "strncpy": "snprintf or memcpy", "strncat": "snprintf", "stpcpy": "snprintf", "gets": "fgets",
    "atoi": "strtol with a check", "atol": "strtol with a check", "atoll": "strtoll with a check",
    "atof": "strtod with a check", "strtok": "strcspn or strtok_r", "rand": "a generator of one's own",
    "srand": "a generator of one's own", "random": "a generator of one's own", "drand48": "a generator of one's own",
    "alloca": "a bounded array", "system": "posix_spawn", "popen": "posix_spawn", "tmpnam": "mkstemp",
    "mktemp": "mkstemp", "tempnam": "mkstemp", "gmtime": "gmtime_r", "localtime": "localtime_r", "ctime": "strftime",
    "asctime": "strftime", "usleep": "nanosleep", "bzero": "memset", "vfork": "posix_spawn",
}
# A process that serves many clients must not exit because of one. The exceptions are programs, the file that
# the HTTP library calls back when its state is broken and it would abort, two files that fork for a check,
# and the GPU's processes, which may end.
ENDINGS = re.compile(r"\b(exit|_exit|quick_exit|abort)\s*\(")
MAY_END = ("server/client/own_daemon.c", "server/pages/health.c", "server/process/drain.c", "server/http/http.c", "core/process/call_list.c", "codecs/process/codec_process.c", "codecs/process/codec_spawner.c", "core/process/fork_server.c",
           "gpu/engine/engine_process.c", "gpu/front/driver_probe.c", "gpu/front/none.c", "tests/", "bench/")
CALL = re.compile(r"(?<![\w.>])(" + "|".join(BANNED) + r")\s*\(")


def main():
    problems = []
    for path in tree.c_files((".c", ".h", ".def", ".cu", ".cuh")):
        name = tree.name(path)
        for number, line in enumerate(tree.code(path).splitlines(), 1):
            for word in CALL.findall(line):
                problems.append(f"{name}:{number} uses {word}: rather {BANNED[word]}")
            if ENDINGS.search(line) and not name.startswith(MAY_END):
                problems.append(f"{name}:{number} ends the process")
    tree.finish(problems)


main()
