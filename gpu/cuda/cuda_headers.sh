#!/bin/bash
# SPDX-License-Identifier: MIT
# Finds the CUDA headers and NVRTC, and writes what the Makefile needs to know about them.
#
#     gpu/cuda/cuda_headers.sh OUTPUT_FOLDER [CUDA_HOME]
#
# A header is taken from CUDA_HOME (default /usr/local/cuda) or else from NVIDIA's pinned
# wheels (cuda_headers.txt), unpacked in the output folder. Without either the build goes
# on without a GPU: this script never fails. NVRTC, which compiles the kernels, is that of CUDA 12
# in CUDA_HOME, or else the pinned one, of CUDA 12.9: their machine code runs with drivers from 525 on, that
# of NVRTC 13 from 580 on, so that it is taken only where there is no other. Without any the kernels are
# compiled when the program starts on a host that has one, and OUTPUT_FOLDER/no-nvrtc tells why. OUTPUT_FOLDER/cuda.mk is written last and tells the outcome; remove
# the folder to look again. CUDA_HOME=none looks nowhere.
set -u

out=$1
home=${2-/usr/local/cuda}
here=$(dirname "$0")
include=$out/include
lib=$out/lib
mkdir -p "$out"

# header, wheel that has it
needed='cuda.h nvidia-cuda-runtime
crt/host_defines.h nvidia-cuda-crt'

finish() { # include flags, NVRTC, why
    printf '# %s\nCUDA_INCLUDE := %s\nNVRTC := %s\n' "$3" "$1" "$2" >"$out/cuda.mk.new"
    mv "$out/cuda.mk.new" "$out/cuda.mk"
    exit 0
}

without() {
    printf '  %-5s CPU-only build: no CUDA headers (%s)\n' NOTE "$1" >&2
    finish '' '' "CPU-only: $1"
}

find_pip() {
    local python
    for python in /usr/bin/python3 python3; do
        if command -v "$python" >/dev/null && "$python" -m pip --version >/dev/null 2>&1; then
            echo "$python"
            return 0
        fi
    done
    return 1
}

unpack() { # python, wheel: its headers to $include, NVRTC to $lib
    "$1" - "$2" "$include" "$lib" <<'PYTHON'
import pathlib, sys, zipfile
wheel, include, lib = zipfile.ZipFile(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
for name in wheel.namelist():
    _, is_header, header = name.partition("/include/")
    _, is_library, library = name.partition("/lib/")
    if is_header and header.endswith((".h", ".hpp")) and ".." not in header:
        path = include / header
    elif is_library and library.startswith(("libnvrtc.so.", "libnvrtc-builtins.so.")) and "/" not in library:
        path = lib / library
    else:
        continue
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(wheel.read(name))
PYTHON
}

fetch() { # package: checks the pinned hash, unpacks what is needed of it
    local python requirement
    python=$(find_pip) || { echo "pip is not installed"; return 1; }
    requirement=$(grep "^$1==" "$here/cuda_headers.txt") || { echo "$1 is not pinned"; return 1; }
    printf '  %-5s %s\n' GET "${requirement%% *}" >&2
    echo "$requirement" >"$out/requirement.txt"
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
        --only-binary=:all: --platform manylinux2014_x86_64 --retries 1 --timeout 10 \
        --dest "$out/wheels" --requirement "$out/requirement.txt" >"$out/pip.log" 2>&1 ||
        { echo "$1 cannot be downloaded, see $out/pip.log"; return 1; }
    unpack "$python" "$out/wheels/${1//-/_}"-*.whl || { echo "$1 cannot be unpacked"; return 1; }
}

nvrtc_in() { # version, folders: the first NVRTC of that version
    local folder
    for folder in "${@:2}"; do
        [ -f "$folder/libnvrtc.so.$1" ] && realpath -s "$folder/libnvrtc.so.$1" && return 0
    done
    return 1
}

find_nvrtc() {
    local reason='NVIDIA has no wheel that is pinned for this processor'
    nvrtc_in 12 "$home/lib64" "$home/lib" "$lib" && return 0
    if [ "$(uname -m)" = x86_64 ]; then
        reason=$(fetch nvidia-cuda-nvrtc-cu12) && nvrtc_in 12 "$lib" && return 0
    fi
    if nvrtc_in 13 "$home/lib64" "$home/lib"; then
        printf '  %-5s the machine code needs a driver from 580 on, as NVRTC 13 makes it (%s)\n' NOTE "$reason" >&2
        return 0
    fi
    echo "$home has no NVRTC, and $reason" >"$out/no-nvrtc"
    printf '  %-5s the kernels are compiled when the program starts (%s)\n' NOTE "$(cat "$out/no-nvrtc")" >&2
}

[ "$home" = none ] && without 'not wanted: CUDA_HOME=none'

while read -r header package; do
    [ -f "$home/include/$header" ] || [ -f "$include/$header" ] || reason=$(fetch "$package") ||
        without "$home has no $header, and $reason"
done <<<"$needed"

flags=
[ -f "$home/include/cuda.h" ] && flags="-isystem $home/include"
[ -d "$include" ] && flags="$flags -isystem $include"
echo '#include <cuda.h>
#if CUDA_VERSION < 12000
#error "CUDA 12.0 is the oldest that will do"
#endif' >"$out/try.c"
# shellcheck disable=SC2086 # flags are words
${CC:-cc} $flags -fsyntax-only "$out/try.c" >"$out/try.log" 2>&1 ||
    without "those found do not compile, see $out/try.log"
finish "$flags" "$(find_nvrtc)" 'headers found'
