#!/bin/bash
# SPDX-License-Identifier: MIT
# Everything that `make test` does after the packages are there. Every stage runs, also
# after one has failed; the last line counts the stages.
#
#     tests/run.sh [STAGE]...     style unit kernels http install api corpus instructions fuzz; all without
#     tests/run.sh quick          what takes minutes (`make check`): style, unit and filter tests, some HTTP tests; release build
#     tests/run.sh fuzz SECONDS   each fuzz target for so long (12); beside other stages where there are any
#
# CORPUS (default ../shared/corpus) is a folder of pictures with the outcome expected of
# each in MANIFEST.tsv; without it the corpus stages are skipped with a notice.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

export CORPUS=${CORPUS-../shared/corpus}
export PYTHONDONTWRITEBYTECODE=1
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
[ -d build/tools ] && PATH=$PATH:$PWD/build/tools # promtool
python=tests/python.sh
configs="release asan"
passed=() failed=() skipped=() times=()

stage() { # name, command...
    local name=$1 status=0 start=$SECONDS
    shift
    printf '\n== %s\n' "$name"
    "$@" || status=$?
    times+=("$((SECONDS - start)) s: $name")
    case $status in
    0) passed+=("$name") ;;
    77) skipped+=("$name") ;;
    *) failed+=("$name") && echo "== $name FAILED ($status)" ;;
    esac
}

build() {
    make --no-print-directory -j "$(nproc)" CONFIG="$1" all tests tools
}

# A program that hangs is a failure that is told like others: timeout ends it with 124.
export PROGRAM_SECONDS=600 # the slowest takes a tenth of it on two cores with AddressSanitizer

one_program() { # program, arguments: what it says comes in one piece
    local result=0 log
    log=$(mktemp)
    timeout -k 5 "$PROGRAM_SECONDS" "$@" >"$log" 2>&1 || result=$?
    [ $result = 0 ] || [ $result = 77 ] || echo "$1 failed ($result)" >>"$log"
    flock build/lock cat "$log"
    rm "$log"
    [ $result = 0 ] || [ $result = 77 ]
}
export -f one_program

each_program() { # folder, arguments for the programs: runs all, as many at a time as there are cores; fails if one does
    local folder=$1 programs
    shift
    programs=$(find "$folder" -maxdepth 1 -type f -executable | sort | while read -r program; do
        [ ! -f "${program#build/*/}.c" ] || echo "$program" # not what an earlier version of the tree has left
    done)
    [ -n "$programs" ] || { echo "nothing to run in $folder" && return 77; }
    xargs -P "$(nproc)" -I{} bash -c 'one_program "$@"' - {} "$@" <<<"$programs"
}

http() {
    ls tests/http/test_*.py >/dev/null 2>&1 || { echo "no tests in tests/http" && return 77; }
    config/pypi.sh kubernetes
    local status=0 beside='' pytest="$python -m pytest -q -p no:cacheprovider"
    $python -c 'import xdist' 2>/dev/null && beside="-n $(nproc) --dist loadfile"
    # shellcheck disable=SC2086 # lists of words
    BLURD=$PWD/build/$1/blurd timeout -k 5 2400 $pytest $beside -m 'not alone' tests/http || status=1
    # shellcheck disable=SC2086
    BLURD=$PWD/build/$1/blurd timeout -k 5 1200 $pytest -m alone tests/http || status=1
    return $status
}

# One test or more of every subject, in files that take seconds.
some_http() {
    local files beside=''
    files=$(printf 'tests/http/test_%s.py ' $some_files)
    $python -c 'import xdist' 2>/dev/null && beside="-n $(nproc) --dist loadfile"
    # shellcheck disable=SC2086 # lists of words
    BLURD=$PWD/build/$1/blurd timeout -k 5 600 $python -m pytest -q -p no:cacheprovider $beside $files
}
some_files="authorization cors deadlines examples filters headers health log metadata multipart openapi operations
            orientation parameters refusals"

# The release build alone: it asks for the same at every speed. What it needs comes from PyPI.
api() {
    config/pypi.sh api
    BLURD=$PWD/build/$1/blurd $python tests/api/run.py
}

corpus() {
    [ -d "$CORPUS" ] || { echo "no corpus at $CORPUS: set CORPUS to run these" && return 77; }
    each_program "build/$1/tests/corpus" "$CORPUS"
}

# Inputs that once broke something.
replay() {
    local status=0 folder
    for folder in tests/fuzz/regressions/*/; do
        folder=$(basename "$folder")
        [ -x "build/$1/tests/fuzz/$folder" ] || continue # a target of the GPU, built without
        "build/$1/tests/fuzz/$folder" "tests/fuzz/regressions/$folder" 2>/dev/null ||
            { status=1 && "build/$1/tests/fuzz/$folder" "tests/fuzz/regressions/$folder"; }
    done
    return $status
}

# Every kernel against the CPU, pixel by pixel, on a driver that runs them on the host; and JPEG to JPEG.
kernels() {
    local fakes=$PWD/build/$1/tests
    [ -f "$fakes/fake_cuda/libfakecuda.so" ] || { echo "built without CUDA headers" && return 77; }
    CUDA_LIBRARY=$fakes/fake_cuda/libfakecuda.so nice timeout -k 5 "$PROGRAM_SECONDS" "build/$1/tests/gpu/check_gpu" --quick
}

# The fuzzers have the time that the other stages spend waiting.
fuzz_log=build/fuzz/run.log
fuzz_pid=
fuzz_begin() {
    tests/fuzz/run.sh 0 || return
    tests/fuzz/run.sh "$fuzz_seconds" >$fuzz_log 2>&1 &
    fuzz_pid=$!
    trap 'kill "$fuzz_pid"' EXIT
}

fuzz_end() {
    local status=0
    wait "$fuzz_pid" || status=$?
    trap - EXIT
    cat $fuzz_log
    return $status
}

wanted() {
    [ ${#stages[@]} = 0 ] || [[ " ${stages[*]} " == *" $1 "* ]]
}

finish() { # prints the times, then one line with the count of stages, which is the script's status
    printf '\n'
    printf '%s\n' "${times[@]}"
    [ ${#skipped[@]} = 0 ] || printf 'skipped: %s\n' "${skipped[@]}"
    [ ${#failed[@]} = 0 ] || printf 'failed: %s\n' "${failed[@]}"
    echo "stages: ${#passed[@]} passed, ${#failed[@]} failed, ${#skipped[@]} skipped"
    [ ${#failed[@]} = 0 ]
}

quick() {
    stage "style" tests/check/run.sh
    stage "build" build release
    stage "unit tests" each_program build/release/tests/unit
    stage "filter tests" each_program build/release/tests/filters
    stage "some http tests" some_http release
    finish
}

if [ "$*" = quick ]; then
    quick
    exit
fi

fuzz_seconds=12
if [ $# -gt 0 ] && [[ ${!#} =~ ^[0-9]+$ ]]; then
    fuzz_seconds=${!#}
    set -- "${@:1:$#-1}"
fi
stages=("$@")
wanted style && stage "style" tests/check/run.sh
wanted fuzz && stage "build, fuzz targets" fuzz_begin
[ "${stages[*]-}" = style ] || [ "${stages[*]-}" = fuzz ] || for config in $configs; do
    stage "build, $config" build $config
    [ $config != release ] || { wanted style && stage "hardening" tests/check/hardening.sh; }
    wanted unit && stage "unit tests, $config" each_program build/$config/tests/unit
    wanted unit && stage "filter tests, $config" each_program build/$config/tests/filters
    wanted unit && stage "fuzz regressions, $config" replay $config
    [ $config != release ] || { wanted kernels && stage "kernels on the host" kernels $config; }
    wanted http && stage "http tests, $config" http $config
    [ $config != release ] || { wanted install && stage "install, $config" tests/install.sh; }
    [ $config != release ] || { wanted api && stage "api, $config" api $config; }
    wanted corpus && stage "corpus, $config" corpus $config
done
wanted instructions && stage "instructions" bench/instructions.sh
[ -z "$fuzz_pid" ] || stage "fuzz targets, $fuzz_seconds s each" fuzz_end

finish
