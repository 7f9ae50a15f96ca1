#!/bin/bash
# SPDX-License-Identifier: MIT
# Prints a TIFF of 2 x 2 grey pixels, compressed by PackBits, for which blurd needs libtiff.
set -euo pipefail

entry() { # tag, type, value, each as bytes in octal
    printf '%b' "$1" "$2" '\1\0\0\0' "$3"
}

printf 'II*\0\10\0\0\0\11\0'
entry '\0\1' '\3\0' '\2\0\0\0'     # ImageWidth
entry '\1\1' '\3\0' '\2\0\0\0'     # ImageLength
entry '\2\1' '\3\0' '\10\0\0\0'    # BitsPerSample
entry '\3\1' '\3\0' '\5\0200\0\0'  # Compression: PackBits
entry '\6\1' '\3\0' '\1\0\0\0'     # PhotometricInterpretation: black is zero
entry '\21\1' '\4\0' '\0172\0\0\0' # StripOffsets
entry '\25\1' '\3\0' '\1\0\0\0'    # SamplesPerPixel
entry '\26\1' '\3\0' '\2\0\0\0'    # RowsPerStrip
entry '\27\1' '\4\0' '\2\0\0\0'    # StripByteCounts
printf '\0\0\0\0\375\200'
