# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# Functions of the tests of the container image. The script that reads this file sets $name and $work, a folder of its own. It
# may set $on_failure, a command that shows more before the test ends.

say() { printf '%s: %s\n' "$name" "$*"; }
die() {
    say "FAILED: $*"
    ${on_failure-:}
    exit 1
}

need() { # line of config/packages.sh, tools...
    local tool
    for tool in "${@:2}"; do
        command -v "$tool" >/dev/null || { say "skipped, there is no $tool: config/packages.sh $1" && exit 77; }
    done
    [ "$(id -u)" = 0 ] || { say "skipped, this needs root" && exit 77; }
}

# The lines that an engine reads from the image; each must be there. The argument is the configuration as one line of JSON.
check_config() {
    local version line
    version=$(sed -n 's/^#define BLURD_VERSION "\(.*\)"/\1/p' core/version.h)
    for line in '"User":"65534:65534"' '"8080/tcp":{}' '"StopSignal":"SIGTERM"' '"Entrypoint":["/usr/local/bin/blurd"]' \
        '"Test":["CMD","/usr/local/bin/blurd","--check-health"]' '"NVIDIA_DRIVER_CAPABILITIES=compute,utility"' \
        "\"org.opencontainers.image.version\":\"$version\"" "\"blurd.gpu\":\"$2\"" '"Interval":2000000000' '"Timeout":3000000000'; do
        grep -qF -- "$line" <<<"$1" || die "the image lacks $line: $1"
    done
}

# Waits until a command succeeds, for 60 s at most.
eventually() {
    local end=$((SECONDS + 60))
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}

answers() { # port, path
    curl -fsS --max-time 5 -o /dev/null "http://127.0.0.1:$1$2"
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Clients under way while the test changes what serves them; end_clients prints their count, and fails if a request was lost.
begin_clients() { # port, options...
    rm -f "$work/stop" && mkfifo "$work/stop"
    python3 tests/containers/clients.py "$1" build/sample.jpg "${@:2}" <"$work/stop" >"$work/clients.log" 2>&1 &
    clients=$!
    exec 9>"$work/stop"
    eventually grep -q started "$work/clients.log" || die "the clients do not start: $(tail -n 1 "$work/clients.log")"
}

end_clients() { # the change
    local status=0
    exec 9>&-
    wait "$clients" || status=$?
    [ $status = 0 ] || die "$1: $(tail -n 1 "$work/clients.log")"
    say "$1: $(tail -n 1 "$work/clients.log")"
}
