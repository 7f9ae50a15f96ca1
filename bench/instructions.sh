#!/bin/bash
# SPDX-License-Identifier: MIT
# Instructions that a picture costs, counted by callgrind, against those of bench/instructions.txt:
# the same from run to run and from machine to machine, unlike times, so that a test can tell when
# a change costs 5 % more. A figure that fell by as much is a failure, too: record it.
#
#     bench/instructions.sh            compares
#     bench/instructions.sh --write    records what there is now
#
# valgrind shows programs a processor of its own, with AVX2 where the host has it. Other versions
# of the libraries or of the compiler count otherwise: then, as without valgrind, 77 says skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

bounds=bench/instructions.txt
program=build/release/bench/pipeline
tolerance=5 # percent
samples=build/bench
python=tests/python.sh

# level, format written, sigma, picture
cases='baseline jpeg 1.5 sample.jpg
baseline jpeg 5 sample.jpg
baseline jpeg 20 sample.jpg
avx2 jpeg 1.5 sample.jpg
avx2 jpeg 5 sample.jpg
avx2 jpeg 20 sample.jpg
avx2 jpeg 200 sample.jpg
avx2 png 5 sample.jpg
avx2 png 1.5 sample.png
avx2 png 20 sample.png'

skip() {
    echo "skipped: $*"
    exit 77
}

prepare() {
    command -v valgrind >/dev/null || skip "there is no valgrind"
    grep -qw avx2 /proc/cpuinfo || skip "the figures are of processors with AVX2"
    make --no-print-directory $program build/sample.jpg
    mkdir -p $samples
    ln -f build/sample.jpg $samples/sample.jpg
    $python -c 'import sys; from PIL import Image; Image.open(sys.argv[1]).save(sys.argv[2])' \
        $samples/sample.jpg $samples/sample.png
}

# What was built with what: it decides the figures as much as the source does.
versions() {
    local library
    {
        "${CC:-cc}" --version | sed -n '1s/.* /compiler-/p'
        ldd --version | sed -n '1s/.* /libc-/p'
        for library in $(ldd $program | sed -n 's|.*=> \(/[^ ]*\).*|\1|p'); do
            basename "$(realpath "$library")"
        done | grep -vE '^(libc|libm|libseccomp)\.so' | sort
    } | xargs
}

count() { # level, format, sigma, picture
    valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        $program --level "$1" --format "$2" "$3" "$samples/$4" 2>&1 | sed -n 's/.*Collected : //p'
}

write() {
    local level format sigma picture
    {
        echo '# Instructions of build/release/bench/pipeline by bench/instructions.sh, which writes this file.'
        echo "# $(versions)"
        while read -r level format sigma picture; do
            echo "$level $format $sigma $picture $(count "$level" "$format" "$sigma" "$picture")"
        done <<<"$cases"
    } >$bounds.new
    mv $bounds.new $bounds
    cat $bounds
}

compare() {
    local level format sigma picture bound now verdict status=0
    printf '%-9s %-6s %5s %-10s %13s %13s %8s\n' level format sigma picture recorded now change
    while read -r level format sigma picture bound; do
        now=$(count "$level" "$format" "$sigma" "$picture")
        verdict=$(awk -v now="$now" -v bound="$bound" -v tolerance=$tolerance 'BEGIN {
            change = (now / bound - 1) * 100
            word = change > tolerance ? "  TOO MANY" : change < -tolerance ? "  FEWER: record it" : ""
            printf "%+7.2f%%%s", change, word }')
        printf '%-9s %-6s %5s %-10s %13d %13d %s\n' "$level" "$format" "$sigma" "$picture" "$bound" "$now" "$verdict"
        case $verdict in *TOO* | *FEWER*) status=1 ;; esac
    done < <(grep -v '^#' $bounds)
    return $status
}

prepare
case ${1-} in
--write) write ;;
'')
    recorded=$(sed -n '2s/^# //p' $bounds)
    here=$(versions)
    [ "$recorded" = "$here" ] || skip "the figures were counted with $recorded; here are $here"
    compare || { echo "if that is meant, record it: bench/instructions.sh --write" && exit 1; }
    ;;
*) sed -n 7,8p "$0" && exit 64 ;;
esac
