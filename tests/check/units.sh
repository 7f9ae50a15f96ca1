#!/bin/bash
# SPDX-License-Identifier: MIT
# The systemd units: nothing in them is unknown, and little is left open. 77 without systemd-analyze.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

most=2.0 # of systemd-analyze's "exposure", from 0 to 10
command -v systemd-analyze >/dev/null || { echo "    no systemd-analyze" && exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for unit in docker/systemd/*; do # the program need not be installed
    sed 's|/usr/local/bin/blurd|/bin/true|' "$unit" >"$folder/$(basename "$unit")"
done
found=$(systemd-analyze verify --man=no "$folder"/blurd.service "$folder"/blurd.socket 2>&1 | grep -F blurd)
[ -z "$found" ] || { sed 's|^|    |' <<<"$found" && exit 1; }
figure=$(systemd-analyze security --offline=true --no-pager "$folder/blurd.service" 2>/dev/null |
    sed -n 's/.*Overall exposure level for blurd.service: \([0-9.]*\).*/\1/p')
echo "    exposure of the service: ${figure:-unknown}, at most $most"
awk -v figure="${figure:-99}" -v most=$most 'BEGIN { exit figure > most }'
