#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs into an empty folder and compares what is there; then removes it again. `make check-install` calls this.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
say() { printf 'install: %s\n' "$*"; }
die() { say "FAILED: $*" && exit 1; }

expected() { # what stands below PREFIX
    local model
    printf '%s\n' bin/blurd lib/systemd/system/blurd.service lib/systemd/system/blurd.socket \
        share/bash-completion/completions/blurd share/zsh/site-functions/_blurd share/fish/vendor_completions.d/blurd.fish share/blurd/blurd.conf share/man/man8/blurd.8 \
        share/doc/blurd/{LICENSE,README.md,CHANGELOG.md}
    for model in $(awk '!/^#/ { print $3 }' detect/models.txt); do
        [ ! -f "build/models/$model" ] || printf 'share/blurd/%s\n' "$model" "${model%.*}.copyright"
    done
    [ ! -f build/codes/libblurd-zxing.so ] || printf 'lib/blurd/%s\n' libblurd-zxing.so zxing.copyright
    find docs -maxdepth 1 -name '*.md' -printf 'share/doc/blurd/docs/%P\n'
    find docs/api -name '*.md' -printf 'share/doc/blurd/docs/api/%P\n'
    find docs/start -name '*.md' -printf 'share/doc/blurd/docs/start/%P\n'
    find docs/gpu -name '*.md' -printf 'share/doc/blurd/docs/gpu/%P\n'
}

check() { # prefix, goal
    local root=$folder$1
    make --no-print-directory "$2" DESTDIR="$folder" PREFIX="$1" >"$folder.log" || { cat "$folder.log" && die "make $2"; }
    rm -f "$folder.log"
    diff <(expected | sort) <(find "$root" -type f -printf '%P\n' | sort) || die "$2 to $1: the list differs"
    [ -z "$(find "$folder" -type f ! -path "$root/*")" ] || die "something lies outside of $1"
    [ -z "$(find "$folder" -type f -perm /022)" ] || die "others may write to it"
    "$root/bin/blurd" --config "$root/share/blurd/blurd.conf" --check-config >/dev/null || die "the program or its file"
    grep -q "^ExecStart=$1/bin/blurd " "$root/lib/systemd/system/blurd.service" || die "the unit names another program"
    ! grep -rlF "$folder" "$root" || die "DESTDIR stands in a file"
    say "$2 to $1: $(expected | wc -l) files, $(du -s --apparent-size --block-size=1 "$root" | cut -f1) bytes"
}

# tests/http/test_completions.py has what they offer.
check_completions() {
    local share=$folder/usr/local/share
    bash -n "$share/bash-completion/completions/blurd" || die "bash"
    head -1 "$share/zsh/site-functions/_blurd" | grep -qx '#compdef blurd' || die "zsh would not find its completions"
    ! command -v zsh >/dev/null || zsh -n "$share/zsh/site-functions/_blurd" || die "zsh"
    ! command -v fish >/dev/null || fish --no-execute "$share/fish/vendor_completions.d/blurd.fish" || die "fish"
}

check_manual() {
    local said
    command -v groff >/dev/null || { say "no groff: the manual page is not checked" && return; }
    said=$(LC_ALL=C.UTF-8 groff -ww -man -Tutf8 -z "$folder/usr/local/share/man/man8/blurd.8" 2>&1) || die "groff"
    [ -z "$said" ] || die "groff says: $said"
}

check /usr/local install
check_completions
check_manual
make --no-print-directory uninstall DESTDIR="$folder" PREFIX=/usr/local >/dev/null
[ -z "$(find "$folder" -type f)" ] || die "uninstall has left: $(find "$folder" -type f)"
check /usr install-strip
[ "$(stat -c %s "$folder/usr/bin/blurd")" -lt "$(stat -c %s build/release/blurd)" ] || die "not stripped"
say "ok"
