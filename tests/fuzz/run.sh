#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the fuzz targets with libFuzzer, as many at a time as there are processors.
#
#     tests/fuzz/run.sh SECONDS [TARGET]...     each target (all without names) for so long; 0: only builds them
#
# They run at the lowest priority, so that something else may go on beside them. What was learned stays in build/fuzz/corpus/<target>; an input that breaks something is
# written to build/fuzz/found/ and fails the run. Made small (-minimize_crash=1) and fixed, it
# belongs into tests/fuzz/regressions/<target>/. 77: no clang with libFuzzer here.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

seconds=${1:?seconds} && shift
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:handle_abort=1
export UBSAN_OPTIONS=print_stacktrace=1

if ! echo 'int LLVMFuzzerTestOneInput(const void *d, unsigned long n) { return d && n > 99; }' |
    clang -fsanitize=fuzzer -x c -o /dev/null - 2>/dev/null; then
    echo "no clang with libFuzzer: the fuzzers did not run"
    exit 77
fi
make --no-print-directory -j "$(nproc)" CONFIG=fuzz fuzzers || exit 1
tests/python.sh tests/fuzz/seeds.py build/fuzz/seeds || exit 1
[ "$seconds" != 0 ] || exit 0

targets=("$@")
if [ ${#targets[@]} = 0 ]; then
    for source in tests/fuzz/*.c; do
        name=$(basename "$source" .c)
        [ -x "build/fuzz/tests/fuzz/$name" ] && targets+=("$name")
    done
fi

dictionary() { # target
    case $1 in
    *jpeg* | progressive_scan | gainmap | jxl_repack) echo jpeg ;;
    *png*) echo png ;;
    bmff) echo heic ;;
    decode_*) [ -f "tests/fuzz/dictionaries/${1#decode_}.dict" ] && echo "${1#decode_}" || echo text ;;
    *) echo text ;;
    esac
}

# Small inputs: more of them in the time, and all that matters fits.
longest() {
    case $1 in
    jpeg_sequential) echo 16384 ;; # pictures that threads share
    decode_* | *jpeg* | progressive_scan | *png* | bmff | gainmap | jxl_repack) echo 4096 ;;
    request | tar) echo 8192 ;;
    wire | codec_wire) echo 12000 ;;
    metadata) echo 4096 ;;
    *) echo 2048 ;;
    esac
}

fuzz() { # target
    local name=$1 status=0 log=build/fuzz/log/$1
    local folders=("build/fuzz/corpus/$name")
    mkdir -p "build/fuzz/corpus/$name" build/fuzz/found build/fuzz/log
    [ -d "build/fuzz/seeds/$name" ] && folders+=("build/fuzz/seeds/$name")
    [ -d "tests/fuzz/regressions/$name" ] && folders+=("tests/fuzz/regressions/$name")
    nice -n 19 "build/fuzz/tests/fuzz/$name" -max_total_time="$seconds" -timeout=100 -rss_limit_mb=2048 -print_final_stats=1 \
        -max_len="$(longest "$name")" -dict="tests/fuzz/dictionaries/$(dictionary "$name").dict" \
        -artifact_prefix="build/fuzz/found/$name-" "${folders[@]}" >"$log" 2>&1 || status=$?
    local runs coverage
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    printf '  %-16s %10s inputs, coverage %s%s\n' "$name" "${runs:-?}" "${coverage:-?}" "$([ $status = 0 ] || echo ', FAILED')"
    [ $status = 0 ] || tail -n 60 "$log"
    return $status
}

trap 'kill $(jobs -p) 2>/dev/null; exit 1' TERM
failed=0 running=0
for name in "${targets[@]}"; do
    if [ $running -ge "$(nproc)" ]; then
        wait -n || failed=1
        running=$((running - 1))
    fi
    fuzz "$name" &
    running=$((running + 1))
done
while [ $running -gt 0 ]; do
    wait -n || failed=1
    running=$((running - 1))
done
exit $failed
