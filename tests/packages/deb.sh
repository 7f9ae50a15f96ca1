#!/bin/bash
# SPDX-License-Identifier: MIT
# The Debian package of each release: built in a Debian of its own, lintian finds nothing, installed in another one that has
# nothing else, upgraded, serves there as this tree's build does, and leaves nothing behind. `make check-deb` calls this.
#
#     tests/packages/deb.sh [SUITE]...     bookworm trixie; exits with 77 where the tools are missing (config/packages.sh package)
set -euo pipefail
cd "$(dirname "$0")/../.."

name=deb
. tests/packages/common.sh
. tests/packages/boot.sh
need debootstrap lintian curl heif-enc unshare setpriv systemd-analyze nsenter ip python3
work=$PWD/build/packages/deb
root=$work/root

# Compressed kernels contain words of all kinds.
check_lintian() { # package
    local said
    said=$(lintian --allow-root --suppress-tags spelling-error-in-binary --info --display-info --fail-on none "$1" 2>&1) || die "lintian: $said"
    [ -z "$said" ] || die "lintian says: $said"
    say "lintian finds nothing; $(stat -c %s "$1") bytes, $(dpkg-deb -f "$1" Installed-Size) KiB installed;" \
        "$(dpkg-deb -f "$1" Depends | tr ',' '\n' | wc -l) dependencies"
}

# The same package as if it were of an earlier version, with another configuration.
make_previous() { # package, output
    rm -rf "$work/previous"
    dpkg-deb -R "$1" "$work/previous"
    sed -i 's/^Version: .*/Version: 0.0.9/' "$work/previous/DEBIAN/control"
    echo '# of an earlier version' >>"$work/previous/etc/blurd/blurd.conf"
    sed -i '/ etc\/blurd\/blurd.conf$/d' "$work/previous/DEBIAN/md5sums"
    dpkg-deb --root-owner-group -b "$work/previous" "$2" >/dev/null
    rm -rf "$work/previous"
}

apt() { # what it is about, arguments
    local what=$1
    shift
    inside 600 "$root" env DEBIAN_FRONTEND=noninteractive apt-get -qy "$@" >>"$work/apt.log" 2>&1 ||
        { tail -n 10 "$work/apt.log" >&2 && die "$what"; }
}

# shellcheck disable=SC2016 # dpkg-query's own
version() { inside 20 "$root" dpkg-query -W -f '${Version}' blurd; }

check_install() { # package
    make_previous "$1" "$work/previous.deb"
    cp "$work/previous.deb" "$root/tmp/"
    cp "$1" "$root/tmp/blurd.deb"
    : >"$work/apt.log"
    apt "apt-get update" update
    apt "it cannot be installed" install --no-install-recommends /tmp/previous.deb
    say "installed with $(grep -c '^Setting up' "$work/apt.log") packages"
    [ "$(version)" = 0.0.9 ] || die "the earlier version is not installed"
    apt "no upgrade" install --no-install-recommends /tmp/blurd.deb
    [ "$(version)" = "$(dpkg-deb -f "$1" Version)" ] || die "the upgrade has not come"
    ! grep -q 'earlier version' "$root/etc/blurd/blurd.conf" || die "the upgrade has left the earlier configuration"
    echo '# mine' >>"$root/etc/blurd/blurd.conf"
    apt "it cannot be reinstalled" install --reinstall --no-install-recommends /tmp/blurd.deb
    grep -q '^# mine' "$root/etc/blurd/blurd.conf" || die "my configuration is gone"
    rm "$root/tmp/blurd.deb" "$root/tmp/previous.deb"
    say "upgraded, and reinstalled with a configuration that was changed"
}

check_files() {
    local said holder unit=$root/usr/lib/systemd/system/blurd.service
    [ -f "$unit" ] || unit=$root/lib/systemd/system/blurd.service
    inside 20 "$root" blurd --version >"$work/version" || die "the program does not start"
    check_models "$root/usr/share/blurd"
    grep -q '^face model: /usr/.*centerface.face' "$work/version" || die "the face model is not found"
    for holder in StarClouds PaddlePaddle; do
        grep -q $holder "$root/usr/share/doc/blurd/copyright" || die "the licence of a model by $holder is missing"
    done
    zcat "$root/usr/share/man/man8/blurd.8.gz" | grep >/dev/null '^\.TH BLURD 8' || die "the manual page is missing"
    ! inside 20 "$root" ldd /usr/bin/blurd | grep 'not found' || die "a library is missing"
    grep -q '^ExecStart=/usr/bin/blurd --config /etc/blurd/blurd.conf' "$unit" || die "the unit"
    say "$(head -n 1 "$work/version")"
    said=$(python3 tests/packages/kernels.py "$root/usr/bin/blurd") || die "its kernels are for other drivers than docs/packages.md says"
    say "$said"
}

# With the recommended packages and systemd.
check_units() {
    local said unit
    said=$(systemd-analyze verify --man=no --root="$root" blurd.service blurd.socket 2>&1 | grep -i blurd || true)
    [ -z "$said" ] || die "systemd-analyze: $said"
    for unit in sockets.target.wants/blurd.socket multi-user.target.wants/blurd.service; do
        [ -L "$root/etc/systemd/system/$unit" ] || die "$unit is not enabled"
    done
    said=$(systemd-analyze --version)
    say "the units are right, and enabled: ${said%% (*}"
}

# A user without rights runs what the unit would.
check_service() { # what to check
    local port outer
    port=$(free_port)
    (AS_NOBODY=1 inside 120 "$root" /usr/bin/blurd --config /etc/blurd/blurd.conf --listen 127.0.0.1 --port "$port" 2>"$work/daemon.log") &
    outer=$!
    await "$port" "$work/daemon.log"
    "$@" "$port" "$work"
    inside 20 "$root" blurd --check-health --port "$port" || die "the health check says no"
    stop "$outer" "$work/daemon.log"
}

check_removal() {
    local left
    inside 60 "$root" dpkg --remove blurd >>"$work/apt.log" 2>&1 || die "it cannot be removed"
    [ -f "$root/etc/blurd/blurd.conf" ] || die "removal took the configuration"
    inside 60 "$root" dpkg --purge blurd >>"$work/apt.log" 2>&1 || die "it cannot be purged"
    # All but what apt and dpkg keep for themselves.
    left=$(cd "$root" && find . -xdev \( -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log -o -path './var/lib/dpkg/*-old' \
        -o -path ./var/lib/dpkg/available -o -path ./proc -o -path ./dev \) -prune -o -iname '*blurd*' -print)
    [ -z "$left" ] || die "purge has left $left"
    say "removed and purged: nothing is left"
}

check_suite() {
    local tree package
    tree=$(tests/packages/build.sh "$1" deb)
    package=$(ls "$tree"/build/deb/blurd_*.deb)
    say "$1: $(basename "$package")"
    check_lintian "$package"
    new_root "$1" "$root"
    check_install "$package"
    check_files
    check_service compare
    # shellcheck disable=SC2046 # a list of words
    apt "the recommended packages" install --no-install-recommends systemd $(dpkg-deb -f "$package" Recommends | tr -d ',')
    check_units
    check_running "$package" "$work/previous.deb"
    check_service check_formats
    check_removal
}

rm -rf "$work" && mkdir -p "$work"
trap 'shut_down; finish' EXIT
start_here "$work"
[ $# -gt 0 ] || set -- bookworm trixie
for suite; do
    check_suite "$suite"
done
say "ok"
