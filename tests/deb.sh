#!/bin/bash
# SPDX-License-Identifier: MIT
# The Debian package: lintian finds nothing, it is installed in a Debian of its own, serves there, and leaves nothing behind.
# `make check-deb` calls this, after `make deb`.
#
#     tests/deb.sh      exits with 77 where the tools are missing (config/packages.sh package)
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$PWD/build/deb
root=$folder/root
port=18483
say() { printf 'deb: %s\n' "$*"; }
die() { say "FAILED: $*" && exit 1; }

for tool in debootstrap lintian curl unshare; do
    command -v $tool >/dev/null || { say "skipped, there is no $tool: config/packages.sh package" && exit 77; }
done
[ "$(id -u)" = 0 ] || { say "skipped, this needs root" && exit 77; }
package=$(ls "$folder"/blurd_*.deb) || die "make deb comes first"

# With processes and mounts that end with the command.
inside() {
    # shellcheck disable=SC2016 # for the other shell
    unshare --mount --pid --fork --kill-child=KILL bash -c \
        'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"' "$root" "$@"
}

check_lintian() {
    local said
    said=$(lintian --allow-root --info --display-info --fail-on none "$package" 2>&1) || die "lintian: $said"
    [ -z "$said" ] || die "lintian says: $said"
    say "lintian finds nothing; $(stat -c %s "$package") bytes, $(dpkg-deb -f "$package" Installed-Size) KiB installed"
}

files() { # all but what apt and dpkg keep for themselves
    find "$root" -xdev \( -path "$root/var/lib/apt" -o -path "$root/var/cache" -o -path "$root/var/lib/dpkg" -o -path "$root/var/log" \
        -o -path "$root/proc" -o -path "$root/dev" -o -path "$root/etc/ld.so.cache" \) -prune -o ! -type d -printf '%P\n' | sort
}

install_package() {
    cp "$package" "$root/tmp/blurd.deb"
    inside apt-get -q update >"$folder/apt.log" 2>&1 &&
        inside env DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends /tmp/blurd.deb >>"$folder/apt.log" 2>&1 ||
        { tail -n 10 "$folder/apt.log" && die "it cannot be installed"; }
    rm "$root/tmp/blurd.deb"
    say "installed with $(grep -c '^Setting up' "$folder/apt.log") packages"
}

# A user without rights runs what the unit would, and gets a picture blurred.
check_service() {
    local before
    before=$(md5sum <build/sample.jpg)
    inside blurd --version || die "the program does not start"
    grep -q '^ExecStart=/usr/bin/blurd --config /etc/blurd/blurd.conf' "$root/lib/systemd/system/blurd.service" || die "the unit"
    inside su -s /bin/bash nobody -c "/usr/bin/blurd --config /etc/blurd/blurd.conf --port $port & \
        for _ in \$(seq 50); do blurd --check-health --port $port 2>/dev/null && break; sleep 0.1; done
        sleep 3; kill -TERM \$!; wait \$!" 2>"$folder/daemon.log" &
    for _ in $(seq 50); do
        curl -fsS --data-binary @build/sample.jpg "http://127.0.0.1:$port/blur?sigma=8" -o "$folder/blurred.jpg" 2>/dev/null && break
        sleep 0.1
    done
    wait $! || { cat "$folder/daemon.log" && die "the service"; }
    [ -s "$folder/blurred.jpg" ] && [ "$(md5sum <"$folder/blurred.jpg")" != "$before" ] || die "no picture comes back"
    say "it serves"
}

check_removal() {
    inside dpkg --remove blurd >>"$folder/apt.log" 2>&1 || die "it cannot be removed"
    [ -f "$root/etc/blurd/blurd.conf" ] || die "removal took the configuration"
    inside dpkg --purge blurd >>"$folder/apt.log" 2>&1 || die "it cannot be purged"
    local left
    left=$(files | grep -i blurd || true)
    [ -z "$left" ] || die "purge has left $left"
}

check_lintian
rm -rf "$root"
cp -a "$(tests/debian.sh)" "$root"
trap 'rm -rf "$root"' EXIT
install_package
check_service
check_removal
say "ok"
