#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds the image of the Dockerfile as Docker would, and runs it: no engine and no registry is needed, only Debian's
# buildah and debootstrap, and root. `make check-image` calls this.
#
#     tests/containers/image.sh [SUITE]     of Debian: trixie, bookworm; exits with 77 where the tools are missing (config/packages.sh image)
#     IMAGE=FILE tests/containers/image.sh  an image of a release, which is not built
#
# The base image is what tests/debian.sh makes. Downloads and kernels are kept under build/image, images are not.
set -euo pipefail
cd "$(dirname "$0")/../.."

most=55000000 # bytes of the root file system
folder=$PWD/build/image
name=image
. tests/containers/common.sh
. docker/release/buildah.sh
suite=${1-$(suite_of_dockerfile)}
local_port=18481 image_port=18482 other_port=18484
python=$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)

need image buildah debootstrap curl heif-enc unshare
mkdir -p "$folder"
work=$(mktemp -d "$folder/work.XXXXXX") # buildah's, too: all is gone afterwards
finish() {
    local process
    for process in $(jobs -pr); do # after a failure
        kill -KILL "$process"
    done
    wait
    rm -rf "$work"
}
trap finish EXIT

check_size() {
    local size files
    size=$(du -s --apparent-size --block-size=1 "$1" | cut -f1)
    files=$(find "$1" -type f | wc -l)
    say "root file system: $size bytes in $files files, at most $most;" \
        "blurd $(stat -c %s "$1/usr/local/bin/blurd"), compressed $(tar -C "$1" -c . | gzip -6 | wc -c)"
    [ "$size" -le $most ] || die "too large"
    [ ! -e "$1/bin/sh" ] || die "there is a shell in it"
}

check_list() {
    config/pypi.sh packages
    tests/python.sh tests/packages/sbom.py "$1" usr/share/doc/blurd/sbom.spdx.json || die "the list of what is packed"
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
            exec env -i BLURD_LOG_FORMAT=json PORT='$image_port' PATH="$PATH" \
                setpriv --no-new-privs chroot --userspec=65534:65534 --groups= "$root" "$@"
        ' "$root" "$@"
}

await() { # port
    for _ in $(seq 100); do
        curl -fsS -o /dev/null "http://127.0.0.1:$1/readyz" 2>/dev/null && return 0
        sleep 0.1
    done
    cat "$folder/daemon.log"
    die "nothing is ready on port $1"
}

post() { # port, file, output
    curl -fsS --data-binary "@$2" "http://127.0.0.1:$1/blur?sigma=8" -o "$3" || die "port $1 does not blur $2"
}

# A PNG of no file of ours: 320 x 240, RGB, noise over a gradient.
make_png() {
    $python - "$1" <<'PYTHON'
import random, struct, sys, zlib
random.seed(1)
rows = b''.join(b'\0' + bytes((x * 3 // 4 + y // 4 * c + random.randrange(9)) & 255 for x in range(320) for c in range(3)) for y in range(240))
chunks = (b'IHDR', struct.pack('>IIBBBBB', 320, 240, 8, 2, 0, 0, 0)), (b'IDAT', zlib.compress(rows)), (b'IEND', b'')
with open(sys.argv[1], 'wb') as out:
    out.write(b'\x89PNG\r\n\x1a\n')
    for kind, data in chunks:
        out.write(struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data)))
PYTHON
}

compare() {
    local picture
    make_png "$work/noise.png"
    for picture in build/sample.jpg "$work/noise.png"; do
        post $local_port "$picture" "$work/local"
        post $image_port "$picture" "$work/image"
        cmp "$work/local" "$work/image" || die "$picture gives other bytes"
        say "the same $(stat -c %s "$work/image") bytes of $(basename "$picture")"
        [ "$(stat -c %s "$work/image")" -gt 1000 ] || die "that is no picture"
    done
}

# The other formats are written and read by the image's libraries. Their bytes depend on the versions.
check_formats() {
    local format
    for format in webp avif jxl; do
        curl -fsS --data-binary @build/sample.jpg "http://127.0.0.1:$image_port/blur?sigma=8&format=$format" -o "$work/written" ||
            die "the image does not write $format"
        post $image_port "$work/written" "$work/again"
        say "$format: written with $(stat -c %s "$work/written") bytes, and read"
    done
    heif-enc -q 80 -o "$work/sample.heic" build/sample.jpg >/dev/null || die "heif-enc makes no HEIC"
    post $image_port "$work/sample.heic" "$work/again"
    tests/packages/sample_tiff.sh >"$work/sample.tiff"
    post $image_port "$work/sample.tiff" "$work/again"
    say "heic and tiff: read"
}

# As an engine does it: beside the daemon, with its environment. Whether it took less than 3 s.
check_health() {
    local begin=$SECONDS
    env -i PATH="$PATH" BLURD_LOG_FORMAT=json PORT=$image_port nsenter --target "$daemon" --mount --pid --root --wd \
        --setuid 65534 --setgid 65534 /usr/local/bin/blurd --check-health && [ $((SECONDS - begin)) -le 3 ]
}

start_image() { # port, options of the daemon; sets outer and daemon
    local port=$1
    shift
    (inside "$root" /usr/local/bin/blurd --listen 127.0.0.1 "$@" 2>"$folder/daemon.log") &
    outer=$!
    await "$port"
    daemon=$(pgrep -P "$outer" -x blurd) || die "the process is not blurd"
    [ "$(awk '/^Uid:/ { print $2 }' "/proc/$daemon/status")" = 65534 ] || die "it runs as another user"
    [ "$(awk '/^NSpid:/ { print $NF }' "/proc/$daemon/status")" = 1 ] || die "it is not the first process"
    awk '$2 == "/" { way = $4 } END { exit way !~ /^ro/ }' "/proc/$daemon/mounts" || die "it can write to its root"
}

stop_image() {
    kill -TERM "$daemon"
    wait "$outer" || die "SIGTERM: exit status $?"
    grep -q '"drain"' "$folder/daemon.log" || die "no drain in the log"
}

run_image() {
    start_image $image_port
    compare
    check_formats
    check_health || die "the health check says no"
    say "healthy"
    stop_image
    start_image $other_port --port $other_port # which only process 1 has been told
    check_health || die "the health check does not find --port $other_port"
    say "healthy on a port of its arguments"
    stop_image
    if (inside "$root" /usr/local/bin/blurd --check-health 2>/dev/null); then
        die "the health check says yes to nobody"
    fi
}

# As NVIDIA's toolkit does it, a driver is put beside the libraries. Ours runs the kernels on the host, and needs C++'s.
run_with_driver() {
    local library=build/release/tests/fake_cuda/libfakecuda.so file place
    [ -f $library ] || { say "not tried with a driver, as there are no CUDA headers here" && return; }
    place=$(dirname "$root"/usr/lib/*/libc.so.6)
    install $library "$place/libcuda.so.1"
    for file in $(ldd $library | grep -o '/[^ ]*/\(libstdc++\|libgcc_s\)[^ ]*'); do
        install "$(realpath "$file")" "$place/$(basename "$file")"
    done
    start_image $image_port --require-gpu true
    compare
    stop_image
    grep -q '"backend":"cuda:0"' "$folder/daemon.log" || die "a driver is there, and the CPU has done the work"
    say "and with a driver"
}

if [ -n "${IMAGE-}" ]; then
    store pull --quiet "oci-archive:$IMAGE" >/dev/null
    config=$($python -c 'import json, sys, tarfile
files = tarfile.open(sys.argv[1])
made = json.load(files.extractfile(json.load(files.extractfile("manifest.json"))[0]["Config"]))
print(json.dumps(made["config"], separators=(",", ":")))' "$IMAGE")
    image=$(store images --quiet | head -n 1)
else
    say "building on $suite, see $folder/build.log"
    make_base "$(tests/debian.sh "$suite")" amd64
    build_image . amd64 --build-arg GPU=required || { tail -n 15 "$folder/build.log" && die "the build"; }
    config=$(store inspect --type image blurd | $python -c \
        'import json, sys; print(json.dumps(json.load(sys.stdin)["Docker"]["config"], separators=(",", ":")))')
    image=blurd
fi
check_config "$config" required
root=$(store mount "$(store from "$image")")
check_size "$root"
check_list "$root"
build/release/blurd --listen 127.0.0.1 --port $local_port --gpus none --log-level error &
here=$!
await $local_port
run_image
run_with_driver
kill -TERM $here && wait $here
say "ok: built, healthy, the same bytes, read-only, drained"
