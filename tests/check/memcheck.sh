#!/bin/bash
# SPDX-License-Identifier: MIT
# The unit and filter tests under valgrind's memcheck: memory that is read before it is written,
# used after it was freed, or lost. `make memcheck`; 77 without valgrind.
#
# The driver without a GPU switches stacks by itself, which valgrind takes for errors: its tests
# are left to the sanitizers. A process that has closed itself in does not let valgrind work.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

folder=${1-build/release}
command -v valgrind >/dev/null || { echo "no valgrind" && exit 77; }
export TIME_LIMIT_FACTOR=50
export JSIMD_FORCENONE=1 # vector code of libjpeg reads past what it uses
failed=0

for program in "$folder"/tests/unit/test_* "$folder"/tests/filters/test_*; do
    [ -x "$program" ] && [ -f "$program" ] || continue
    case $program in
    *.o | *.d | *test_engine | *test_program | *test_driver | *test_nvrtc | *test_sandbox | \
        *test_codec_link | *test_codec_faults | *test_codec_hostile | *test_codec_sandbox) continue ;;
    esac
    status=0
    valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite --track-origins=no \
        "$program" >"$folder/memcheck.log" 2>&1 || status=$?
    case $status in
    0 | 77) echo "ok    $(basename "$program")" ;;
    *) failed=1 && echo "FAIL  $(basename "$program") ($status)" && tail -n 30 "$folder/memcheck.log" ;;
    esac
done
exit $failed
