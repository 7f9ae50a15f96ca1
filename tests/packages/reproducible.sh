#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds the Debian package and the archive twice: in different folders, with other jobs, umask, language and time zone, with
# ccache and without. Both builds have to give the same bytes. `make check-reproducible` calls this; it compiles all twice.
#
#     tests/packages/reproducible.sh [VARIABLE=VALUE]...     of make, as GPU=none, which takes half of the time; exits with 77 where the tools are missing (config/packages.sh deb)
set -euo pipefail
cd "$(dirname "$0")/../.."

name=reproducible
. tests/packages/common.sh
command -v dh >/dev/null || { say "skipped, there is no debhelper: config/packages.sh deb" && exit 77; }
work=$PWD/build/reproducible
one=$work/one two=$work/in-another-folder/two
arguments=$*
seconds=3000
date=$(docker/source_date.sh)
trap 'rm -rf "$work"' EXIT

prepare() { # folder
    mkdir -p "$1/build/models"
    copy_tree "$1"
    [ ! -d build/models/wheels ] || cp -r build/models/wheels "$1/build/models/" # a download
    [ ! -d build/cuda/usr-local-cuda/wheels ] || { mkdir -p "$1/build/cuda/usr-local-cuda" && cp -r build/cuda/usr-local-cuda/wheels "$1/build/cuda/usr-local-cuda/"; }
}

# shellcheck disable=SC2086 # arguments are words
build() { # folder, variables and arguments of make
    local folder=$1 begin=$SECONDS goal
    shift
    for goal in deb archive; do # one after the other: both make the program first
        timeout -k 5 $seconds env SOURCE_DATE_EPOCH="$date" "$@" $arguments --no-print-directory -C "$folder" $goal >>"$folder.log" 2>&1 ||
            { tail -n 10 "$folder.log" >&2 && die "make $goal in $folder"; }
    done
    say "built in $folder, $((SECONDS - begin)) s, $(grep -c '^  CC ' "$folder.log") files compiled"
}

unpack() { # file, folder
    mkdir -p "$2"
    case $1 in
    *.deb) dpkg-deb -R "$1" "$2" ;;
    *) tar -C "$2" -xJf "$1" ;;
    esac
}

# Names the files that differ; without one, it is times, modes or the order.
differences() { # two files
    rm -rf "$work/a" "$work/b"
    unpack "$1" "$work/a"
    unpack "$2" "$work/b"
    diff -rq --no-dereference "$work/a" "$work/b" | sed 's/^/    /' || true
    diff <(cd "$work/a" && find . -printf '%P %m %T@\n' | sort) <(cd "$work/b" && find . -printf '%P %m %T@\n' | sort) | sed 's/^/    /' | head -n 20
}

compare_files() { # pattern below the folders
    local first second hashes
    first=$(compgen -G "$one/$1") second=$(compgen -G "$two/$1")
    hashes=$(sha256sum "$first" "$second" | cut -d' ' -f1)
    say "$(basename "$first"), $(stat -c %s "$first") bytes:"
    # shellcheck disable=SC2086 # one line each
    printf '    %s\n' $hashes
    [ "$(sort -u <<<"$hashes" | wc -l)" = 1 ] || { differ=1 && differences "$first" "$second"; }
}

rm -rf "$work"
prepare "$one"
prepare "$two"
(umask 022 && build "$one" LC_ALL=C.UTF-8 TZ=UTC make -j2)
(umask 077 && build "$two" LC_ALL=C TZ=Pacific/Auckland HOME=/nowhere PATH=/usr/sbin:/usr/bin:/sbin:/bin make -j3 CCACHE=)
differ=0
compare_files 'build/deb/*.deb'
compare_files 'build/archive/*.tar.xz'
[ $differ = 0 ] || die "the builds differ"
say "ok"
