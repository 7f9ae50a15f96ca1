#!/bin/bash
# SPDX-License-Identifier: MIT
# Writes where this project is at home into every file that says so.
#
#     config/home.sh URL [--docs URL] [--image IMAGE]    URL is the address of the repository, as `git clone` takes it, without .git
#     config/home.sh --check                             lists lines with an address that is reserved or made up, and exits with 1
#
# core/version.h has the three addresses. This script replaces them in all files of the tree, and the address for mail, noreply@HOST.
# --docs is the address below which docs/ is shown, --image that of the container image, without a tag. Without them they are what
# GitHub, GitLab and Codeberg make of URL; for another host, URL/blob/HEAD and HOST/PATH.
set -euo pipefail
cd "$(dirname "$0")/.."

# Hosts that RFC 2606 and RFC 6761 reserve, and texts in place of an address.
RESERVED='([a-z0-9-]+\.)*(example\.(com|net|org)|[a-z0-9-]+\.(example|invalid))\b|localhost\.localdomain|\bURL-OF-'

# Reserved hosts that may stay, for they are not the project's own: files, text, reason.
allowed() {
    cat <<'LIST'
bench/recall/made.py|example.org|addresses for mail that are drawn into pictures
config/blurd.conf|shop.example|a web page of the reader, in the description of cors_origins
config/home.sh|*|the list itself
config/options.def|shop.example|the same
docker/kubernetes/components/*|blurd.example.com|the host name at which the reader's cluster serves, which the file says to change
docs/configuration.md|shop.example|the same as in config/options.def
docs/sources.md|store.example.com|a store of pictures of the reader
server/pages/playground/samples.js|harbour.example|drawn into a sample picture
tests/*|*|hosts that tests make up; no package has them
LIST
}

die() {
    echo "home: $*" >&2
    exit 2
}

now() { # NAME: what core/version.h says
    sed -n "s/^#define $1 \"\(.*\)\"/\1/p" core/version.h
}

files() { # those of the tree, each ended by a zero byte
    if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$PWD" ]; then
        git ls-files -z
    else
        find . \( -path ./build -o -path ./.git \) -prune -o -type f -printf '%P\0'
    fi
}

check() {
    local file number text pattern host _ found=0
    while IFS=: read -r file number text; do
        while IFS='|' read -r pattern host _; do
            # shellcheck disable=SC2053 # both are patterns
            [[ $file != $pattern || $text != $host ]] || continue 2
        done < <(allowed)
        echo "$file:$number: $text"
        found=1
    done < <(files | xargs -0 grep -IoinHE -e "$RESERVED" -- 2>/dev/null)
    return $found
}

derive() { # URL: sets docs and image, unless they are given
    local host=${1#https://} path
    path=${host#*/} host=${host%%/*}
    case $host in
    github.com) : "${docs:=$1/blob/HEAD}" "${image:=ghcr.io/${path,,}}" ;;
    gitlab.com) : "${docs:=$1/-/blob/HEAD}" "${image:=registry.gitlab.com/${path,,}}" ;;
    codeberg.org) : "${docs:=$1/src/HEAD}" "${image:=codeberg.org/${path,,}}" ;;
    *) : "${docs:=$1/blob/HEAD}" "${image:=$host/${path,,}}" ;;
    esac
}

mail() { # URL: the host without a port
    local host=${1#https://}
    host=${host%%/*}
    echo "noreply@${host%%:*}"
}

replace() { # URL DOCS IMAGE
    local old_home old_docs old_image script
    old_home=$(now BLURD_HOME_URL) old_docs=$(now BLURD_DOCS_URL) old_image=$(now BLURD_IMAGE)
    # An address may be a part of another one: the longer ones go first, and all wait as marks until each is found.
    script="s|$(quote "$old_docs")|\x01|g; s|$(quote "$old_home")|\x02|g; s|$(quote "$(mail "$old_home")")|\x03|g; s|$(quote "$old_image")|\x04|g
        s|\x01|$2|g; s|\x02|$1|g; s|\x03|$(mail "$1")|g; s|\x04|$3|g"
    { files | xargs -0 grep -IlF -e "$old_home" -e "$(mail "$old_home")" -e "$old_image" -- 2>/dev/null || true; } | while IFS= read -r file; do
        [ -L "$file" ] || sed -i "$script" "$file"
    done
}

quote() { # for sed; addresses have no other character that a pattern could mean
    printf '%s' "${1//./\\.}"
}

if [ "${1-}" = --check ] && [ $# = 1 ]; then
    check
    exit
fi
url=${1-} docs='' image=''
url=${url%.git}
[ $# = 0 ] || shift
while [ $# -ge 2 ]; do
    case $1 in
    --docs) docs=$2 ;;
    --image) image=$2 ;;
    *) die "$1 is not known: URL [--docs URL] [--image IMAGE], or --check" ;;
    esac
    shift 2
done
[ $# = 0 ] || die "$1 needs a value"
address='^https://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~-]+)+$'
[[ $url =~ $address ]] || die "'$url' is not https://HOST/PATH, without a slash at its end"
derive "$url"
[[ $docs =~ $address ]] || die "'$docs' is not https://HOST/PATH, without a slash at its end"
[[ $image =~ ^[a-z0-9-]+(\.[a-z0-9-]+)+(:[0-9]+)?(/[a-z0-9._-]+)+$ ]] || die "'$image' is not HOST/PATH in small letters, without a tag"
replace "$url" "$docs" "$image"
[ "$(now BLURD_HOME_URL)" = "$url" ] || die "core/version.h was not written: git does not know it"
printf '%s\n' "home:  $url" "pages: $docs/docs" "image: $image"
