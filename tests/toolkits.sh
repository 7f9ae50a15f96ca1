#!/bin/bash
# SPDX-License-Identifier: MIT
# Compiles the kernels with the NVRTC of each CUDA toolkit of tests/toolkits.txt, for one architecture: a toolkit that lacks
# something shows here. It takes minutes for each, and brings 25 to 90 MB of each from PyPI.
#
#     tests/toolkits.sh [VERSION...]     12.0 12.9: those alone
#     ARCHITECTURE=90                    another one than 75, the oldest
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

folder=build/toolkits
architecture=${ARCHITECTURE-75}
source=$(make --no-print-directory GPU=required kernel-source | tail -n 1) && [ -f "$source" ] || exit 1
tool=$(dirname "$(dirname "$source")")/compile
mkdir -p "$folder"

try() { # requirement
    local version=${1#*==} home
    home=$folder/${version%% *}
    if [ ! -d "$home/nvidia" ]; then
        echo "$1" >"$folder/requirement.txt"
        /usr/bin/python3 -I -m pip install --quiet --root-user-action=ignore --disable-pip-version-check --target "$home" --no-deps \
            --only-binary :all: --require-hashes --requirement "$folder/requirement.txt" || { rm -rf "$home"; return 77; }
    fi
    library=$(find "$home" -name 'libnvrtc.so.*')
    LD_LIBRARY_PATH=$(dirname "$library") "$tool" cubin "$home/cubin" "$architecture" "$source" "$library" && [ -s "$home/cubin" ]
}

failed=0
while read -r requirement; do
    version=${requirement#*==} version=${version%% *}
    [ $# = 0 ] || [[ " $* " == *" ${version%.*} "* ]] || continue
    SECONDS=0
    if try "$requirement"; then
        echo "ok    NVRTC $version, sm_$architecture: $(stat -c %s "$folder/$version/cubin") bytes in $SECONDS s"
    else
        echo "FAIL  NVRTC $version, sm_$architecture"
        failed=1
    fi
done < <(grep -v '^#' tests/toolkits.txt)
exit $failed
