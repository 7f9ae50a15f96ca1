#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs one test that is built: `make t T=http/regions ARGS='-k box'` is
#
#     CONFIG=release tests/one.sh http regions -k box
#
# Folders: unit filters corpus fuzz http browser clients. An unknown name lists the tests of its folder.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1-} name=${2-}
shift $(($# < 2 ? $# : 2))
build=build/${CONFIG:=release}
export CONFIG BLURD=$PWD/$build/blurd CORPUS=${CORPUS-../shared/corpus}
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1

unknown() {
    echo "There is no test T=$folder/$name in this build. Tests look like T=unit/admission; those of tests/$folder:" >&2
    find "tests/$folder" -maxdepth $([ "$folder" = unit ] && echo 3 || echo 1) \( -name 'test_*' -o -path 'tests/fuzz/*.c' -o -path 'tests/corpus/*.c' \) -printf '%f\n' 2>/dev/null |
        sed 's/^test_//; s/\.[a-z]*$//' | sort | column -c 110 >&2
    exit 2
}

case $folder in
unit | filters)
    [ "$(find "tests/$folder" -name "test_$name.c")" ] && [ -x "$build/tests/$folder/test_$name" ] || unknown
    exec "$build/tests/$folder/test_$name" "$@"
    ;;
corpus)
    [ -f "tests/corpus/$name.c" ] || unknown
    exec "$build/tests/corpus/$name" "$CORPUS" "$@"
    ;;
fuzz) # what once broke something; `tests/fuzz/run.sh 60 query` looks for more
    [ -f "tests/fuzz/$name.c" ] && [ -x "$build/tests/fuzz/$name" ] || unknown
    tests/python.sh tests/fuzz/seeds.py build/fuzz/seeds
    [ $# != 0 ] || for inputs in "tests/fuzz/regressions/$name" "build/fuzz/seeds/$name"; do
        [ ! -d "$inputs" ] || set -- "$@" "$inputs"
    done
    exec "$build/tests/fuzz/$name" "$@"
    ;;
http | browser | clients)
    [ -f "tests/$folder/test_$name.py" ] || unknown
    [ "$folder" != clients ] || config/pypi.sh clients
    # On all cores, unless the file measures time or load.
    [ "$folder" != http ] || grep -q "'test_$name'" tests/http/conftest.py ||
        ! tests/python.sh -c 'import xdist' 2>/dev/null || set -- -n "$(nproc)" "$@"
    exec tests/python.sh -m pytest -q -p no:cacheprovider "tests/$folder/test_$name.py" "$@"
    ;;
*)
    folder=unit
    unknown
    ;;
esac
