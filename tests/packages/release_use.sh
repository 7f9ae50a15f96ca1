# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# Functions that use a release as docs/packages.md says. tests/packages/release.sh reads this file after common.sh and boot.sh, and sets
# $first, the release, $work and $root.

# --- checksums and signatures ------------------------------------------------------------
# With a keyring that has the release's key alone, as a user has it.
verifies() { # folder
    (cd "$1" && gpg --homedir "$work/user" --batch --quiet --verify SHA256SUMS.asc SHA256SUMS && sha256sum --check --quiet --strict SHA256SUMS) >"$work/verify.log" 2>&1
}

check_sums() {
    local copy=$work/forged file
    mkdir -m 700 "$work/user"
    gpg --homedir "$work/user" --batch --quiet --import "$first/blurd-signing-key.asc" 2>/dev/null || die "gpg does not take the key"
    verifies "$first" || die "the release does not verify: $(cat "$work/verify.log")"
    file=$(cd "$first" && find . -type f ! -name SHA256SUMS ! -name 'SHA256SUMS.asc' ! -name InRelease -printf '%P\n' | sort)
    [ "$(sed 's/^[0-9a-f]*  //' "$first/SHA256SUMS")" = "$file" ] || die "SHA256SUMS has not each file"
    mkdir "$copy" && cp "$first"/*.whl "$first"/SHA256SUMS* "$copy/"
    (cd "$copy" && grep whl SHA256SUMS >sums && echo 0 >>"$(compgen -G '*.whl')" && ! sha256sum --check --quiet sums 2>/dev/null >&2) || die "a changed file passes"
    (cd "$copy" && sha256sum ./*.whl >>SHA256SUMS)
    ! verifies "$copy" || die "changed checksums pass"
    grep -q 'BAD signature' "$work/verify.log" || die "changed checksums: $(cat "$work/verify.log")"
    [ "$(gpg --batch --with-colons --show-keys "$first/apt/blurd.gpg" | grep -c '^pub:')" = 1 ] || die "apt gets other keys than the release's"
    say "$(wc -l <"$first/SHA256SUMS") checksums and their signature are right, a changed file or list is noticed"
}

# The lists of contents, those of the packages against what is in them; and the provenance.
check_lists() {
    local each tree=$work/tree
    config/pypi.sh packages
    for each in "$first"/*.deb; do
        rm -rf "$tree"
        dpkg-deb -x "$each" "$tree"
        cp "${each%.deb}.spdx.json" "$tree/sbom.spdx.json"
        tests/python.sh tests/packages/sbom.py "$tree" sbom.spdx.json || die "the list of contents of $each"
    done
    rm -rf "$tree"
    for each in "$first"/*-linux-amd64.tar.xz "$first"/*-image-*.tar; do
        [ -s "${each%.tar*}.spdx.json" ] || die "$each has no list of contents beside it"
    done
    tests/python.sh tests/packages/release_files.py provenance "$first" "$(git rev-parse HEAD)" || die "the provenance"
}

# --- apt ---------------------------------------------------------------------------------
in_root() { # command...
    BIND=$first BIND_TO=/srv/release inside 600 "$root" env DEBIAN_FRONTEND=noninteractive "$@" >"$work/apt.log" 2>&1
}

add_source() { # address
    mkdir -p "$root/etc/apt/keyrings"
    cp "$first/apt/blurd.gpg" "$root/etc/apt/keyrings/"
    printf '%s\n' 'Types: deb' "URIs: $1" "Suites: $suite" 'Components: main' 'Signed-By: /etc/apt/keyrings/blurd.gpg' >"$root/etc/apt/sources.list.d/blurd.sources"
}

# Only the lists of that source; Debian's stay.
only_this='-o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::SourceList=/etc/apt/sources.list.d/blurd.sources -o APT::Get::List-Cleanup=0 -o APT::Update::Error-Mode=any'
# shellcheck disable=SC2086 # options
update() { in_root apt-get -q $only_this update; }

installs_from() { # address
    add_source "$1"
    update || { tail -n 5 "$work/apt.log" >&2 && die "apt does not take $1"; }
    in_root apt-get -qy install --no-install-recommends blurd || { tail -n 5 "$work/apt.log" >&2 && die "no installation from $1"; }
    [ "$(installed)" = "$(version_in "$first")" ] || die "$(installed) was installed"
    say "$suite: $(installed) installed from ${1%%:*}:"
}

# shellcheck disable=SC2016 # dpkg-query's own
installed() { inside 20 "$root" dpkg-query -W -f '${Version}' blurd; }
version_in() { sed -n 's/^Version: //p' "$1/apt/dists/$suite/main/binary-amd64/Packages"; }

# A list that was changed after it was signed, and one that another key signed, are not taken.
check_forgeries() {
    local forged=$work/forged.apt
    rm -rf "$forged" && cp -a "$first/apt" "$forged"
    sed -i 's/^Version: .*/Version: 9000/' "$forged/dists/$suite/main/binary-amd64/Packages"
    rm "$forged/dists/$suite/main/binary-amd64/Packages.gz"
    refused_update 'unexpected size|Hash Sum mismatch' || die "apt takes a changed list"
    sed -i 's/^Label: blurd/Label: other/' "$forged/dists/$suite/InRelease"
    refused_update 'BADSIG|Message has been manipulated|Bad signature|not signed|invalid' || die "apt takes a changed InRelease"
    gpg --homedir "$keys" --batch --yes --quiet --local-user other-release-test@blurd.example --clearsign --output "$forged/dists/$suite/InRelease" "$first/apt/dists/$suite/Release"
    refused_update 'NO_PUBKEY|Missing key' || die "apt takes what another key has signed"
    rm -rf "$forged"
    say "$suite: changed lists are refused, and those that another key has signed"
}

# shellcheck disable=SC2086 # options
refused_update() { # what apt says; uses $forged
    local status=0
    rm -rf "$root"/var/lib/apt/lists/_srv_release*
    BIND=$forged BIND_TO=/srv/release/apt inside 60 "$root" apt-get -q $only_this update >"$work/forged.log" 2>&1 || status=$?
    [ $status != 0 ] || return 1
    grep -qE "$1" "$work/forged.log" || die "apt refuses for another reason: $(tail -n 4 "$work/forged.log")"
}

check_apt() {
    local port
    new_root "$suite" "$root"
    mkdir -p "$root/srv/release/apt"
    in_root apt-get -q update || { tail -n 5 "$work/apt.log" >&2 && die "apt-get update"; }
    add_source file:/srv/release/apt
    check_forgeries
    installs_from file:/srv/release/apt
    in_root apt-get -qy purge blurd || die "it cannot be purged"
    port=$(free_port)
    python3 -m http.server --bind 127.0.0.1 --directory "$first" "$port" >"$work/web.log" 2>&1 &
    web=$!
    eventually_serves "$port"
    installs_from "http://127.0.0.1:$port/apt"
    kill "$web"
    wait "$web" 2>/dev/null || true
    web=''
    grep -q 'GET /apt/pool/' "$work/web.log" || die "the package did not come by HTTP"
    check_service
    check_folder
}

eventually_serves() { # port
    for _ in $(seq 100); do
        ! curl -fsS -o /dev/null "http://127.0.0.1:$1/SHA256SUMS" 2>/dev/null || return 0
        sleep 0.1
    done
    die "no web server on port $1"
}

# As its README.txt says: a folder, without a daemon; the same bytes as by the daemon of this tree.
check_folder() {
    local picture=docs/pictures/hidden/astronaut.jpg
    rm -rf "$root/srv/photos" "$root/srv/hidden"
    mkdir -p "$root/srv/photos/inner"
    cp $picture "$root/srv/photos/inner/"
    in_root blurd run 'redact?detect=faces' /srv/photos -r -o /srv/hidden || { tail -n 5 "$work/apt.log" >&2 && die "no folder is redacted"; }
    post "$here_port" 'redact?detect=faces' $picture "$work/here"
    cmp "$work/here" "$root/srv/hidden/inner/astronaut.jpg" || die "the face in a folder is hidden in another way than by the daemon"
    ! cmp -s $picture "$work/here" || die "nothing is hidden"
    say "$suite: a folder is redacted by the installed program"
}

check_service() {
    local port outer
    port=$(free_port)
    (AS_NOBODY=1 inside 120 "$root" /usr/bin/blurd --config /etc/blurd/blurd.conf --listen 127.0.0.1 --port "$port" 2>"$work/daemon.log") &
    outer=$!
    await "$port" "$work/daemon.log"
    compare "$port" "$work"
    stop "$outer" "$work/daemon.log"
}

# --- the client for Python ---------------------------------------------------------------
# httpx is Debian's; pip asks no server.
check_client() {
    local port outer status=0
    in_root apt-get -qy install --no-install-recommends python3-venv python3-httpx || die "Python's packages"
    in_root sh -c 'python3 -m venv --system-site-packages /srv/venv && /srv/venv/bin/pip install --no-index /srv/release/blurd-*.whl' ||
        { tail -n 5 "$work/apt.log" >&2 && die "pip does not install the wheel"; }
    port=$(free_port)
    (AS_NOBODY=1 inside 120 "$root" /usr/bin/blurd --listen 127.0.0.1 --port "$port" 2>"$work/daemon.log") &
    outer=$!
    await "$port" "$work/daemon.log"
    cp tests/packages/release_files.py build/sample.jpg "$root/srv/"
    inside 60 "$root" /srv/venv/bin/python3 /srv/release_files.py post /srv/sample.jpg "$port" || status=$?
    [ $status = 0 ] || die "the client does not get a picture"
    stop "$outer" "$work/daemon.log"
}

# --- upgrade -----------------------------------------------------------------------------
offer() { # release
    rm -rf "$root/srv/apt" && cp -a "$1/apt" "$root/srv/apt"
}

# What docs/packages.md promises, with the service running and clients asking: apt brings a later release, and goes back.
check_upgrade() {
    local said
    in_root apt-get -qy install --no-install-recommends systemd procps || die "systemd"
    rm -rf "$root"/etc/apt/sources.list "$root"/etc/apt/sources.list.d/*
    offer "$first"
    add_source file:/srv/apt
    printf '%s\n' '# mine' 'drain_delay = 1s' >>"$root/etc/blurd/blurd.conf"
    boot || { not_booted && return; }
    await_service
    offer "$work/later"
    under_load "$suite: apt-get upgrade" sh -ec 'apt-get -q update && apt-get -qy -o Dpkg::Options::=--force-confold upgrade'
    [ "$(installed)" = "$(version_in "$work/later")" ] || die "the upgrade has not come: $(installed)"
    said=$(nsenter --target "$booted" --net curl -fsS http://127.0.0.1:8080/version) || die "no answer after the upgrade"
    grep -qF "\"$later\"" <<<"$said" || die "another version runs: $said"
    grep -q '^# mine' "$root/etc/blurd/blurd.conf" || die "my configuration is gone"
    cp "$first/blurd_$(version_in "$first")_amd64.deb" "$root/srv/"
    under_load "$suite: going back" sh -ec 'apt-get -qy -o Dpkg::Options::=--force-confold install --allow-downgrades /srv/blurd_*.deb'
    [ "$(installed)" = "$(version_in "$first")" ] || die "it does not go back: $(installed)"
    in_booted journalctl -u blurd.socket --no-pager >"$work/socket.log"
    [ "$(grep -c 'Listening on' "$work/socket.log")" = 1 ] || die "the socket was closed: $(grep blurd.socket "$work/socket.log")"
    say "$suite: upgraded to $(version_in "$work/later") and back, the configuration kept, the socket never closed"
    in_booted systemctl stop blurd.socket blurd.service || die "systemd does not stop it"
    shut_down
}
