#!/bin/bash
# SPDX-License-Identifier: MIT
# The first screen of the README, as somebody with an empty Debian machine would follow it: its own lines, run as they stand, in
# a Debian 12 and then a 13 that have nothing, with a clone of the last commit. `make check-readme` calls this.
#
#     tests/readme.sh          what installs, builds, serves and asks, the Debian package, the lines of docs/batch.md with it, `make lint`, `make run` without a package
#                              index, and `make test`: two hours
#     tests/readme.sh quick    without `make test`: half an hour
#     SUITE=trixie tests/readme.sh     in Debian 13 alone, or bookworm
#
# Exits with 77 where the tools are missing (config/packages.sh image).
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$PWD/build/readme
root=$folder/root
port=8080 # the README's
say() { printf 'readme: %s\n' "$*"; }
die() { say "FAILED: $*" && exit 1; }

for tool in debootstrap git unshare; do
    command -v $tool >/dev/null || { say "skipped, there is no $tool: config/packages.sh image" && exit 77; }
done
[ "$(id -u)" = 0 ] || { say "skipped, this needs root" && exit 77; }

# Whatever listens there would answer the README's lines in place of the daemon that this test builds.
refuse_others() {
    local address
    for address in 127.0.0.1 ::1; do
        ! (exec 3<>"/dev/tcp/$address/$port") 2>/dev/null ||
            die "another process listens on $address port $port, which the README's lines use: end it first (ss -ltnp shows it)"
    done
}
refuse_others

# A user's shell in the clone once there is one, and the command line for it; its processes and mounts end with it. The network is this machine's.
# shellcheck disable=SC2016 # for the other shell
enter=(unshare --mount --pid --fork --kill-child=KILL bash -c
    'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" && mount --bind /etc/resolv.conf "$0/etc/resolv.conf" &&
     exec chroot "$0" env -i HOME=/tmp PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive bash -c "cd blurd 2>/dev/null; $1"' "$root")

inside() { # command line
    "${enter[@]}" "$1"
}

# The lines of README.md that begin with four spaces and these words, without their comments.
lines() {
    sed -n "s/^    \($1\)/\1/p" README.md | sed 's/  *# .*//'
}

check_picture() { # file, what was sent
    local magic
    magic=$(head -c 3 "$root/blurd/$1" | od -An -tx1)
    [ "$magic" = " ff d8 ff" ] || [ "$magic" = " 89 50 4e" ] || die "$1 is no picture: $magic"
    [ "$(md5sum <"$root/blurd/$1")" != "$(md5sum <"$root/blurd/$2")" ] || die "$1 is what was sent"
}

# Until the daemon itself says that it listens: minutes have passed, and the port may be another process's by now.
wait_for_service() {
    for _ in $(seq 1800); do
        ! grep -q "playground message=\"http://localhost:$port/ " "$folder/run.log" || return 0
        kill -0 "$service" 2>/dev/null || { tail -n 20 "$folder/run.log" && refuse_others && die "make run ended"; }
        sleep 1
    done
    die "make run does not print the playground's address within 1800 s"
}

prepare() { # suite
    rm -rf "$root" && mkdir -p "$folder"
    cp -a "$(tests/debian.sh "$1")" "$root"
    git clone -q --bare . "$root/srv/blurd.git"
}

install_first() {
    local line
    line=$(lines 'apt-get')
    [ -n "$line" ] || die "the README no longer says what to install"
    say "$line"
    inside "$line" >"$folder/apt.log" 2>&1 || { tail -n 5 "$folder/apt.log" && die "$line"; }
}

clone() { # the address is another one for each reader
    local line home
    home=$(sed -n 's/^#define BLURD_HOME_URL "\(.*\)"/\1/p' core/version.h)
    line=$(lines 'git clone')
    [[ $line == *"$home"* ]] || die "the README does not say to clone $home"
    say "$line"
    inside "${line/"$home"//srv/blurd.git}" >"$folder/clone.log" 2>&1 || { cat "$folder/clone.log" && die "$line"; }
}

serve() { # command line
    local start=$SECONDS
    say "$1"
    "${enter[@]}" "$1" >"$folder/run.log" 2>&1 &
    service=$!
    trap 'stop; rm -rf "$root"' EXIT
    wait_for_service
    built=$(sed -n '/^Built /,/^$/p' "$folder/run.log")
    printf '%s\n' "$built"
    say "serves after $((SECONDS - start)) s: $(grep -c '^Setting up' "$folder/run.log") packages, $(grep -c '^  CC ' "$folder/run.log") files compiled"
}

serve_and_ask() {
    local line sent asked=0
    serve 'make run'
    # shellcheck disable=SC2016 # the README's
    say "the README: $(grep -o 'On two cores the first `make run` takes [^,]*' README.md)"
    [[ $built != *'NOT BUILT'* ]] || die "make run left something out"
    while read -r line; do
        say "$line"
        inside "${line/curl /curl -fsS }" || die "$line"
        sent=${line#*@} && sent=${sent%% *}
        check_picture "${line##* }" "$sent"
        asked=$((asked + 1))
    done < <(lines 'curl ')
    [ $asked -ge 4 ] || die "only $asked lines of curl were found"
    inside "curl -fsS -H 'Accept: text/html' localhost:$port/" >"$folder/page.html"
    grep -q '<title>blurd playground' "$folder/page.html" || die "no playground"
}

stop() { # with the first process of its namespace all others end
    kill -9 "$service" 2>/dev/null || true
    wait "$service" 2>/dev/null || true
}

# A company's proxy, or no network but Debian's: all is built anew without what comes from PyPI, and the end says so.
serve_without_index() {
    local part answer
    serve 'PIP_INDEX_URL=http://127.0.0.1:9/simple make run'
    for part in GPUs faces; do
        grep -A1 "^  $part  *NOT BUILT: .*cannot be downloaded" <<<"$built" |
            grep -q 'To get it: let pip reach a package index .*docs/packages.md#without-a-package-index.* make run$' ||
            die "make run does not say why it lacks $part, and how to get it"
    done
    ! sed '1,/^Built /d' "$folder/run.log" | grep -E '^  (CC|LINK|NOTE) ' || die "what was built is not at the end"
    answer=$(inside "curl -sS -w '%{http_code}' --data-binary @docs/pictures/original.jpg 'localhost:$port/blur?detect=faces'")
    [[ $answer == *'docs/faces.md#the-model-file'*400 ]] || die "detect=faces without a model: $answer"
}

# CUDA's headers come with the first build: before, tests/check/headers.sh does without.
check_headers() {
    say "tests/check/headers.sh before a build"
    inside tests/check/headers.sh >"$folder/headers.log" 2>&1 || { cat "$folder/headers.log" && die "tests/check/headers.sh before a build"; }
    grep -q 'headers that need them are not compiled' "$folder/headers.log" || die "it found CUDA headers"
}

# As in a clone in which nothing has been built.
anew() {
    inside 'mv build build.hidden'
    check_headers
    serve_without_index
    stop
    inside 'rm -rf build && mv build.hidden build'
}

build_package() {
    local line
    line=$(lines 'make deb')
    say "$line"
    inside "$line && apt-get install -qy ./build/deb/blurd_*.deb && blurd --version" >"$folder/deb.log" 2>&1 ||
        { tail -n 10 "$folder/deb.log" && die "$line"; }
    say "installed: $(grep '^blurd [0-9]' "$folder/deb.log" | tail -n 1)"
    grep -q '^blurd .*kernels for sm_.*, sm_.*, compute_' "$folder/deb.log" || die "the package lacks kernels of other machines"
}

# The lines of docs/batch.md with the installed program, on photographs of an astronaut, and the two daemons that one of them names.
batch_lines() {
    say "the lines of docs/batch.md"
    # shellcheck disable=SC2016 # for the other shell
    inside 'config/pypi.sh faces >/dev/null; set -e; mkdir -p /tmp/many/photos/more
        for name in photo.jpg photos/a.jpg photos/more/b.jpg; do cp build/faces/python/skimage/data/astronaut.png /tmp/many/$name; done
        for port in 8080 8081; do blurd --port $port --log-level warning & done
        for port in 8080 8081; do timeout 30 bash -c "until blurd --check-health --port $port 2>/dev/null; do sleep 0.1; done"; done
        lines=$(sed -n "s/^    //p" docs/batch.md); cd /tmp/many; count=0
        while read -r line; do echo "$line"; bash -c "$line" </dev/null; count=$((count + 1)); done <<<"$lines"
        [ $count -ge 7 ]' >"$folder/batch.log" 2>&1 || { tail -n 10 "$folder/batch.log" && die "docs/batch.md"; }
}

both_commands() { # suite, quick or nothing
    say "Debian $1"
    prepare "$1"
    install_first
    clone
    serve_and_ask
    stop
    build_package
    batch_lines
    make_in_it lint
    anew
    [ "${2-}" = quick ] || make_in_it test
}

make_in_it() { # goal
    say "make $1"
    inside "make $1" >"$folder/$1.log" 2>&1 || { tail -n 40 "$folder/$1.log" && die "make $1, see $folder/$1.log"; }
    tail -n 1 "$folder/$1.log"
}

[ -n "$(lines 'make test')" ] || die "the README no longer has make test"
for suite in ${SUITE:-bookworm trixie}; do
    both_commands "$suite" "${1-}"
done
say "ok"
