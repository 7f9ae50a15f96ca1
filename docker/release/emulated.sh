#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes a Debian for another processor, once, that has what the build of the image needs, and prints its path. FOLDER/packages, beside
# the root, lists the packages in it.
#
#     docker/release/emulated.sh SUITE ARCHITECTURE     trixie arm64; root; config/packages.sh release installs the tools
#
# QEMU emulates its programs, which the kernel hands over to it (binfmt_misc). The compiler and the linker are not emulated, as that would
# take ten times as long: they are Debian's cross compiler, of the same version, for this machine's processor. So the image is made by
# the same Dockerfile and the same scripts as that for this machine.
set -euo pipefail
cd "$(dirname "$0")/../.."

suite=$1 architecture=$2
folder=$PWD/build/packages/$suite-$architecture
root=$folder/root
name=$suite-$architecture
. tests/packages/common.sh

processor=$(dpkg-architecture -a "$architecture" -q DEB_HOST_GNU_CPU 2>/dev/null)
triplet=$(dpkg-architecture -a "$architecture" -q DEB_HOST_GNU_TYPE 2>/dev/null)

# The file of systemd-binfmt, which Debian's packages have, has the kernel's own form. F: the kernel has opened the emulator already, and
# needs no path to it in another root.
check_emulator() {
    local known=/proc/sys/fs/binfmt_misc
    [ -e $known/register ] || mount -t binfmt_misc binfmt_misc $known 2>/dev/null || true
    [ -e "$known/qemu-$processor" ] || grep -v '^#' "/usr/lib/binfmt.d/qemu-$processor.conf" 2>/dev/null >$known/register || true
    grep -q '^flags: .*F' "$known/qemu-$processor" 2>/dev/null ||
        die "the kernel knows no emulator for $processor, as Debian's qemu-user-static tells it one (binfmt_misc)"
}

# Also below ||, where set -e does not hold: each function ends with its first failure.
install() { # root, packages...
    inside 900 "$1" apt-get -q -o APT::Update::Error-Mode=any update &&
        inside 900 "$1" env DEBIAN_FRONTEND=noninteractive apt-get -qy upgrade &&
        { [ $# = 1 ] || inside 900 "$1" env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${@:2}"; }
}

# shellcheck disable=SC2016 # dpkg-query's own
list() { # root
    chroot "$1" dpkg-query -W -f '${Package} ${Version} ${Architecture}\n'
}

make_root() {
    new_root "$suite" "$root" "$architecture" &&
        mkdir -p "$root/src/codecs" &&
        cp -r config "$root/src" &&
        cp codecs/formats.def "$root/src/codecs" &&
        install "$root" &&
        inside 1800 "$root" /src/config/packages.sh build &&
        rm -rf "$root/src"
}

# The programs of the cross compiler, and the libraries of this processor that they need, take the place of the emulated ones. What they
# replace is held: an upgrade would bring the emulated ones back.
use_cross_compiler() {
    local cross=$folder/cross files
    # shellcheck disable=SC2086 # paths and names without blanks
    new_root "$suite" "$cross" &&
        install "$cross" "gcc-$triplet" "g++-$triplet" &&
        files=$(cd "$cross" && compgen -G "usr/bin/$triplet-*" && compgen -G 'usr/lib*/gcc-cross') &&
        tar -C "$cross" -c usr/lib/x86_64-linux-gnu usr/lib64 "usr/$triplet" $files | tar -C "$root" -x &&
        ln -sfn usr/lib64 "$root/lib64" &&
        chroot "$root" apt-mark hold $(list "$root" | grep -oE '^(gcc|g\+\+|cpp|binutils)[^ ]*') >/dev/null &&
        list "$cross" | grep -E "^[^ ]*(gcc|g\+\+|binutils)[^ ]*-${triplet//_/-} " >"$folder/cross-packages" &&
        rm -rf "$cross"
}

[ "$(uname -m)" = x86_64 ] || die "this is for hosts with x86-64"
check_emulator
stamp=$(cat config/packages.sh codecs/formats.def tests/debian.sh docker/release/emulated.sh | sha256sum)
if [ "$(cat "$folder/stamp" 2>/dev/null)" != "$stamp" ]; then
    say "a Debian with what the build needs, see $folder/packages.log" >&2
    rm -rf "$folder" && mkdir -p "$folder"
    { make_root && use_cross_compiler; } >"$folder/packages.log" 2>&1 || { tail -n 5 "$folder/packages.log" >&2 && die "the packages for the build"; }
    echo "$stamp" >"$folder/stamp"
else
    install "$root" >"$folder/upgrade.log" 2>&1 || { tail -n 5 "$folder/upgrade.log" >&2 && die "the updates"; }
fi
list "$root" >"$folder/packages"
cat "$folder/cross-packages" >>"$folder/packages"
echo "$root"
