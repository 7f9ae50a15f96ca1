#!/bin/bash
# SPDX-License-Identifier: MIT
# The tree is as clang-format 14 leaves it. Other versions break lines elsewhere.
set -uo pipefail

tool=$(command -v clang-format-14 || command -v clang-format) || { echo "    no clang-format"; exit 77; }
case $("$tool" --version) in
*"version 14."*) ;;
*) echo "    clang-format 14 is needed, this is $("$tool" --version)"; exit 77 ;;
esac
wrong=$("$tool" --dry-run $(git ls-files '*.c' '*.h') 2>&1 | sed -n 's/:.*code should be clang-formatted.*//p' |
    sort | uniq -c)
[ -z "$wrong" ] && exit 0
echo "$wrong"
echo "    run make format"
exit 1
