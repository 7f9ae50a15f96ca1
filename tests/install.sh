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
        share/bash-completion/completions/blurd share/blurd/blurd.conf share/man/man8/blurd.8 \
        share/doc/blurd/{LICENSE,README.md,CHANGELOG.md}
    for model in $(awk '!/^#/ { print $3 }' detect/models.txt); do
        [ ! -f "build/models/$model" ] || printf 'share/blurd/%s\n' "$model" "${model%.*}.copyright"
    done
    [ ! -f build/codes/libblurd-zxing.so ] || printf 'lib/blurd/%s\n' libblurd-zxing.so zxing.copyright
    find docs -maxdepth 1 -name '*.md' -printf 'share/doc/blurd/docs/%P\n'
    find docs/api -name '*.md' -printf 'share/doc/blurd/docs/api/%P\n'
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

# The words that bash would offer: command line, the last word the one to complete.
offered() {
    # shellcheck disable=SC2016 # for the other shell
    bash -c 'compopt() { :; }; source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _blurd; echo "${COMPREPLY[*]}"' \
        "$folder/usr/local/share/bash-completion/completions/blurd" "$@"
}

check_completions() {
    [ "$(offered blurd --sand)" = --sandbox ] || die "a flag is not completed"
    [ "$(offered blurd --sandbox '')" = 'auto on off' ] || die "values are not completed"
    [ "$(offered blurd --sandbox = o)" = 'on off' ] || die "values after = are not completed"
    [ "$(offered blurd --sandbox =)" = 'auto on off' ] || die "values after = are not completed"
    [ "$(offered blurd --config Make)" = Makefile ] || die "files are not completed"
    [ -z "$(offered blurd --port '')" ] || die "numbers are completed"
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
