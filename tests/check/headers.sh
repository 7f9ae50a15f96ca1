#!/bin/bash
# SPDX-License-Identifier: MIT
# Every header compiles alone: it includes what it needs. Those that are templates, whose
# head says "Included once per …", need their includer's settings.
set -uo pipefail

status=0
for header in */*.h tests/*/*.h; do
    [ -f "$header" ] || continue
    head -n 3 "$header" | grep -q 'Included once per' && continue
    if ! ${CC:-cc} -std=c11 -D_GNU_SOURCE -I. -Wall -Wextra -Werror -Wno-unused-function -Wno-unused-const-variable \
        -fsyntax-only -x c - <<<"#include \"$header\""; then
        echo "    $header does not compile alone"
        status=1
    fi
done
exit $status
