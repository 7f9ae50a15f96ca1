#!/bin/bash
# SPDX-License-Identifier: MIT
# Everything that `make test` does after the packages are there. Every stage runs, also
# after one has failed; the last line counts the stages.
#
#     tests/run.sh [STAGE]...     style unit kernels http install api clusters corpus modern instructions fuzz; all without
#     tests/run.sh quick          what takes minutes (`make check`): style, unit and filter tests, some HTTP tests; release build
#     tests/run.sh fuzz SECONDS   each fuzz target for so long (6); beside other stages where there are any
#
# The HTTP tests that run alone sleep half of their time. Compilers, and tests that only compute, run meanwhile,
# at a priority that leaves the processors to the HTTP tests.
#
# The other HTTP tests run beside each other, and each of their limits of time can be too short then, on a slow machine. What fails there
# runs once more by itself, and that counts; the first failure is named at the end all the same.
#
# A test of a promise makes its own inputs, or takes them from packages that the build installs by hash: want of those is a
# failure where CI=true. Folders outside the repository have further files, for which tests of the same promises are run again.
# Where there is no such folder, these tests are skipped, in CI, too, and the end names them with all others that were skipped.
#
# CORPUS (default ../shared/corpus) is a folder of pictures with the outcome expected of
# each in MANIFEST.tsv. MODERN (default ../shared/modern) is one of WebP, AVIF and HEIC files, whose outcomes are in
# tests/modern; one file: tests/python.sh tests/modern/run.py kimono. FACES (default ../shared/faces) has photographs of people.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

export CORPUS=${CORPUS-../shared/corpus} MODERN=${MODERN-../shared/modern}
export PYTHONDONTWRITEBYTECODE=1
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
[ -d build/tools ] && PATH=$PATH:$PWD/build/tools # promtool
python=tests/python.sh
configs="release asan"
passed=() failed=() skipped=() times=()
export SKIPS=$PWD/build/skips FAILURES=$PWD/build/failures # what was skipped and what failed within stages, a line each
mkdir -p build && : >"$SKIPS" && : >"$FAILURES"

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

# The command runs only while a processor is idle, where there are HTTP tests to be left alone. It may be a function, and
# is the last thing that its shell does.
idle() {
    if wanted http; then
        renice -n 19 -p $BASHPID >/dev/null
        chrt --idle --pid 0 $BASHPID 2>/dev/null
    fi
    "$@"
}

# Compiles what later stages need. Those stop it and compile the rest themselves, so that they report its errors.
# timeout makes a process group, and passes the signal on to all compilers.
ahead_pid=
build_ahead() {
    local make fuzzers=true
    make="make --no-print-directory -j $(nproc)"
    ! wanted fuzz || fuzzers="$make CONFIG=fuzz fuzzers"
    idle exec timeout 1200 bash -c "$make CONFIG=asan all tests tools; $fuzzers" >build/ahead.log 2>&1 &
    ahead_pid=$!
}

ahead_end() {
    [ -n "$ahead_pid" ] || return 0
    kill "$ahead_pid" 2>/dev/null
    wait "$ahead_pid" 2>/dev/null
    ahead_pid=
}

# A program that hangs is a failure that is told like others: timeout ends it with 124.
export PROGRAM_SECONDS=600 # the slowest takes a tenth of it on two cores with AddressSanitizer

one_program() { # program, arguments: what it says comes in one piece
    local result=0 log
    log=$(mktemp)
    timeout -k 5 "$PROGRAM_SECONDS" "$@" >"$log" 2>&1 || result=$?
    [ $result = 0 ] || [ $result = 77 ] || echo "$1 failed ($result)" | tee -a "$FAILURES" >>"$log"
    [ $result != 77 ] || echo "$1: $(tail -n 1 "$log")" >>"$SKIPS"
    # what cmocka and tests/unit/time_limit.c say of single tests
    sed -nE "s|^\[  SKIPPED \] (\w+)\$|$1: \1|p" "$log" | sort -u >>"$SKIPS"
    sed -nE "s|^\[  FAILED  \] (\w+(: it .*)?)\$|$1: \1|p" "$log" | sort -u >>"$FAILURES"
    flock build/lock cat "$log"
    rm "$log"
    [ $result = 0 ] || [ $result = 77 ]
}
export -f one_program

each_program() { # folder, arguments for the programs: runs all, as many at a time as there are cores; fails if one does
    local folder=$1 programs
    shift
    programs=$(find "$folder" -maxdepth 1 -type f -executable | sort | while read -r program; do
        [ -z "$(find "${folder#build/*/}" -name "${program##*/}.c")" ] || echo "$program" # not what an earlier version of the tree has left
    done)
    [ -n "$programs" ] || { echo "nothing to run in $folder" && return 77; }
    xargs -P "$(nproc)" -I{} bash -c 'one_program "$@"' - {} "$@" <<<"$programs"
}

# Runs pytest, and notes the tests that it skips and those that fail.
noting() { # seconds, command...
    local result
    timeout -k 5 "$@" | tee "$SKIPS.log"
    result=${PIPESTATUS[0]}
    grep '^SKIPPED' "$SKIPS.log" >>"$SKIPS"
    grep -E '^(FAILED|ERROR) tests/' "$SKIPS.log" | cut -c 1-200 >>"$FAILURES"
    return "$result"
}

http() {
    ls tests/http/test_*.py >/dev/null 2>&1 || { echo "no tests in tests/http" && return 77; }
    config/pypi.sh kubernetes
    config/pypi.sh helm
    config/pypi.sh faces
    config/pypi.sh hdr
    config/pypi.sh video
    local beside=''
    $python -c 'import xdist' 2>/dev/null && beside="-n $(($(nproc) + 3)) --dist loadfile" # more than processors, as most of them wait
    local command=(env BLURD="$PWD/build/$1/blurd" "$python" -m pytest -q -rfEs --durations=20 --durations-min=10 -o cache_dir="$PWD/build/pytest-$1" -m 'not alone' tests/http)
    # shellcheck disable=SC2086 # a list of words
    noting 2400 "${command[@]}" $beside && return
    [ $? = 1 ] || return # not because of tests
    printf '\nOnce more, what failed, with nothing beside it:\n'
    sed -i -E 's/^(FAILED|ERROR) /failed beside others: /' "$FAILURES"
    noting 600 "${command[@]}" --last-failed
}

http_alone() {
    BLURD=$PWD/build/$1/blurd noting 1200 $python -m pytest -q -rfEs -p no:cacheprovider -m alone tests/http
}

# One test or more of every subject, in files that take seconds.
some_http() {
    local files beside=''
    files=$(printf 'tests/http/test_%s.py ' $some_files)
    $python -c 'import xdist' 2>/dev/null && beside="-n $(nproc) --dist loadfile"
    # shellcheck disable=SC2086 # lists of words
    BLURD=$PWD/build/$1/blurd noting 600 $python -m pytest -q -rfEs -p no:cacheprovider $beside $files
}
some_files="authorization cors deadlines examples filters headers health log metadata multipart openapi operations
            orientation parameters refusals"

# The release build alone: it asks for the same at every speed. What it needs comes from PyPI.
api() {
    local result=0
    config/pypi.sh api
    config/pypi.sh clients
    BLURD=$PWD/build/$1/blurd noting 600 $python -m pytest -q -rfEs -p no:cacheprovider tests/clients || result=$?
    [ $result != 77 ] || echo "tests/clients: what makes the Python client is missing" >>"$SKIPS"
    [ $result = 0 ] || [ $result = 77 ] || return "$result"
    BLURD=$PWD/build/$1/blurd $python tests/api/run.py
}

# The release build alone: daemons are killed, and each has a keeper, which are the same for every build.
clusters() {
    config/pypi.sh clusters
    BLURD=$PWD/build/$1/blurd noting 900 $python -m pytest -q -rfEs -p no:cacheprovider tests/clusters
}

corpus() {
    [ -d "$CORPUS" ] || { echo "no corpus at $CORPUS: set CORPUS to run these" && return 77; }
    each_program "build/$1/tests/corpus" "$CORPUS"
}

# Other decoders read the files beside earlier stages, which takes a minute, and once in a build folder.
modern_begin() {
    [ ! -d "$MODERN" ] || behind decoders idle $python tests/modern/make.py --truth
}

modern() {
    [ -z "${behind_pid[decoders]-}" ] || await decoders
    CONFIG=$1 BLURD=$PWD/build/$1/blurd timeout -k 5 "$PROGRAM_SECONDS" $python tests/modern/run.py
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

# Every kernel against the CPU, pixel by pixel, on a driver that runs them on the host, with changing patterns in memory
# that they must not read; and JPEG to JPEG by graphs, which poison does without.
# They run beside the HTTP tests, when a core has nothing else to do, and those can take ten minutes.
kernels() {
    local fakes=$PWD/build/$1/tests
    [ -f "$fakes/fake_cuda/libfakecuda.so" ] || { echo "built without CUDA headers" && return 77; }
    local order=$((RANDOM + 1)) # of the warps: a missing barrier shows in one order or the other
    echo "FAKE_CUDA_ORDER=$order"
    export FAKE_CUDA_ORDER=$order CUDA_LIBRARY=$fakes/fake_cuda/libfakecuda.so
    timeout -k 5 $((3 * PROGRAM_SECONDS)) "$fakes/gpu/check_gpu" --quick jpeg &&
        timeout -k 5 $((3 * PROGRAM_SECONDS)) "$fakes/gpu/check_gpu" --quick --poison \
            blur filters orient encode colours faces text masks patch scans
}

# Stages that go on beside those that follow: await tells how they ended.
declare -A behind_pid=()
behind() { # name, command...
    mkdir -p build/behind
    "${@:2}" >"build/behind/$1.log" 2>&1 &
    behind_pid[$1]=$!
}

await() { # name
    local status=0
    wait "${behind_pid[$1]}" || status=$?
    unset "behind_pid[$1]"
    cat "build/behind/$1.log"
    return $status
}

trap 'ahead_end; kill "${behind_pid[@]}" 2>/dev/null' EXIT

# The network has the time of the compiler.
fetch() {
    ! wanted http || { config/pypi.sh kubernetes && config/pypi.sh helm && config/pypi.sh faces && config/pypi.sh hdr && config/pypi.sh video; }
    ! wanted api || { config/pypi.sh api && config/pypi.sh clients; }
    ! wanted clusters || config/pypi.sh clusters
}

fuzz_begin() {
    tests/fuzz/run.sh 0 || return
    behind fuzz tests/fuzz/run.sh "$fuzz_seconds"
}

wanted() {
    [ ${#stages[@]} = 0 ] || [[ " ${stages[*]} " == *" $1 "* ]]
}

finish() { # prints the times and what was skipped, then one line with the count of stages, which is the script's status
    printf '\n'
    printf '%s\n' "${times[@]}"
    [ ${#skipped[@]} = 0 ] || printf 'skipped: %s\n' "${skipped[@]}"
    sed -E 's/^SKIPPED \[[0-9]+\] ([^:]+)(:[0-9]+)?/\1/' "$SKIPS" | sort | uniq -c | sed 's/^ */skipped: /'
    sed -E 's/^(FAILED|ERROR) /failed: /' "$FAILURES" | sort
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

fuzz_seconds=6
if [ $# -gt 0 ] && [[ ${!#} =~ ^[0-9]+$ ]]; then
    fuzz_seconds=${!#}
    set -- "${@:1:$#-1}"
fi
stages=("$@")
wanted style && stage "style" tests/check/run.sh
[ "${stages[*]-}" = style ] || [ "${stages[*]-}" = fuzz ] || for config in $configs; do
    ahead_end
    [ $config != release ] || behind fetch fetch
    stage "build, $config" build $config
    [ $config != release ] || await fetch
    [ $config != release ] || { wanted style && stage "hardening" tests/check/hardening.sh; }
    [ $config != asan ] || { wanted fuzz && stage "build, fuzz targets" fuzz_begin; }
    [ $config != asan ] || { wanted api && behind api api release; }
    [ $config != release ] || { wanted modern && modern_begin; }
    wanted unit && stage "unit tests, $config" each_program build/$config/tests/unit
    wanted unit && stage "fuzz regressions, $config" replay $config
    [ -z "${behind_pid[api]-}" ] || stage "api" await api
    [ $config != asan ] || { wanted clusters && stage "clusters" clusters release; }
    wanted http && stage "http tests, $config" http $config
    [ $config != release ] || ! wanted http || build_ahead
    wanted unit && TIME_LIMIT_FACTOR=2 behind "filters $config" idle each_program build/$config/tests/filters
    wanted corpus && behind "corpus $config" idle corpus $config
    [ $config != release ] || { wanted kernels && behind kernels idle kernels $config; }
    [ $config != release ] || { wanted instructions && behind instructions idle bench/instructions.sh; }
    wanted http && stage "http tests alone, $config" http_alone $config
    wanted unit && stage "filter tests, $config" await "filters $config"
    wanted corpus && stage "corpus, $config" await "corpus $config"
    [ $config != release ] || { wanted modern && stage "modern formats" modern $config; }
    [ -z "${behind_pid[kernels]-}" ] || stage "kernels on the host" await kernels
    [ $config != release ] || { wanted install && stage "install, $config" tests/install.sh; }
done
[ "${stages[*]-}" != fuzz ] || stage "build, fuzz targets" fuzz_begin
[ -z "${behind_pid[instructions]-}" ] || stage "instructions" await instructions
[ -z "${behind_pid[fuzz]-}" ] || stage "fuzz targets, $fuzz_seconds s each" await fuzz

finish
