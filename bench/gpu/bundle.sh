#!/bin/bash
# SPDX-License-Identifier: MIT
# Packs programs with the shared libraries that a bare host lacks: all but the C library's and
# the compiler's own, which must be those that the driver's libraries find, too. The outcome runs from any folder, on hosts whose C library is as new as this one's.
#
#     bench/gpu/bundle.sh FOLDER PROGRAM...     FOLDER/blurd-VERSION-linux-ARCH.tar.gz
#
# The programs look for libraries in ../lib (see rules.mk); wrk, which others built, gets a
# script that says so. Ends with 1 when one of them does not find all of its libraries there.
set -eu
umask 022

out=$1
shift
version=$(sed -n 's/^#define BLURD_VERSION "\(.*\)"/\1/p' core/version.h)
name=blurd-$version-linux-$(uname -m)
root=$out/$name
system='ld-linux.*|linux-vdso|libc|libm|libpthread|libdl|librt|libresolv|libgcc_s|libstdc\+\+'

trial=$(mktemp -d)
trap 'rm -rf "$trial"' EXIT
mkdir "$trial/replaced"

libraries() { # program: the paths of what it needs and the system does not bring; with the daemon those of the formats, which it opens
    case $1 in
    */blurd) docker/libraries.sh "${1/bundled\//}" "$trial/replaced" | cut -f1 ;;
    *) ldd "$1" | awk '$2 == "=>" { print $3 }' ;;
    esac | grep -vE "/($system)\.so(\.|$)" || true
}

rm -rf "$root" "$root.tar.gz"
mkdir -p "$root/bin" "$root/lib" "$root/libexec" "$root/share"
install -m 755 "$@" "$root/bin"
wrk=$(command -v wrk || true)
if [ -n "$wrk" ]; then
    install -m 755 "$wrk" "$root/libexec/wrk"
    cat >"$root/bin/wrk" <<'SCRIPT'
#!/bin/sh
# Some other program's binary: it is told where the libraries are.
here=$(cd "$(dirname "$0")/.." && pwd)
LD_LIBRARY_PATH=$here/lib exec "$here/libexec/wrk" "$@"
SCRIPT
    chmod 755 "$root/bin/wrk"
else
    echo "bundle: without wrk, which is not installed here" >&2
fi
strip "$root"/bin/blurd "$root"/bin/blurd-bench "$root"/bin/check_gpu "$root"/bin/sample 2>/dev/null || true
for program in "$@" $wrk; do
    libraries "$program"
done | sort -u | while read -r library; do
    install -m 644 "$library" "$root/lib"
done
install -m 644 LICENSE config/blurd.conf docs/configuration.md bench/post.lua "$root/share"
detect/install.sh build/models "$root/share/blurd"
[ ! -f build/codes/libblurd-zxing.so ] || install -m 644 build/codes/libblurd-zxing.so detect/codes/zxing.copyright "$root/share/blurd"
tests/python.sh bench/service/bodies.py "$root/share/bodies"
tests/python.sh bench/screens.py "$root/share/screens" rgb
tests/python.sh bench/screens.py "$root/share/screens/large" rgba --size 2560x1440
git rev-parse --short HEAD >"$root/share/commit" 2>/dev/null || echo unknown >"$root/share/commit"
cat >"$root/share/README" <<README
blurd $version for $(uname -sm), built with $(ldd --version | head -n 1).
bin/ finds its libraries in lib/, wherever the folder lies. share/blurd.conf is a configuration to start from.
README

# Unpacked elsewhere, with an empty environment, nothing may come from this system but the C library.
tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner -czf "$root.tar.gz" "$name"
rm -rf "$root"
tar -C "$trial" -xzf "$root.tar.gz"
trial_root=$(readlink -f "$trial/$name")
missing=0
for program in "$trial_root"/bin/* "$trial_root"/libexec/*; do
    head -c 4 "$program" | grep -q ELF || continue
    path=
    [ "${program#"$trial_root"/libexec}" = "$program" ] || path="LD_LIBRARY_PATH=$trial_root/lib"
    # shellcheck disable=SC2086 # nothing or one word
    found=$(env -i $path ldd "$program")
    wrong=$(awk '/=>/ { print }' <<<"$found" | grep -vE "/($system)\.so|=> $trial_root/(bin/\.\./)?lib/" || true)
    if [ -n "$wrong" ]; then
        printf 'bundle: %s takes from elsewhere:\n%s\n' "${program##*/}" "$wrong" >&2
        missing=1
    fi
done
env -i "$trial_root/bin/blurd" --version || missing=1
[ -z "$wrk" ] || env -i PATH=/usr/bin:/bin "$trial_root/bin/wrk" --version 2>&1 | grep -q '^wrk' ||
    { echo "bundle: wrk does not start" >&2 && missing=1; }
printf '%s, %d KiB\n' "$root.tar.gz" $(($(stat -c %s "$root.tar.gz") / 1024))
exit $missing
