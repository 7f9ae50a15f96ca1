# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# Functions that build the image of the Dockerfile with Debian's buildah, without an engine and a registry. The script that reads this
# file sets $work, a folder of its own for images; $folder, where downloads and kernels stay; $suite, the Debian below it.

store() { buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"; }

# The Debian that the Dockerfile names, by its name for debootstrap.
suite_of_dockerfile() {
    sed -n 's/^ARG BASE=debian:12-slim$/bookworm/p; s/^ARG BASE=debian:13-slim$/trixie/p' Dockerfile
}

# Without what a build has left in there, and with the language of that build: ccache asks for it.
make_base() { # folder of a Debian, its architecture
    local container
    container=$(store from scratch)
    tar -C "$1" --exclude ./src --exclude ./ccache --exclude './var/cache/apt/archives/*' -c . | tar -C "$(store mount "$container")" -x
    store umount "$container" >/dev/null
    store config --env LC_ALL=C.UTF-8 --arch "$2" "$container"
    store commit --quiet --rm "$container" blurd-base >/dev/null
}

# The image is localhost/blurd. The log is $folder/build.log.
build_image() { # tree, architecture, options of buildah
    mkdir -p "$folder/archives/partial" "$folder/pip" "$folder/cuda"
    printf '[global]\ncache-dir = /var/cache/pip\n' >"$folder/pip.conf"
    store bud --isolation chroot --format docker --platform "linux/$2" --build-arg BASE=localhost/blurd-base \
        --volume "$folder/archives:/var/cache/apt/archives" --volume "$folder/pip:/var/cache/pip" \
        --volume "$folder/pip.conf:/etc/pip.conf" --volume "$folder/cuda:/src/build/cuda" \
        --tag blurd "${@:3}" "$1" >"$folder/build.log" 2>&1
}
