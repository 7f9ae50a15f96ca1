#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes a repository for apt, which any web server or a folder of the host can offer.
#
#     docker/release/apt.sh FOLDER SUITE=PACKAGE...     bookworm=blurd_1.0.0+deb12u1_amd64.deb
#
# SOURCE_DATE_EPOCH is its date. With SIGNING_KEY, which names a secret key of gpg, it is signed; without one apt takes it only where
# its source says [trusted=yes].
set -euo pipefail
umask 022
export LC_ALL=C

folder=$1
shift

sums() { # folder of a suite: the lines of SHA256 in Release
    (cd "$1" && find main -type f | sort | while read -r file; do
        printf ' %s %s %s\n' "$(sha256sum "$file" | cut -d ' ' -f 1)" "$(stat -c %s "$file")" "$file"
    done)
}

write_release() { # suite, folder of the suite
    cat <<RELEASE
Origin: blurd
Label: blurd
Suite: $1
Codename: $1
Date: $(date --utc --date "@$SOURCE_DATE_EPOCH" '+%a, %d %b %Y %H:%M:%S UTC')
Architectures: $(cd "$2/main" && printf '%s\n' binary-* | sed 's/binary-//' | paste -sd ' ')
Components: main
Description: blurd for Debian's $1
SHA256:
$(sums "$2")
RELEASE
}

add_suite() { # suite, package
    local suite=$1 package=$2 architecture place
    architecture=$(dpkg-deb -f "$package" Architecture)
    place=dists/$suite/main/binary-$architecture
    mkdir -p "$folder/pool/$suite" "$folder/$place"
    cp "$package" "$folder/pool/$suite/"
    (cd "$folder" && dpkg-scanpackages --multiversion --arch "$architecture" "pool/$suite" 2>/dev/null) >"$folder/$place/Packages"
    gzip -9n <"$folder/$place/Packages" >"$folder/$place/Packages.gz"
    write_release "$suite" "$folder/dists/$suite" >"$folder/Release.new"
    mv "$folder/Release.new" "$folder/dists/$suite/Release"
    [ -z "${SIGNING_KEY-}" ] ||
        gpg --batch --yes --local-user "$SIGNING_KEY" --clearsign --output "$folder/dists/$suite/InRelease" "$folder/dists/$suite/Release"
}

rm -rf "$folder"
for each; do
    add_suite "${each%%=*}" "${each#*=}"
done
[ -z "${SIGNING_KEY-}" ] || gpg --batch --export "$SIGNING_KEY" >"$folder/blurd.gpg"
