#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds blurd and its unit tests for 64-bit ARM with Debian's cross compiler, and runs them in an emulated machine (machine.sh), whose
# kernel is Debian's: sandboxes, control groups and shared memory are those of a real one. A quarter of an hour on two cores.
#
#     tests/arm64/units.sh [TEST]...     as unit/test_sandbox; all of tests/unit without. Exits with 77 where the tools are missing
#                                        (config/packages.sh arm64)
set -euo pipefail
cd "$(dirname "$0")/../.."

name=arm64-units
. tests/packages/common.sh
. tests/arm64/machine.sh
build=build/arm64/release
at_once=$(nproc)
# What these ask of time is not kept by an emulator: how long a thread was on a processor, or that work ends within a second.
timed='test_admission_load test_avif test_crew test_deadline test_jpeg_help test_jxl'

for tool in aarch64-linux-gnu-gcc cpio qemu-system-aarch64; do
    command -v $tool >/dev/null || { say "skipped, there is no $tool: config/packages.sh arm64" && exit 77; }
done
mkdir -p build/arm64
work=$(mktemp -d "$PWD/build/arm64/work.XXXXXX")
trap 'end_machine; finish' EXIT

# The tests open files of the tree, by its paths.
fill() { # folder, tests...
    local folder=$1 root=$PWD/build/arm64/root each
    shift
    mkdir -p "$folder"/{tmp,proc,sys,dev,bin,etc,src/build}
    printf '%s\n' 'root:x:0:0:root:/:/bin/sh' 'nobody:x:65534:65534:nobody:/:/bin/sh' >"$folder/etc/passwd"
    echo '127.0.0.1 localhost' >"$folder/etc/hosts"
    copy_tree "$folder/src"
    cp -a "$root/lib" "$folder/"
    mkdir -p "$folder/usr/lib" && cp -a "$root"/usr/lib/aarch64-linux-gnu "$root"/usr/lib/ld-linux-* "$folder/usr/lib/" 2>/dev/null || true
    find "$folder/usr/lib" -name '*.a' -delete
    cp -a build/models "$folder/src/build/" && rm -rf "$folder/src/build/models/wheels"
    for each; do
        mkdir -p "$folder/src/$build/tests/${each%/*}"
        aarch64-linux-gnu-strip -o "$folder/src/$build/tests/$each" "$build/tests/$each"
    done
}

cat >"$work/run.sh" <<SCRIPT
mount --bind /image /image && mount --bind /dev /image/dev && mount -t proc proc /image/proc && mount -t sysfs sys /image/sys
mount -t cgroup2 cgroup2 /image/sys/fs/cgroup
mkdir -p /dev/shm && mount -t tmpfs tmpfs /dev/shm && mount -t tmpfs tmpfs /image/tmp
cat >/bin/one <<'ONE'
#!/bin/sh
log=/image/tmp/log.\$\$ begin=\$(date +%s)
TIME_LIMIT_FACTOR=20 timeout 900 chroot /image /bin/busybox sh -c "cd /src && exec \$1" >\$log 2>&1
status=\$?
echo "status \$status \$1 \$((\$(date +%s) - begin)) s"
[ \$status = 0 ] || sed 's/^/    /' \$log
rm -f \$log
ONE
chmod +x /bin/one && cp /bin/busybox /image/bin/ && ln -s busybox /image/bin/false && ln -s busybox /image/bin/true
(cd /image/src && find $build/tests -type f | sort) | xargs -n 1 -P $at_once /bin/one
echo "all have run"
SCRIPT

[ $# -gt 0 ] || while read -r each; do
    set -- "$@" "unit/$(basename "$each" .c)"
done < <(find tests/unit -name 'test_*.c' ! -path 'tests/unit/gpu/*' | sort)
tests/arm64/build.sh "${@/#/$build/tests/}"
fill "$work/image" "$@"
boot_machine "$work/image" "$work/run.sh" 4000
rm -rf "$work/image"
wait "$emulator" || die "the machine does not end"
emulator=
tr -d '\r' <"$console" | sed -n '/^status \|^    /p'
[ "$(grep -c '^status ' "$console")" = $# ] || die "$(grep -c '^status ' "$console") of $# programs have run: $(tail -n 3 "$console")"
killed=$(sed -n '/^status \(1[3-9][0-9]\|2[0-9][0-9]\) /p' "$console" | grep -v '^status 143 ' || true)
[ -z "$killed" ] || die "$killed"
failed=$(sed -n 's|^status [1-9][0-9]* .*/\(test_[a-z0-9_]*\) .*|\1|p' "$console" | sort)
others=$(comm -23 <(echo "$failed") <(tr ' ' '\n' <<<"$timed" | sort))
say "$# programs, failed: ${failed//$'\n'/ }; may fail, for want of time: $timed"
[ -z "$others" ] || die "$others"
