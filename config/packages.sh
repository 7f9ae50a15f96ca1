#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs the Debian packages that are missing; with all present it does nothing, and
# needs neither root nor a network.
#
#     config/packages.sh build    what `make` needs
#     config/packages.sh run      and what `make run` needs
#     config/packages.sh lint     and what `make lint` needs
#     config/packages.sh test     and what `make test` needs
#     config/packages.sh browser  and what `make check-browser` needs: Chromium, half a gigabyte
#     config/packages.sh clients  and what `make check-clients` needs: Go and Mono, 0.5 GB more
#     config/packages.sh clusters and what `make check-clusters` needs: Java; `make test` has it, too
#     config/packages.sh encoders and what `make check-encoders` needs: ffmpeg, and Chromium as a decoder
#     config/packages.sh bench    what `make bench` needs, with programs to compare with
#     config/packages.sh load     what `make check-load` needs
#     config/packages.sh deb      what `make deb` and `check-reproducible` need
#     config/packages.sh image    what `make check-image` needs
#     config/packages.sh docker   what `make check-docker` needs
#     config/packages.sh package  what `make check-deb` and `check-archive` need
#     config/packages.sh release  what `make release` and `check-release` need
#     config/packages.sh workflows what `make check-workflows` needs
#     config/packages.sh arm64    what `make` and `make check-arm64` need
#     config/packages.sh python   installs nothing, and lists the Python packages of all of these that tests may import
#
# Debian 12 and 13. Elsewhere it only says what is needed.
set -euo pipefail

names=$(sed -nE 's/^(READ_)?FORMAT\(.*, (\S+-dev)\)$/\2/p' "$(dirname "$0")/../codecs/formats.def")
mapfile -t libraries <<<"$names"
build=(gcc g++ libc6-dev make xz-utils libjpeg62-turbo-dev libpng-dev libdeflate-dev liblzma-dev zlib1g-dev libmicrohttpd-dev libgnutls28-dev libseccomp-dev
    "${libraries[@]}" python3-pip)
run=("${build[@]}" curl)
lint=("${build[@]}" git libcmocka-dev python3 nodejs universal-ctags)
test=("${run[@]}" "${lint[@]}" procps python3-pytest python3-pytest-xdist python3-numpy python3-pil python3-requests
    python3-scipy python3-yaml openssl nginx-light libnginx-mod-http-lua python3-httpx python3-nacl python3-cffi-backend bubblewrap valgrind clang libclang-rt-dev webp libavif-bin libheif-examples libtiff-tools libjxl-tools
    node-typescript default-jre-headless python3-setuptools zsh fish)
browser=("${test[@]}" chromium chromium-driver python3-selenium fonts-dejavu-core)
clusters=("${run[@]}" default-jre-headless procps python3-setuptools python3-pytest python3-numpy python3-pil python3-requests)
clients=("${browser[@]}" golang-go mono-mcs mono-runtime libmono-system-net-http4.0-cil)
encoders=("${browser[@]}" ffmpeg)
bench=("${run[@]}" python3 python3-numpy python3-pil wrk nodejs graphicsmagick)
load=("${test[@]}" faketime haproxy strace iproute2 wrk)
deb=("${build[@]}" debhelper dpkg-dev procps)
image=("${run[@]}" procps buildah debootstrap python3 libheif-examples)
docker=("${run[@]}" docker.io podman debootstrap iproute2 python3)
package=("${deb[@]}" curl debootstrap git lintian libheif-examples systemd iproute2)
release=("${package[@]}" "${image[@]}" gnupg python3-yaml qemu-user-static qemu-system-arm cpio)
workflows=("${lint[@]}" debootstrap python3-yaml)
arm64=("${build[@]}" gcc-aarch64-linux-gnu qemu-user qemu-system-arm cpio)

say() { printf 'packages: %s\n' "$*"; }

case ${1-} in
build) wanted=("${build[@]}") ;;
run) wanted=("${run[@]}") ;;
lint) wanted=("${lint[@]}") ;;
test) wanted=("${test[@]}") ;;
browser) wanted=("${browser[@]}") ;;
clients) wanted=("${clients[@]}") ;;
clusters) wanted=("${clusters[@]}") ;;
encoders) wanted=("${encoders[@]}") ;;
bench) wanted=("${bench[@]}") ;;
load) wanted=("${load[@]}") ;;
deb) wanted=("${deb[@]}") ;;
image) wanted=("${image[@]}") ;;
docker) wanted=("${docker[@]}") ;;
package) wanted=("${package[@]}") ;;
release) wanted=("${release[@]}") ;;
workflows) wanted=("${workflows[@]}") ;;
arm64) wanted=("${arm64[@]}") ;;
python) printf '%s\n' "${browser[@]}" "${bench[@]}" "${load[@]}" | sed -n '/^python3-pip$/d; /^python3-setuptools$/d; /^python3-/p' | sort -u && exit ;;
*) say "usage: $0 build|run|lint|test|browser|clients|clusters|encoders|bench|load|deb|image|docker|package|release|workflows|arm64|python" >&2 && exit 64 ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "this is not a Debian system; the equivalents of these packages are needed: ${wanted[*]}"
    exit 0
fi

is_installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Debian 13 has the HEVC decoder of libheif in a package of its own, and the encoder that the tests use.
if apt-cache show libheif-plugin-libde265 >/dev/null 2>&1; then
    wanted+=(libheif-plugin-libde265)
    [[ " ${wanted[*]} " != *" libheif-examples "* ]] || wanted+=(libheif-plugin-x265)
fi

missing=()
for package in "${wanted[@]}"; do
    is_installed "$package" || missing+=("$package")
done

# clang-format's output differs between versions; the tree follows 14, which Debian 13
# does not have. The check says so and is skipped there.
if [[ $1 == @(lint|test) ]] && ! is_installed clang-format-14 && apt-cache show clang-format-14 >/dev/null 2>&1; then
    missing+=(clang-format-14)
fi

# Node comes with npm where it is not Debian's own.
if [ "$1" = bench ] && ! command -v npm >/dev/null; then
    missing+=(npm)
fi

# Prometheus scrapes the daemon, and promtool checks /metrics. The package also starts a server, so that it is not installed
# but unpacked under build/. Debian 13 has a package of its own for promtool.
has_prometheus() {
    { command -v promtool && command -v prometheus; } >/dev/null || [ -x build/tools/prometheus ]
}
unpack_prometheus() {
    local folder=build/tools/unpacked packages=(prometheus)
    rm -rf "$folder" && mkdir -p "$folder"
    ! apt-cache show promtool >/dev/null 2>&1 || packages+=(promtool)
    (cd "$folder" && apt-get download -q -o APT::Sandbox::User=root "${packages[@]}" >/dev/null &&
        for package in *.deb; do dpkg-deb --extract "$package" .; done) &&
        cp "$folder/usr/bin/promtool" "$folder/usr/bin/prometheus" build/tools
    rm -rf "$folder"
}

as_root=()
if [ "$(id -u)" != 0 ]; then
    as_root=(sudo)
fi
updated=no
update() {
    [ $updated = yes ] || "${as_root[@]}" apt-get update -q
    updated=yes
}

if [ ${#missing[@]} -gt 0 ]; then
    say "installing with ${as_root[*]:+sudo }apt-get: ${missing[*]}"
    if [ ${#as_root[@]} -gt 0 ] && ! command -v sudo >/dev/null; then
        say "there is no sudo here; as root, run: apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
    update
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${missing[@]}"
    rm -f build/*/formats-*.mk # an earlier build may have done without a library that is here by now
fi

if [ "$1" = test ] && ! has_prometheus; then
    say "unpacking Debian's prometheus for it to build/tools, installing nothing"
    unpack_prometheus || { update && unpack_prometheus; } || say "no prometheus: the checks of /metrics will be skipped"
fi

# axe-core looks for what keeps people out; it comes in a Python package of that name.
if [[ $1 == @(browser|clients) ]] && [ ! -d build/tools/axe ]; then
    say "unpacking axe-core to build/tools/axe"
    python3 -m pip install -q --disable-pip-version-check --no-deps --require-hashes --target build/tools/axe.new \
        -r tests/browser/requirements.txt && mv build/tools/axe.new build/tools/axe ||
        say "no axe-core: its checks will be skipped"
fi
