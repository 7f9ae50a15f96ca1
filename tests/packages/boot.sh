# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# Functions that start systemd in a root folder, as the first process of namespaces of its own, and change the package of the
# running service under load. tests/packages/deb.sh reads this file after common.sh, and sets $root and $work.

booted=      # the first process, seen from here
booted_by=   # the process that began it
group=       # its control group

# A network of its own, so that port 8080 is free; neither this machine's clock, modules and log nor its other networks.
# shellcheck disable=SC2016 # for the other shell
boot() { # sets booted; fails where the kernel or this machine does not allow it
    local cgroups
    cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
    [ -n "$cgroups" ] && group=$cgroups/blurd-test-$$ && mkdir "$group" 2>/dev/null || return 1
    rm -f "$root/etc/machine-id" && : >"$root/etc/machine-id"
    (echo "$BASHPID" >"$group/cgroup.procs" && exec unshare --mount --pid --uts --ipc --net --cgroup --fork --kill-child=KILL bash -ec '
        root=$0
        ip link set lo up
        mount --make-rprivate / && mount --bind "$root" "$root"
        mount -t proc proc "$root/proc" && mount --bind "$root/proc/sys" "$root/proc/sys" && mount -o remount,bind,ro "$root/proc/sys"
        mount -t sysfs -o ro sysfs "$root/sys" && mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
        mount -t tmpfs -o mode=755 tmpfs "$root/dev" && mount -t tmpfs -o mode=755 tmpfs "$root/run"
        for node in null zero full random urandom tty; do cp -a /dev/$node "$root/dev/"; done
        mkdir "$root/dev/shm" "$root/dev/pts" "$root/run/host-root" && ln -s /proc/self/fd "$root/dev/fd"
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts" && ln -s pts/ptmx "$root/dev/ptmx"
        cd "$root" && pivot_root . run/host-root && umount -l /run/host-root
        exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin setpriv --inh-caps=-all \
            --bounding-set=-sys_module,-sys_boot,-sys_time,-net_admin,-sys_rawio,-syslog /lib/systemd/systemd --log-target=journal
        ' "$root" </dev/null >"$work/boot.log" 2>&1) &
    booted_by=$!
    for _ in $(seq 300); do
        booted=$(first_process)
        [ -z "$booted" ] || ! in_booted systemctl is-active --quiet sockets.target 2>/dev/null || return 0
        sleep 0.1
    done
    return 1
}

# The one in the control group whose own namespace calls it 1.
first_process() {
    find "$group" -name cgroup.procs -exec cat {} + 2>/dev/null | while read -r process; do
        awk -v process="$process" '/^NSpid:/ && NF > 2 && $NF == 1 { print process }' "/proc/$process/status" 2>/dev/null || true
    done
}

in_booted() { # command...
    timeout -k 5 120 nsenter --target "$booted" --all --root --wd env -i HOME=/tmp LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

shut_down() { # with its first process all others end
    [ -z "$booted" ] || kill -KILL "$booted" 2>/dev/null || true
    [ -z "$booted_by" ] || wait "$booted_by" || true
    booted='' booted_by=''
    [ -z "$group" ] || for _ in $(seq 50); do
        find "$group" -depth -type d -exec rmdir {} + 2>/dev/null && break
        [ -d "$group" ] || break
        sleep 0.1
    done
    group=
}

# Clients of the service under way while a command changes it: none of their requests may be lost.
under_load() { # what it is about, command...
    local what=$1 clients status=0
    shift
    rm -f "$work/until" && mkfifo "$work/until"
    nsenter --target "$booted" --net /usr/bin/python3 tests/containers/clients.py 8080 build/sample.jpg <"$work/until" >"$work/clients.log" 2>&1 &
    clients=$!
    exec 8>"$work/until"
    for _ in $(seq 100); do
        ! grep -q started "$work/clients.log" || break
        sleep 0.1
    done
    grep -q started "$work/clients.log" || die "the clients do not start: $(tail -n 1 "$work/clients.log")"
    sleep 1
    in_booted "$@" >"$work/change.log" 2>&1 || status=$?
    sleep 1
    exec 8>&-
    wait "$clients" || { [ $status != 0 ] || die "$what under load: $(tail -n 1 "$work/clients.log")"; }
    [ $status = 0 ] || { tail -n 5 "$work/change.log" >&2 && show_journal; die "$what"; }
    say "$what under load: $(tail -n 1 "$work/clients.log")"
}

not_booted() {
    [ "${CI-}" != true ] || die "the service was not run by systemd: $(tail -n 1 "$work/boot.log")"
    say "the service was not run by systemd: $(tail -n 1 "$work/boot.log" 2>/dev/null || echo 'no control groups of version 2')"
    shut_down
}

show_journal() { in_booted journalctl -u blurd.service --no-pager | grep -v ' info request ' | tail -n 8 >&2 || true; }

await_service() {
    for _ in $(seq 100); do
        ! in_booted systemctl is-active --quiet blurd.service || return 0
        sleep 0.1
    done
    show_journal
    die "systemd does not run the service"
}

# What docs/packages.md says of upgrades, with the service running. drain_delay tells clients to close connections that they hold open.
check_running() { # package, one of an earlier version
    boot || { not_booted && return; }
    await_service
    cp "$1" "$root/srv/this.deb" && cp "$2" "$root/srv/previous.deb"
    echo 'drain_delay = 1s' >>"$root/etc/blurd/blurd.conf"
    under_load "reload" systemctl reload blurd
    under_load "restart" systemctl restart blurd
    under_load "going back to an earlier version" dpkg --install --force-confold /srv/previous.deb
    [ "$(version)" = 0.0.9 ] || die "the earlier version is not installed"
    under_load "upgrade" dpkg --install --force-confold /srv/this.deb
    [ "$(version)" = "$(dpkg-deb -f "$1" Version)" ] || die "the upgrade has not come"
    in_booted journalctl -u blurd.socket --no-pager >"$work/socket.log"
    [ "$(grep -c 'Listening on' "$work/socket.log")" = 1 ] || die "the socket was closed: $(grep blurd.socket "$work/socket.log")"
    in_booted systemctl stop blurd.socket blurd.service || die "systemd does not stop it"
    shut_down
    sed -i '/^drain_delay = 1s$/d' "$root/etc/blurd/blurd.conf"
    rm "$root/srv/this.deb" "$root/srv/previous.deb"
}
