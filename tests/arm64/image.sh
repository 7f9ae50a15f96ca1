#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the container image for 64-bit ARM in an emulated machine (machine.sh), as an engine would: another user, a root that cannot be
# written, nothing but its environment. It has to give the same bytes as this tree's build, find the same things in pictures, keep its
# sandbox, and end at SIGTERM. It shows nothing about speed.
#
#     tests/arm64/image.sh IMAGE     an image of a release; exits with 77 where the tools are missing (config/packages.sh release)
set -euo pipefail
cd "$(dirname "$0")/../.."

name=arm64-image
. tests/containers/common.sh
need release buildah cpio curl heif-enc qemu-system-aarch64 xz
. tests/packages/common.sh
. docker/release/buildah.sh
. tests/arm64/machine.sh
mkdir -p build/arm64
work=$(mktemp -d "$PWD/build/arm64/work.XXXXXX")
trap 'end_machine; finish' EXIT

# /tmp has busybox, as the image itself has nothing that changes the user.
cat >"$work/serve.sh" <<'SCRIPT'
mount --bind /image /image && mount --bind /dev /image/dev && mount -t proc proc /image/proc && mount --rbind /sys /image/sys
mount -o remount,bind,ro /image && mount -t tmpfs -o mode=1777 tmpfs /image/tmp && cp /bin/busybox /image/tmp/
env -i BLURD_LOG_FORMAT=json chroot /image /tmp/busybox start-stop-daemon -S -c 65534:65534 -x /usr/local/bin/blurd -- \
    --memory 1GiB --work-timeout 10m --write-timeout 10m &
daemon=$!
read -r line
echo "user $(awk '/^Uid:/ { print $2 }' /proc/$daemon/status) $(cat /proc/$daemon/comm)"
kill -TERM $daemon
wait $daemon
echo "ended $?"
SCRIPT

await_machine() { # port
    local end=$((SECONDS + 120))
    until curl -fsS --max-time 5 -o /dev/null "http://127.0.0.1:$1/readyz" 2>/dev/null; do
        if [ $SECONDS -ge $end ] || [ ! -d "/proc/$emulator" ]; then
            cat "$console" >&2
            die "nothing is ready in the machine"
        fi
        sleep 0.2
    done
}

# The log of a request tells nothing about the backend's processor; the start does.
check_log() {
    grep -q '"cpu/neon' "$console" || grep -q 'cpu/neon' "$console" || die "NEON is not used: $(cat "$console")"
    grep -q 'system calls by a list of [0-9]* instructions; Landlock [1-9]' "$console" || die "the sandbox is not closed: $(cat "$console")"
}

# The same things are found, at the same places and with the same scores.
compare_finds() { # port
    local picture what
    for picture in docs/pictures/hidden/*.jpg docs/pictures/hidden/*.png; do
        [ -f "$picture" ] || continue
        what=faces,text,plates,codes,persons
        curl -fsS --max-time 600 --data-binary "@$picture" "http://127.0.0.1:$1/detect?detect=$what" -o "$work/there" || die "nothing is searched for in $picture"
        curl -fsS --max-time 600 --data-binary "@$picture" "http://127.0.0.1:$here_port/detect?detect=$what" -o "$work/here"
        cmp "$work/here" "$work/there" || die "other things are found in $picture: $(cat "$work/there")"
        say "$(basename "$picture"): $(grep -o '"score"' "$work/there" | wc -l) things found, as by the build in this tree"
    done
}

config=$(python3 -c 'import json, sys, tarfile
files = tarfile.open(sys.argv[1])
made = json.load(files.extractfile(json.load(files.extractfile("manifest.json"))[0]["Config"]))
assert (made["os"], made["architecture"]) == ("linux", "arm64"), made
print(json.dumps(made["config"], separators=(",", ":")))' "$1")
check_config "$config" required
store pull --quiet "oci-archive:$1" >/dev/null
root=$(store mount "$(store from --platform linux/arm64 "$(store images --quiet | head -n 1)")")
config/pypi.sh packages
tests/python.sh tests/packages/sbom.py "$root" usr/share/doc/blurd/sbom.spdx.json || die "the list of what is packed"
port=$(free_port)
boot_machine "$root" "$work/serve.sh" 3000 "$port"
await_machine "$port"
check_log
start_here "$work"
compare "$port" "$work"
check_formats "$port" "$work"
compare_finds "$port"
tell_machine stop
wait "$emulator" || die "the machine does not end"
emulator=
grep -q 'user 65534 blurd' "$console" || die "it runs as another user: $(tail -n 3 "$console")"
grep -q 'ended 0' "$console" || die "SIGTERM: $(tail -n 3 "$console")"
say "ok: booted, the same bytes, the same finds, read-only, in its sandbox, drained"
