#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the style checks; each says what is wrong where. 77 means skipped.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

python=/usr/bin/python3 # Debian's own, whatever stands first in PATH
[ -x $python ] || python=python3
export PYTHONDONTWRITEBYTECODE=1
passed=0 failed=0 skipped=0

check() {
    local what=$1 status=0
    shift
    "$@" || status=$?
    case $status in
    0) passed=$((passed + 1)) && echo "ok    $what" ;;
    77) skipped=$((skipped + 1)) && echo "skip  $what" ;;
    *) failed=$((failed + 1)) && echo "FAIL  $what" ;;
    esac
}

check "include directions" "$python" tests/check/includes.py
check "names" "$python" tests/check/names.py
check "plain sentences" "$python" tests/check/language.py
check "function, file and folder lengths" "$python" tests/check/lengths.py
check "banned functions" "$python" tests/check/banned.py
check "licences, links, text" "$python" tests/check/text.py
check "pages of the site" "$python" tests/check/pages.py
check "scripts of the playground" "$python" tests/check/javascript.py
check "options are read" "$python" tests/check/options.py
check "version and addresses" "$python" tests/check/release.py
check "what 1.x promises is there" "$python" tests/check/stable.py
check "tables of the pages are current" "$python" docs/generate/tables.py --check
check "tables of measured figures are current" "$python" docs/generate/results.py --check
check "figures in sentences are stored ones" "$python" docs/generate/figures.py --check
check "figures by hand are found" "$python" tests/check/figures.py
check "headers compile alone" bash tests/check/headers.sh
check "format" bash tests/check/format.sh
check "bench/gpu.sh tells what failed" "$python" tests/check/gpu_script.py
check "kinds of mutants" "$python" tests/check/mutants.py
check "make run tells what it left out" "$python" tests/check/built.py
check "models: the table, fetching and installing" "$python" tests/check/models.py
check "systemd units" bash tests/check/units.sh

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
