#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds all files of a release of the last commit into build/blurd-VERSION. `make release` calls this; CONTRIBUTING.md says how a
# release is made, docs/packages.md how its files are used.
#
#     docker/release/release.sh      root; config/packages.sh release installs the tools
#
# Variables:
#   SIGNING_KEY    names a secret key of gpg (GNUPGHOME is where it looks); without it nothing is signed
#   HOME_URL       the project's address, which config/home.sh writes into the files
#   VERSION        another version than that of core/version.h, for trying an upgrade
#   GPU            required; none builds for the CPU alone, for trying
#   PARTS          packages archive client chart deploy image arm64: only these, for trying. arm64 is the image for 64-bit ARM, with the
#                  kernels that packages, archive or client have brought along
#   BUILDER        address that tells who built, for the provenance
#   RELEASE_OUT    another folder, which is emptied
#   GITHUB_REF_NAME, GITHUB_REF_TYPE    as GitHub sets them: a tag has to be that of the version
#
# What is built is an export of the commit: no other file of this folder gets in. Debian's packages and PyPI's files are fetched, and
# kernels are compiled once for all parts; all of that stays in build/packages, build/image and build/debian.
set -euo pipefail
cd "$(dirname "$0")/../.."
umask 022
export LC_ALL=C

say() { printf 'release: %s\n' "$*"; }
die() { say "$*" >&2 && exit 1; }

gpu=${GPU-required}
parts=${PARTS-packages archive client chart deploy image arm64}
suites='bookworm trixie'
work=$PWD/build/releasing
tree=$work/tree
kernels=$PWD/build/packages/bookworm/root/src/build/cuda # those that the first build makes
. docker/release/buildah.sh
suite=$(suite_of_dockerfile)

wants() { [[ " $parts " == *" $1 "* ]]; }

check_tools() {
    local tool
    [ "$(id -u)" = 0 ] || die "this needs root, as debootstrap and buildah do"
    for tool in debootstrap buildah git dpkg-scanpackages unshare python3 ${SIGNING_KEY:+gpg}; do
        command -v "$tool" >/dev/null || die "there is no $tool: config/packages.sh release"
    done
    [ -z "${SIGNING_KEY-}" ] || find_key
}

# A part of a name may be in several keys: SIGNING_KEY becomes the fingerprint of the only secret one, so that no other is given to apt.
find_key() {
    local found
    found=$(gpg --batch --with-colons --list-secret-keys "$SIGNING_KEY" 2>/dev/null | awk -F : '$1 == "sec" { now = $2 !~ /[erid]/ } $1 == "fpr" && now { print $10; now = 0 }' || true)
    [ -n "$found" ] || die "gpg has no secret key \"$SIGNING_KEY\" that is valid, which SIGNING_KEY names"
    [ "$(wc -l <<<"$found")" = 1 ] || die "gpg has several secret keys \"$SIGNING_KEY\"; name one by its fingerprint:
$found"
    export SIGNING_KEY=$found
}

check_tree() {
    local changed
    [ "$(git rev-parse --show-toplevel 2>&1)" = "$PWD" ] || die "this folder has no commit of git: a release is made from a commit. git says: $(git rev-parse --show-toplevel 2>&1)"
    commit=$(git rev-parse --verify --quiet HEAD) || die "this folder has no commit of git: a release is made from a commit"
    changed=$(git status --porcelain | head -n 5)
    [ -z "$changed" ] || die "this folder has changes that no commit has; commit or remove them first:
$changed"
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
    export SOURCE_DATE_EPOCH
}

# The version stands in core/version.h, and in these files beside it.
write_version() { # version
    local before
    before=$(sed -n 's/^#define BLURD_VERSION "\(.*\)"/\1/p' core/version.h)
    sed -i "s/^\(#define BLURD_VERSION \)\"$before\"/\1\"$1\"/" "$tree/core/version.h"
    sed -i "1s/($before)/($1)/" "$tree/docker/debian/changelog"
    sed -i "s/^\(ARG VERSION=\)$before\$/\1$1/" "$tree/Dockerfile"
    sed -i "s/^\(version: \|appVersion: \)$before\$/\1$1/" "$tree/docker/helm/Chart.yaml"
    find "$tree/docker/kubernetes" -name kustomization.yaml -exec sed -i "s/^\( *newTag: \"\?\)$before\(\"\?\)\$/\1$1\2/" {} +
}

home_of_tree() { sed -n 's/^#define BLURD_HOME_URL "\(.*\)"/\1/p' "$tree/core/version.h"; }

export_tree() {
    rm -rf "$work" && mkdir -p "$tree"
    git -c tar.umask=0022 archive "$commit" | tar -x -C "$tree"
    [ -z "${VERSION-}" ] || write_version "$VERSION"
    version=$(sed -n 's/^#define BLURD_VERSION "\(.*\)"/\1/p' "$tree/core/version.h")
    [ "${GITHUB_REF_TYPE-}" != tag ] || [ "$GITHUB_REF_NAME" = "v$version" ] || die "the tag $GITHUB_REF_NAME is not v$version"
    [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9a-z.]+)?$ ]] || die "\"$version\" is no version, as 1.2.3"
    if [ -x "$tree/config/home.sh" ]; then
        [ "${HOME_URL:-$(home_of_tree)}" = "$(home_of_tree)" ] || (cd "$tree" && config/home.sh "$HOME_URL") || die "config/home.sh does not take HOME_URL=$HOME_URL"
        (cd "$tree" && config/home.sh --check) || die "these files have no real address of the project; name it with HOME_URL"
    elif [ -n "${HOME_URL-}" ]; then
        die "there is no config/home.sh to write HOME_URL into the files"
    fi
}

# --- parts -------------------------------------------------------------------------------
# In the Debian that a package is for; the archive and the client in the oldest.
build_on() { # suite
    local goals=() built
    ! wants packages || goals+=(deb)
    [ "$1" != bookworm ] || ! wants archive || goals+=(archive)
    [ "$1" != bookworm ] || ! wants client || goals+=(python-client)
    [ ${#goals[@]} -gt 0 ] || return 0
    built=$(TREE=$tree KERNELS=$kernels tests/packages/build.sh "$1" GPU="$gpu" ARCHITECTURES=all ${CCACHE+CCACHE="$CCACHE"} "${goals[@]}")/build
    has_all "$built"
    # shellcheck disable=SC2016 # dpkg-query's own
    chroot "$built/../.." dpkg-query -W -f '${Package} ${Version} ${Architecture}\n' >"$work/packages/$1"
    ! wants packages || cp "$built"/deb/*.deb "$built"/deb/*.spdx.json "$out/"
    [ "$1" = bookworm ] || return 0
    ! wants client || cp "$built"/python-client/*.whl "$out/"
    ! wants archive || take_archive "$built"/archive/*.tar.xz
}

# Without an index of packages a build goes on, with fewer models.
has_all() { # folder build of a tree
    local without
    without=$(compgen -G "$1/models/without-*" || compgen -G "$1/codes/without") || return 0
    die "the build has not all models: $(head -n 1 "${without%%$'\n'*}"). Try again"
}

# Its list of contents also lies beside it, as that of the image does.
take_archive() { # file
    local name
    name=$(basename "$1" .tar.xz)
    cp "$1" "$out/"
    tar -xJOf "$1" "$name/share/doc/blurd/sbom.spdx.json" >"$out/$name.spdx.json"
}

build_apt() {
    local each packages=()
    for each in $suites; do
        packages+=("$each=$(compgen -G "$out/blurd_$version+deb$(release_of "$each")u*.deb")")
    done
    docker/release/apt.sh "$out/apt" "${packages[@]}"
}

release_of() { # suite: its number
    sed -n 's/^VERSION_ID="\(.*\)"/\1/p' "$(tests/debian.sh "$1")/etc/os-release"
}

same_tar() { # arguments of tar: the same files give the same bytes
    tar --format=ustar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX "$@"
}

# As `helm package` does it: the link to the Kubernetes files becomes a folder, without what .helmignore names.
build_chart() {
    same_tar -C "$tree/docker/helm" --dereference --anchored --exclude-from <(sed '/^#/d; s|^|./|; s|/$||' "$tree/docker/helm/.helmignore") --transform 's|^\.|blurd|' -c . |
        gzip -9n >"$out/blurd-$version.tgz"
}

# What engines and monitoring read, with the paths that the files and the manual name.
build_deploy() {
    local name=blurd-$version-deploy
    same_tar -C "$tree/docker" --transform "s|^|$name/docker/|" -c compose.yaml compose.gpu.yaml swarm.yaml haproxy.cfg grafana kubernetes prometheus |
        gzip -9n >"$out/$name.tar.gz"
}

# In a Debian that has all that the Dockerfile asks for. For this processor it is that in which the package was built, with its cache of
# the compiler; for another one it is emulated.
build_container() { # architecture
    local name=blurd-$version-image-$1 root cache digest each
    folder=$PWD/build/image/$1
    say "building the image for $1 on $suite, see $folder/build.log"
    if [ "$1" = amd64 ]; then
        root=$PWD/build/packages/$suite/root
        wants packages || tests/packages/build.sh "$suite" >/dev/null # nothing is built, but the Debian is there
    else
        [ "$gpu" = none ] || [ -e "$kernels/made-of" ] || die "there are no kernels for arm64: add packages, archive or client to PARTS"
        root=$(docker/release/emulated.sh "$suite" "$1")
        cp "$root/../packages" "$work/packages/$suite.$1"
    fi
    cache=$(ccache --get-config cache_dir 2>/dev/null || echo "$root/ccache")
    mkdir -p "$folder" "$cache"
    docker/release/kernels.sh "$tree" "$folder/cuda" "$kernels"
    echo 'cache_dir = /ccache' >"$root/etc/ccache.conf"
    make_base "$root" "$1"
    build_image "$tree" "$1" --timestamp "$SOURCE_DATE_EPOCH" --build-arg GPU="$gpu" --build-arg VERSION="$version" \
        --build-arg SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" --volume "$cache:/ccache" ||
        { tail -n 15 "$folder/build.log" >&2 && die "the image cannot be built"; }
    mv "$folder/cuda/being-made-of" "$folder/cuda/made-of"
    rm -rf "$work/image" && store push --quiet localhost/blurd "dir:$work/image"
    digest=$(docker/release/oci.py "$work/image" "blurd:$version" "$out/$name.tar")
    root=$(store mount "$(store from --platform "linux/$1" localhost/blurd)")
    while read -r each; do
        [ -f "$root/usr/local/$each" ] || die "the image has no $each. Try again"
    done < <(echo lib/blurd/libblurd-zxing.so && awk '!/^#/ { print "share/blurd/" $3 }' "$tree/detect/models.txt")
    cp "$root/usr/share/doc/blurd/sbom.spdx.json" "$out/$name.spdx.json"
    say "image for $1: $digest"
}

# --- all of them -------------------------------------------------------------------------
write_readme() {
    sed "s/VERSION/$version/g" docker/release/README.txt | awk '/^    [^ ]+   *[^ #]/ { name = $1; sub(/^ +[^ ]+ +/, ""); $0 = sprintf("    %-38s%s", name, $0) } { print }'
    if [ -n "${SIGNING_KEY-}" ]; then
        printf '\nSHA256SUMS.asc is the signature of SHA256SUMS (apt-get install -y gpg):\n\n    %s\n\nThe key has this fingerprint, which you compare with one from another place:\n\n    %s\n' \
            'gpg --import blurd-signing-key.asc && gpg --verify SHA256SUMS.asc SHA256SUMS' \
            "$SIGNING_KEY"
    else
        printf '\nTHIS RELEASE IS NOT SIGNED: it was made without SIGNING_KEY. The checksums find damage, and no forgery.\n'
    fi
}

finish() {
    write_readme >"$out/README.txt"
    [ -z "${SIGNING_KEY-}" ] || gpg --batch --armor --export "$SIGNING_KEY" >"$out/blurd-signing-key.asc"
    docker/release/provenance.py "$tree" "$out" "$work/packages" "$commit" version="$version" gpu="$gpu" parts="$parts" >"$work/provenance"
    mv "$work/provenance" "$out/blurd-$version.intoto.json"
    # Signatures are made anew each time, and verified by the key instead.
    (cd "$out" && find . -type f ! -name InRelease -printf '%P\n' | sort | xargs -d '\n' sha256sum) >"$work/sums"
    mv "$work/sums" "$out/SHA256SUMS"
    [ -z "${SIGNING_KEY-}" ] || gpg --batch --yes --local-user "$SIGNING_KEY" --armor --detach-sign --output "$out/SHA256SUMS.asc" "$out/SHA256SUMS"
    find "$out" -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
}

check_tools
check_tree
trap 'rm -rf "$work"' EXIT
export_tree
out=${RELEASE_OUT-$PWD/build/blurd-$version}
say "version $version of commit $commit, $(date --utc --date "@$SOURCE_DATE_EPOCH" +%F)${SIGNING_KEY:+, signed by $SIGNING_KEY}, into $out"
rm -rf "$out" && mkdir -p "$out" "$work/packages"
for each in $suites; do
    build_on "$each"
done
! wants packages || build_apt
! wants chart || build_chart
! wants deploy || build_deploy
! wants image || build_container amd64
! wants arm64 || build_container arm64
finish
(cd "$out" && find . -maxdepth 1 -type f -printf '    %10s  %P\n' | sort -k 2)
[ -n "${SIGNING_KEY-}" ] || say "NOT SIGNED, as there is no SIGNING_KEY"
say "ok: $out"
