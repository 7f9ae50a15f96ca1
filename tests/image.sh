#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds the image of the Dockerfile as Docker would, and runs it: no engine and no registry is needed, only Debian's
# buildah and debootstrap, and root. `make check-image` calls this.
#
#     tests/image.sh      exits with 77 where the tools are missing (config/packages.sh image)
#
# The base image is a Debian that debootstrap makes. That and downloads are kept under build/image; the images are not.
set -euo pipefail
cd "$(dirname "$0")/.."

most=60000000 # bytes of the root file system
folder=$PWD/build/image
local_port=18481 image_port=18482
python=$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)

say() { printf 'image: %s\n' "$*"; }
die() { say "FAILED: $*" && exit 1; }

for tool in buildah debootstrap curl unshare; do
    command -v $tool >/dev/null || { say "skipped, there is no $tool: config/packages.sh image" && exit 77; }
done
[ "$(id -u)" = 0 ] || { say "skipped, this needs root" && exit 77; }

processes=()
finish() {
    local process
    for process in "${processes[@]}"; do
        kill -KILL "$process" 2>/dev/null || true
    done
    wait
    rm -rf "$folder/storage" "$folder/run" "$folder/made"
}
trap finish EXIT

store() { buildah --root "$folder/storage" --runroot "$folder/run" --storage-driver vfs "$@"; }

make_base() {
    if [ ! -d "$folder/base-$suite" ]; then
        say "debootstrap of $suite, once"
        rm -rf "$folder/base.new"
        debootstrap --variant=minbase --include=ca-certificates "$suite" "$folder/base.new" >"$folder/debootstrap.log" 2>&1 ||
            die "debootstrap, see $folder/debootstrap.log"
        rm -rf "$folder"/base.new/var/cache/apt/archives/*.deb "$folder"/base.new/var/lib/apt/lists/*
        mv "$folder/base.new" "$folder/base-$suite"
    fi
    local container
    container=$(store from scratch)
    store add --quiet "$container" "$folder/base-$suite" / >/dev/null
    store commit --quiet --rm "$container" blurd-base >/dev/null
}

build_image() {
    say "building, see $folder/build.log"
    mkdir -p "$folder/archives/partial" "$folder/pip"
    store bud --isolation chroot --format docker --build-arg BASE=localhost/blurd-base \
        --volume "$folder/archives:/var/cache/apt/archives" --volume "$folder/pip:/root/.cache/pip" \
        --tag blurd . >"$folder/build.log" 2>&1 || { tail -n 15 "$folder/build.log" && die "the build"; }
}

# What an engine reads: each line is one that must be there.
check_config() {
    local config version line
    config=$(store inspect --type image blurd | $python -c \
        'import json, sys; print(json.dumps(json.load(sys.stdin)["Docker"]["config"], separators=(",", ":")))')
    version=$(sed -n 's/^#define BLURD_VERSION "\(.*\)"/\1/p' core/version.h)
    for line in '"User":"65534:65534"' '"8080/tcp":{}' '"StopSignal":"SIGTERM"' '"Entrypoint":["/usr/local/bin/blurd"]' \
        '"Test":["CMD","/usr/local/bin/blurd","--check-health"]' '"NVIDIA_DRIVER_CAPABILITIES=compute,utility"' \
        "\"org.opencontainers.image.version\":\"$version\""; do
        grep -qF -- "$line" <<<"$config" || die "the image lacks $line: $config"
    done
}

check_size() {
    local size files
    size=$(du -s --apparent-size --block-size=1 "$1" | cut -f1)
    files=$(find "$1" -type f | wc -l)
    say "root file system: $size bytes in $files files, at most $most;" \
        "blurd $(stat -c %s "$1/usr/local/bin/blurd"), compressed $(tar -C "$1" -c . | gzip -6 | wc -c)"
    [ "$size" -le $most ] || die "too large"
    [ ! -e "$1/bin/sh" ] || die "there is a shell in it"
}

# In the image as an engine does it: its own processes and mounts, read-only, no privileges, nothing but its environment.
inside() { # root, command...
    local root=$1
    shift
    # shellcheck disable=SC2016 # for the other shell
    exec unshare --mount --pid --fork --kill-child=KILL bash -c '
        root=$0
        mount --bind "$root" "$root" && mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
            mount --rbind /sys "$root/sys" && mount -o remount,bind,ro "$root" &&
            exec env -i BLURD_LOG_FORMAT=json PORT='$image_port' setpriv --no-new-privs --bounding-set=-all \
                chroot --userspec=65534:65534 --groups= "$root" "$@"' "$root" "$@"
}

await() { # port
    for _ in $(seq 100); do
        curl -fsS -o /dev/null "http://127.0.0.1:$1/readyz" 2>/dev/null && return 0
        sleep 0.1
    done
    die "nothing is ready on port $1"
}

post() { # port, file, output
    curl -fsS --data-binary "@$2" "http://127.0.0.1:$1/blur?sigma=8&region=rect:10%25,10%25,50%25,50%25" -o "$3" ||
        curl -sS --data-binary "@$2" "http://127.0.0.1:$1/blur?sigma=8" | head -c 600
}

compare() {
    local picture
    for picture in build/sample.jpg docs/pictures/*.png; do
        post $local_port "$picture" "$folder/made/local"
        post $image_port "$picture" "$folder/made/image"
        cmp "$folder/made/local" "$folder/made/image" || die "$picture gives other bytes"
        say "the same $(stat -c %s "$folder/made/image") bytes of $(basename "$picture")"
        [ "$(stat -c %s "$folder/made/image")" -gt 1000 ] || die "that is no picture"
    done
}

mkdir -p "$folder/made"
make_base
build_image
check_config
root=$(store mount "$(store from blurd)")
check_size "$root"

build/release/blurd --listen 127.0.0.1 --port $local_port --log-level error &
processes+=($!)
(inside "$root" /usr/local/bin/blurd --listen 127.0.0.1 2>"$folder/daemon.log") &
processes+=($!)
outer=$!
await $local_port
await $image_port
daemon=$(pgrep -P "$outer" -x blurd) || die "the process is not blurd"
[ "$(awk '/^Uid:/ { print $2 }' "/proc/$daemon/status")" = 65534 ] || die "it runs as another user"
[ "$(awk '/^NSpid:/ { print $NF }' "/proc/$daemon/status")" = 1 ] || die "it is not the first process"
compare
(inside "$root" /usr/local/bin/blurd --check-health) || die "the health check says no"
say "healthy"

kill -TERM "$daemon"
wait "$outer" || die "SIGTERM: exit status $?"
grep -q '"drain"' "$folder/daemon.log" || die "no drain in the log"
if (inside "$root" /usr/local/bin/blurd --check-health 2>/dev/null); then
    die "the health check says yes to nobody"
fi
say "ok: built, healthy, the same bytes, read-only, drained"
