#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the pictures beside this file, by a daemon of this tree. Needs curl.
#
#     make build/sample.jpg && docs/pictures/make.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

pictures=docs/pictures
log=$(mktemp)
build/release/blurd --listen 127.0.0.1 --port 0 --gpus none 2>"$log" &
daemon=$!
trap 'kill $daemon; rm -f "$log"' EXIT
port=
for _ in $(seq 100); do
    port=$(sed -n 's/.*listening.* on port \([0-9]*\).*/\1/p' "$log")
    [ -n "$port" ] && break
    sleep 0.05
done

picture() { # name, path and query
    curl -fsS --data-binary @$pictures/original.jpg "http://127.0.0.1:$port/$2" -o "$pictures/$1.jpg"
}

build/release/bench/sample $pictures/original.jpg 4 # 320x200

picture saturation 'adjust?saturation=2'
picture grayscale 'adjust?grayscale=true'
picture duotone 'adjust?duotone=2b1055,ffd26f&contrast=1.5'

picture blur 'blur?sigma=4'
picture sharpen 'sharpen?sigma=1.5&amount=2'
picture edge 'convolve?preset=edge'
picture emboss 'convolve?preset=emboss'
picture pixelate 'pixelate?block=10'
picture median 'median?radius=4'
picture dilate 'dilate?radius=3'
picture erode 'erode?radius=3'
picture pipeline 'pipeline?ops=blur:sigma=2|convolve:preset=emboss'

picture native 'blur?sigma=6&quality=90'
picture linear 'blur?sigma=6&quality=90&colorspace=linear'

sun='region=ellipse:175,60,80,80'
picture region "blur?sigma=8&$sun"
picture feather "blur?sigma=8&$sun&feather=16"
picture invert "blur?sigma=8&$sun&feather=16&invert=true"

posts='region=0,148,320,52'
picture plain-pixelate "pixelate?block=8&$posts"
picture redact-pixelate "pixelate?block=8&mode=redact&$posts"
picture redact-blur "blur?sigma=6&mode=redact&$posts"
