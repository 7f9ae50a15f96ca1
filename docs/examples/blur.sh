#!/bin/bash
# SPDX-License-Identifier: MIT
# blur.sh PHOTO RESULT [SIGMA]     blurs a picture; BLURD_URL names the daemon
set -euo pipefail
photo=$1 result=$2 sigma=${3:-8}
url=${BLURD_URL:-http://localhost:8080}

# 503 means: later. curl waits for as long as Retry-After says, five times at most.
status=$(curl --silent --show-error --retry 5 --output "$result" --write-out '%{http_code}' \
    --data-binary "@$photo" "$url/blur?sigma=$sigma")
if [ "$status" != 200 ]; then
    echo "blur.sh: $status: $(cat "$result")" >&2 # what is wrong, as JSON
    rm -f "$result"
    exit 1
fi
