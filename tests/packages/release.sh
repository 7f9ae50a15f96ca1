#!/bin/bash
# SPDX-License-Identifier: MIT
# A release of the last commit (docker/release/release.sh), signed by a key for this test: made twice, with the same bytes, and each of
# its files used with nothing else than the release, in an empty Debian 12 and 13. `make check-release` calls this.
#
#     tests/packages/release.sh [quick|cached]     quick: made once; cached: twice, with a cache of the compiler; exits with 77 where
#                                                  the tools are missing (config/packages.sh release)
#     RELEASE=FOLDER, with SIGNING_KEY, uses that release, which is not made again
#
# Both builds share Debian's packages, PyPI's files and the compiled kernels, and the image takes objects from the compiler's cache;
# make check-reproducible compiles package and archive twice with all kernels.
set -euo pipefail
cd "$(dirname "$0")/../.."

export LC_ALL=C.UTF-8 # gpg translates what it says
name=release
. tests/packages/common.sh
. tests/packages/boot.sh
. tests/packages/release_use.sh
need debootstrap buildah git gpg dpkg-scanpackages curl unshare setpriv nsenter ip qemu-system-aarch64 cpio python3 heif-enc
work=$PWD/build/packages/release
root=$work/root
first=${RELEASE-$PWD/build/checked-release}
keys=''
# An address for the tests, of a domain that is for networks at home (RFC 8375).
[ ! -x config/home.sh ] || export HOME_URL=https://blurd.home.arpa/blurd
web=''

new_key() { # address
    gpg --homedir "$keys" --batch --quiet --passphrase '' --quick-gen-key "A test of blurd <$1>" ed25519 sign 1d 2>/dev/null || die "gpg makes no key"
}

# That of the release, and another one, whose address has the first as a part.
make_keys() {
    keys=$(mktemp -d /tmp/blurd-keys.XXXXXX) # the path of the agent's socket must be short
    new_key other-release-test@blurd.example
    [ -z "${SIGNING_KEY-}" ] || return 0
    new_key release-test@blurd.example
    export GNUPGHOME=$keys SIGNING_KEY='<release-test@blurd.example>'
}

clean_up() {
    shut_down
    [ -z "$web" ] || kill "$web" 2>/dev/null || true
    [ -z "$keys" ] || { gpgconf --homedir "$keys" --kill all && rm -rf "$keys"; }
    finish
}

# --- making it ---------------------------------------------------------------------------
make_release() { # folder, variables...
    local log=$PWD/build/packages/release.log begin=$SECONDS
    env RELEASE_OUT="$1" "${@:2}" docker/release/release.sh >"$log" 2>&1 || { tail -n 15 "$log" >&2 && die "make release"; }
    say "$(basename "$1"): made in $((SECONDS - begin)) s, $(du -s --apparent-size --block-size=1 "$1" | cut -f 1) bytes"
}

# With another umask, language and time zone, and all of the packages compiled again.
make_again() {
    local second=$work/again
    (umask 077 && make_release "$second" LC_ALL=C TZ=Pacific/Auckland ${anew:+"$anew"})
    if ! diff -rq --exclude InRelease --exclude '*.asc' "$first" "$second" >&2; then
        die "two builds of a commit differ"
    fi
    [ "$(cd "$first" && find . -printf '%p %m %s %T@\n' | grep -v -e InRelease -e '\.asc ' | sort)" = "$(cd "$second" &&
        find . -printf '%p %m %s %T@\n' | grep -v -e InRelease -e '\.asc ' | sort)" ] || die "two builds of a commit differ in modes or dates"
    say "the same bytes twice: SHA256SUMS has $(sha256sum "$first/SHA256SUMS" | cut -d ' ' -f 1), $(sha256sum "$second/SHA256SUMS" | cut -d ' ' -f 1)"
    rm -rf "$second"
}

refuses() { # sentence, variables...
    local status=0
    (cd "$work/clone" && env RELEASE_OUT="$work/refused" PARTS=chart "${@:2}" docker/release/release.sh) >"$work/refused.log" 2>&1 || status=$?
    [ $status = 1 ] || die "exit status $status where it should say: $1"
    grep -qF -- "$1" "$work/refused.log" || die "it says $(cat "$work/refused.log") in place of: $1"
    [ ! -e "$work/refused" ] || die "something was made, although it says: $1"
}

# What it does not release, and that what it does without a key says so.
check_refusals() {
    git clone -q . "$work/clone"
    touch "$work/clone/core/forgotten.c"
    refuses "changes that no commit has"
    rm "$work/clone/core/forgotten.c"
    echo >>"$work/clone/LICENSE"
    refuses "changes that no commit has"
    git -C "$work/clone" checkout -q LICENSE
    refuses "no secret key" SIGNING_KEY=nobody@blurd.example
    [ "${GNUPGHOME-}" != "$keys" ] || refuses "several secret keys" SIGNING_KEY=release-test@blurd.example
    refuses "is no version" VERSION=one
    refuses "is not v" GITHUB_REF_TYPE=tag GITHUB_REF_NAME=v0.0.1
    if [ -x config/home.sh ] && ! config/home.sh --check >/dev/null; then
        refuses "no real address" HOME_URL=
    fi
    (cd "$work/clone" && env -u SIGNING_KEY RELEASE_OUT="$work/unsigned" PARTS=chart docker/release/release.sh) >"$work/unsigned.log" 2>&1 ||
        { cat "$work/unsigned.log" >&2 && die "without a key"; }
    [ "$(grep -l 'NOT SIGNED' "$work/unsigned.log" "$work/unsigned/README.txt" | wc -l)" = 2 ] || die "a release without signature does not say so"
    ! find "$work/unsigned" -name '*.asc' -o -name InRelease | grep . || die "there are signatures without a key"
    rm -rf "$work/clone/.git"
    refuses "has no commit of git"
    rm -rf "$work/clone" "$work/unsigned"
    say "refuses changes that are not committed, a folder without commits, an unknown key; says that it is not signed"
}

stop_here() {
    kill "$here"
    wait "$here" || true
    here=
}

# --- using it ----------------------------------------------------------------------------
anew=CCACHE=
case ${1-} in
'' | quick) ;;
cached) anew='' ;;
*) say "usage: $0 [quick|cached]" >&2 && exit 64 ;;
esac
rm -rf "$work" && mkdir -p "$work"
later=$(sed -n 's/^#define BLURD_VERSION "\([0-9]*\.[0-9]*\)\..*"/\1/p' core/version.h).1000
trap clean_up EXIT
make_keys
check_refusals
[ -n "${RELEASE-}" ] || make_release "$first"
[ "${1-}" = quick ] || [ -n "${RELEASE-}" ] || make_again
make_release "$work/later" PARTS=packages VERSION="$later"
check_sums
check_lists
start_here "$work"
for suite in bookworm trixie; do
    check_apt
    check_client
    check_upgrade
done
stop_here
config/pypi.sh helm
tests/python.sh tests/packages/release_files.py chart "$(compgen -G "$first/blurd-*.tgz")" || die "the chart"
tests/python.sh tests/packages/release_files.py deploy "$(compgen -G "$first/blurd-*-deploy.tar.gz")" || die "the files for engines"
tests/packages/archive.sh "$(compgen -G "$first/blurd-*-linux-amd64.tar.xz")"
IMAGE=$(compgen -G "$first/blurd-*-image-amd64.tar")
export IMAGE
tests/containers/image.sh
tests/arm64/image.sh "$(compgen -G "$first/blurd-*-image-arm64.tar")" || die "the image for arm64"
mkdir "$work/deploy" && tar -C "$work/deploy" --strip-components 1 -xzf "$(compgen -G "$first/blurd-*-deploy.tar.gz")"
DEPLOY=$work/deploy tests/containers/docker.sh || [ $? = 77 ] || die "the image, with Docker"
say "ok"
