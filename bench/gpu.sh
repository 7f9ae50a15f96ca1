#!/bin/bash
# SPDX-License-Identifier: MIT
# Everything that needs a real GPU, on a host that has one: pixels, sanitizers, times, the service.
#
#     bench/gpu.sh [--bundle FOLDER|ARCHIVE] [--out FOLDER] [--pictures FOLDER] [--quick] [check] [sanitize]
#                  [races] [bench] [service] [sandbox] [formats] [series] [kernels] [load] [sizes] [pngs] [regions] [crowd] [several] [threads]
#                  [sharing] [soak] [faults] [facts]
#
# --bundle: what `make bundle` made, unpacked or not; without it everything is built here, which
# takes the libraries of a build. Without the name of a part the first six run. Writes FOLDER/results.md (default
# build/gpu), which is what bench/results/MACHINE-gpu.md is made of, and FOLDER/logs.tar.gz.
# Ends with 1 when a check failed, with 77 where there is no GPU. With one GPU and 16 cores it takes more than 20 minutes.
# races: racecheck, which takes more than ten minutes of them, and much less where there are several GPUs.
# --pictures: JPEGs and PNGs that the service is asked to filter, too, and photographs for load and soak.
# formats: files of all formats, animations and series, by a GPU and by the CPU; with a bundle, which has the files.
# series: frames of video a second, with a bundle; two minutes.
# kernels: time, instructions and bytes of each kernel of JPEG to JPEG, by ncu.
# load: JPEGs over HTTP under wrk, then torchvision and OpenCV where they are installed; LOAD_SECONDS (200) for the
# former, CODECS (auto,gpu,cpu) are values of --jpeg-codec, `default` leaves it out. sizes: other JPEGs over HTTP, for
# SIZES_SECONDS (60), and the first second of a daemon; takes Pillow. pngs: screenshots and photographs as PNG, for PNGS_SECONDS (60), with a
# bundle, which has the former. regions: JPEGs with regions, redaction and faces
# over HTTP, for REGIONS_SECONDS (60); the pictures should have faces. crowd: 128 to 512 connections with default
# limits, no refusals; about a minute. several: 1, 2, 4 and 8 GPUs in one daemon, and as many
# daemons with a GPU each; about a minute. threads: the processor time of each kind of thread; half a minute. sharing: two
# daemons on one GPU, by time slices and under MPS, which it starts in a folder of its own; two minutes. soak:
# SOAK_REQUESTS (1000000) of mixed kinds in at most SOAK_SECONDS (500), with the first of CODECS; SOAK_KILL=1 kills the
# GPU's process meanwhile. faults: how soon FAULTS_ROUNDS (10) times two faults of a kernel are noticed, 12 s a round, in
# each of three ways, and that no long run is taken for one. facts: what a GPU and its driver do that one would not
# guess, for docs/gpu/facts.md; less than two minutes.
# BLURD_CUDA_LIBRARY=path: another driver in the GPU's place; --quick: less of everything.
set -u
umask 022

here=$(cd "$(dirname "$0")" && pwd)
out=build/gpu bundle='' quick='' parts=() pictures=()
while [ $# -gt 0 ]; do
    case $1 in
    --bundle) bundle=${2?} && shift ;;
    --out) out=${2?} && shift ;;
    --pictures) pictures=("${2?}"/*) && shift ;;
    --quick) quick=--quick ;;
    check | sanitize | races | bench | service | sandbox | formats | series | kernels | load | sizes | pngs | regions | crowd | several | threads | sharing | soak | faults | facts) parts+=("$1") ;;
    *) sed -n '5,7p' "$0" && exit 64 ;;
    esac
    shift
done
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 1
results=$out/results.md
scratch=$(mktemp -d)
logs=$scratch/logs
mkdir "$logs"
trap 'tar -C "$scratch" -czf "$out/logs.tar.gz" logs; rm -rf "$scratch"' EXIT
failed=()
began=$SECONDS
: >"$results"

say() {
    printf '%s\n' "$@" | tee -a "$results"
}

wanted() {
    [ ${#parts[@]} = 0 ] || named "$1"
}

named() {
    [[ " ${parts[*]} " == *" $1 "* ]]
}

find_programs() {
    if [ -z "$bundle" ]; then
        (cd "$here/.." && make -j "$(nproc)" build/release/blurd build/release/blurd-bench \
            build/release/tests/gpu/check_gpu build/release/bench/sample) >"$logs/build.log" 2>&1 ||
            { tail -n 5 "$logs/build.log" && echo "gpu.sh: the build failed" && exit 1; }
        local build=$here/../build/release
        blurd=$build/blurd bench=$build/blurd-bench check=$build/tests/gpu/check_gpu sample=$build/bench/sample
        wrk=$(command -v wrk || true)
        return
    fi
    if [ -f "$bundle" ]; then
        tar -C "$scratch" -xzf "$bundle" || exit 1
        bundle=$(echo "$scratch"/blurd-*)
    fi
    bundle=$(cd "$bundle" && pwd) || exit 1
    blurd=$bundle/bin/blurd bench=$bundle/bin/blurd-bench check=$bundle/bin/check_gpu sample=$bundle/bin/sample
    wrk=$bundle/bin/wrk
    [ -x "$wrk" ] || wrk=$(command -v wrk || true)
}

# NVRTC may lie where the loader does not look.
find_nvrtc() {
    local folder
    ldconfig -p 2>/dev/null | grep -q 'libnvrtc\.so\.1[23]' && return
    for folder in "${CUDA_HOME:-/usr/local/cuda}"/{lib64,lib,targets/*/lib} \
        "$(python3 -c 'import nvidia.cu13 as n; print(list(n.__path__)[0] + "/lib")' 2>/dev/null)"; do
        if compgen -G "$folder/libnvrtc.so.1[23]" >/dev/null; then
            export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
            return
        fi
    done
}

find_model() {
    local model
    for model in "${bundle:-/nowhere}/share/blurd/centerface.face" "$here/../build/models/centerface.face"; do
        [ -n "${FACE_MODEL-}" ] || [ ! -f "$model" ] || export FACE_MODEL=$model
    done
}

model_says() {
    if [ -n "${FACE_MODEL-}" ]; then
        basename "$FACE_MODEL"
    else
        echo 'none: `make models` makes it; only random weights are compared, and rates with faces are not measured'
    fi
}

describe() {
    local gpus commit
    gpus=$(nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv,noheader 2>/dev/null)
    if [ -z "$gpus" ] && [ -z "${BLURD_CUDA_LIBRARY-}" ]; then
        echo "gpu.sh: no GPU here: nvidia-smi finds none"
        exit 77
    fi
    commit=$(cat "${bundle:-/nowhere}/share/commit" 2>/dev/null || git -C "$here" rev-parse --short HEAD 2>/dev/null ||
        echo unknown)
    say "# The GPU backend on ${gpus:+${gpus%%,*}}${BLURD_CUDA_LIBRARY:+a driver that is none}" ''
    say '| | |' '|---|---|' "| program | $("$blurd" --version | head -n 1), commit $commit |" \
        "| GPU: name, driver, memory, largest clock | $(paste -sd ';' <<<"${gpus:-none}") |" \
        "| CPU | $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores |" \
        "| kernel, C library | $(uname -r), $(ldd --version | sed -n '1s/.* //p') |" \
        "| face model | $(model_says) |" \
        "| toolkit | $("${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" --version 2>/dev/null | sed -n 's/.*release \([^,]*\).*/CUDA \1/p') |" \
        "| date | $(date -u +%F) |" ''
}

# --- pixels and sanitizers, side by side: nothing is timed ---------------------------------
jobs_begun=()

begin() { # name, seconds, command...: in the background, with a log and a file that tells the outcome
    local name=$1 limit=$2 number=${#jobs_begun[@]}
    shift 2
    jobs_begun+=("$name")
    (
        start=$SECONDS
        use_gpu "$number"
        timeout -k 5 "$limit" "$@" >"$logs/$name.log" 2>&1 </dev/null
        echo "$? $((SECONDS - start))" >"$scratch/$name.outcome"
    ) &
}

use_gpu() { # number: what is run later has one of the host's GPUs, each in turn
    [ "$GPUS" -lt 2 ] || export CUDA_VISIBLE_DEVICES=$(($1 % GPUS))
}

find_sanitizer() {
    local path
    for path in "$(command -v compute-sanitizer)" "${CUDA_HOME:-/usr/local/cuda}"/{bin,compute-sanitizer}/compute-sanitizer; do
        [ -n "$path" ] && [ -x "$path" ] && echo "$path" && return
    done
    return 1
}

report_jobs() {
    local name status took line
    say '| check | outcome | seconds | last words |' '|---|---|--:|---|'
    for name in "${jobs_begun[@]}"; do
        read -r status took <"$scratch/$name.outcome"
        line=$(grep -E 'SUMMARY' "$logs/$name.log" | tail -n 1)
        [ -n "$line" ] || line=$(tail -n 1 "$logs/$name.log")
        # racecheck calls some hazards warnings and ends with 0.
        grep -qE 'RACECHECK SUMMARY: [1-9]' <<<"$line" && [ "$status" = 0 ] && status=hazards
        case $status in
        0) status=ok ;;
        124 | 137) status="**FAILED**: out of time" && failed+=("$name") ;;
        *) status="**FAILED** ($status)" && failed+=("$name") ;;
        esac
        say "| $name | $status | $took | ${line#========= } |"
    done
    say ''
}

race() { # arguments of check_gpu: runs it under racecheck and prints a line about it, and all of a run with hazards
    local log line status=0 hazards
    use_gpu "$SLOT"
    log=$("$SANITIZER" --tool racecheck --error-exitcode 9 --print-limit 20 "$CHECK" --quick $1 2>&1) || status=$?
    hazards=$(sed -n 's/.*RACECHECK SUMMARY: \([0-9]*\) .*/\1/p' <<<"$log" | tail -n 1)
    # To the log at once, and to the count at the end. `tee /dev/stderr` would write over the log.
    line="$1: $(grep ' failed$' <<<"$log" | tail -n 1), ${hazards:-unknown} hazards, ended with $status"
    echo "$line" >&2
    echo "$line"
    [ "$status" = 0 ] && [ "$hazards" = 0 ] || { echo "$log" >&2 && return 1; }
}

races() { # parts of check_gpu side by side: a run of the whole does not end in ten minutes
    {
        printf -- '--filter median --share %s/64\n' {0..63} # the slowest come first
        printf -- '--filter %s\n' chains sharpen convolve edges dilate erode resize adjust pixelate rotate crop stats placeholder
        printf '%s\n' blur colours encode faces jpeg orient patch scans masks
    } | xargs -P "$(nproc)" --process-slot-var=SLOT -I@ bash -c 'race "@"' | awk '
        /: [0-9]+ passed, .* hazards, ended/ { runs++; for (i = 2; i <= NF; i++) {
            if ($i ~ /^passed/) passed += $(i - 1); if ($i ~ /^hazards/) hazards += $(i - 1) } }
        END { print "RACECHECK SUMMARY: " hazards + 0 " hazards, " passed " comparisons in " runs " runs" }'
    [ "${PIPESTATUS[1]}" = 0 ] || return 9
}

begin_sanitizers() {
    local tool options
    export SANITIZER CHECK=$check
    export -f race races use_gpu
    if ! SANITIZER=$(find_sanitizer); then
        say '**Not sanitized: there is no compute-sanitizer here.**' ''
        ! named sanitize && ! named races || failed+=(compute-sanitizer)
        return
    fi
    for tool in $(wanted sanitize && echo memcheck initcheck synccheck); do
        options=(--error-exitcode 9 --print-limit 20)
        # Some calls of the driver are tried, and may fail: whether memory of the host is registered, for one.
        [ "$tool" != memcheck ] || options+=(--report-api-errors no)
        begin "$tool" 900 "$SANITIZER" --tool "$tool" "${options[@]}" "$check" --quick
    done
    if wanted races; then
        begin racecheck 2400 bash -c races
    fi
}

pixels_and_sanitizers() {
    say '## Pixels and sanitizers' '' \
        'check_gpu compares each kernel and the whole way over the GPU with the CPU, byte for byte.' ''
    export SEED=${SEED:-$(date +%s)} GPUS
    GPUS=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ')
    [ -z "${CUDA_VISIBLE_DEVICES-}" ] || GPUS=0 # those that are to be used are chosen
    if wanted check; then
        begin check 900 "$check" $quick
        MODULE_FORMAT=ptx begin check-ptx 600 "$check" --quick
        MODULE_FORMAT=nvrtc begin check-nvrtc 600 "$check" --quick
        begin check-poison 600 "$check" --quick --poison
    fi
    if wanted sanitize || wanted races; then
        begin_sanitizers
    fi
    wait
    [ ${#jobs_begun[@]} = 0 ] || report_jobs
}

# --- one after the other -------------------------------------------------------------------
part() { # name, seconds, command...: its output is part of the results
    local name=$1 limit=$2 status
    shift 2
    timeout -k 5 "$limit" "$@" 2>"$logs/$name.log" </dev/null | tee -a "$results"
    status=${PIPESTATUS[0]}
    if [ "$status" != 0 ]; then
        say '' "**$name FAILED ($status)**: $(tail -n 1 "$logs/$name.log")"
        failed+=("$name")
    fi
    say ''
}

# What the driver calls and opens once it is up, and what of it the sandbox refuses; then the daemon with it on.
sandbox() {
    say '## Sandbox of the GPU process' '' '```'
    part calls 60 "$check" --quick --record
    say '```' ''
    part sandbox 100 python3 "$here/service/sandbox.py" --blurd "$blurd" --sample "$logs/sample.jpg" --out "$logs/sandbox" $quick
}

formats() {
    part formats 400 python3 "$here/service/formats.py" --blurd "$blurd" --asks "${bundle:?}/share/bodies" --out "$logs/formats"
}

series() {
    part series 200 python3 "$here/service/series.py" --blurd "$blurd" --frames "${bundle:?}/share/bodies/frames.mjpeg" --gpus all \
        --out "$logs/series" --streams 1 --streams 8 --streams 16 --streams 32 --seconds 5
}

load() {
    local codecs=${CODECS:-auto,gpu,cpu} seconds=${LOAD_SECONDS:-200}
    part load $((seconds + 120)) python3 "$here/service/load.py" --blurd "$blurd" --wrk "$wrk" --out "$logs/load" \
        --lua "$here/rotate.lua" --codecs "$codecs" --seconds "$seconds" $quick "${photographs[@]}"
    part peers 240 python3 "$here/service/peers.py" --out "$logs/load" --ours "$logs/load/load.json" $quick "${photographs[@]}"
}

kernels() {
    local ncu
    ncu=$(command -v ncu || ls "${CUDA_HOME:-/usr/local/cuda}/bin/ncu" /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | head -n 1)
    [ -n "$ncu" ] || { say '**Kernels not profiled: there is no ncu here.**' '' && failed+=(kernels) && return; }
    mkdir -p "$logs/photographs"
    cp "${photographs[@]}" "$logs/photographs"
    say '## Kernels' '' "One photograph after the other, alone; the mean of ${#photographs[@]}. $("$ncu" --version | tail -n 1)."
    PICTURES=$logs/photographs part kernels 400 python3 "$here/gpu/kernels.py" --bench "$bench" --ncu "$ncu" --out "$logs/ncu.txt"
}

sizes() {
    local seconds=${SIZES_SECONDS:-60}
    part sizes $((seconds + 120)) python3 "$here/service/sizes.py" --blurd "$blurd" --wrk "$wrk" --out "$logs/sizes" \
        --lua "$here/rotate.lua" --seconds "$seconds" $quick "${photographs[@]}"
}

pngs() {
    local seconds=${PNGS_SECONDS:-60}
    part pngs $((seconds + 60)) python3 "$here/service/pngs.py" --blurd "$blurd" --wrk "$wrk" --out "$logs/pngs" \
        --screens "${bundle:?}/share/screens" --lua "$here/rotate.lua" --seconds "$seconds" $quick "${photographs[@]}"
}

regions() {
    local seconds=${REGIONS_SECONDS:-60}
    part regions $((seconds + 120)) python3 "$here/service/regions.py" --blurd "$blurd" --wrk "$wrk" --out "$logs/regions" \
        --model "${FACE_MODEL-none}" --lua "$here/rotate.lua" --seconds "$seconds" $quick "${photographs[@]}"
}

crowd() {
    part crowd 110 python3 "$here/service/crowd.py" --blurd "$blurd" --wrk "$wrk" --out "$logs/crowd" \
        --lua "$here/rotate.lua" $quick "${photographs[@]}"
}

several() {
    part several 200 python3 "$here/service/several.py" --blurd "$blurd" --wrk "$wrk" --out "$logs/several" \
        --lua "$here/rotate.lua" $quick "${photographs[@]}"
}

sharing() {
    part sharing 280 python3 "$here/service/sharing.py" --blurd "$blurd" --wrk "$wrk" --out "$logs/sharing" \
        --lua "$here/rotate.lua" $quick "${photographs[@]}"
}

threads() {
    part threads 60 python3 "$here/service/threads.py" --blurd "$blurd" --wrk "$wrk" --out "$logs/threads" \
        --lua "$here/rotate.lua" $quick "${photographs[@]}"
}

soak() {
    local codecs=${CODECS:-auto} seconds=${SOAK_SECONDS:-500} requests=${SOAK_REQUESTS:-1000000} largest=4000
    [ -z "$quick" ] || seconds=20 largest=330
    part soak $((seconds + 120)) python3 "$here/service/soak.py" --blurd "$blurd" --wrk "$wrk" --lua "$here/rotate.lua" \
        --out "$logs/soak" --codec "${codecs%%,*}" \
        --requests "$requests" --seconds "$seconds" --largest "$largest" ${SOAK_KILL:+--kill} "${photographs[@]}"
}

faults() {
    local rounds=${FAULTS_ROUNDS:-10}
    part faults $((rounds * 90 + 90)) python3 "$here/service/faults.py" --blurd "$blurd" --wrk "$wrk" --out "$logs/faults" \
        --lua "$here/post.lua" --rounds "$rounds" "${photographs[@]}"
}

export PYTHONUNBUFFERED=1 # what a part that is out of time has found is kept
find_programs
find_nvrtc
find_model
export CUDA_LIBRARY=${BLURD_CUDA_LIBRARY-}
[ -n "$CUDA_LIBRARY" ] || unset CUDA_LIBRARY
by_wrk=()
for name in load sizes pngs regions crowd several threads sharing soak faults; do
    named $name && by_wrk+=("$name")
done
describe
if wanted check || wanted sanitize || wanted races; then
    pixels_and_sanitizers
fi
if wanted bench; then
    say '## Times'
    part bench 480 "$bench" $quick
fi
if named facts; then
    say '## GPU and driver'
    part facts 180 "$bench" facts $quick
fi
if wanted service || wanted sandbox || named kernels || [ ${#by_wrk[@]} -gt 0 ]; then
    "$sample" "$logs/sample.jpg" ${quick:+8} || failed+=(sample)
    photographs=("${pictures[@]:-$logs/sample.jpg}")
fi
if wanted service; then
    part service 240 python3 "$here/service/service.py" --blurd "$blurd" --sample "$logs/sample.jpg" \
        --out "$logs/service" --lua "$here/post.lua" ${wrk:+--wrk "$wrk"} $quick "${pictures[@]}"
fi
if wanted sandbox; then
    sandbox
fi
for name in formats series; do
    ! named "$name" || "$name"
done
if named kernels; then
    kernels
fi
for name in "${by_wrk[@]}"; do
    if [ -z "$wrk" ]; then
        say "**$name FAILED: there is no wrk here**" ''
        failed+=("$name")
    else
        $name
    fi
done
say '## Outcome' ''
if [ ${#failed[@]} = 0 ]; then
    say 'Everything that ran is as it must be.'
else
    say "Failed: ${failed[*]}"
fi
echo "$((SECONDS - began)) s; results.md and logs.tar.gz are in $out"
[ ${#failed[@]} = 0 ]
