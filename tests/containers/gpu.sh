#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the image of a release by Podman on a machine with an NVIDIA GPU: read-only, without capabilities, as docs/container.md says. The GPU
# has to serve, with the same bytes as the CPU. NVIDIA's container toolkit is not needed: this writes the description of the GPU that
# `nvidia-ctk cdi generate` would write (Container Device Interface): its devices, and the driver's libraries beside those of the image.
#
#     tests/containers/gpu.sh IMAGE PICTURE     blurd-VERSION-image-amd64.tar and a JPEG; root; podman, curl, python3
#     RUNTIME=runc                              another runtime than Podman's own
set -euo pipefail

image=$1 picture=$2
work=$(mktemp -d)
cdi=/run/cdi/blurd-test.json
finish() {
    podman rm --all --force >/dev/null 2>&1 || true
    rm -rf "$work" "$cdi"
}
trap finish EXIT
say() { printf 'image-gpu: %s\n' "$*"; }
die() { say "FAILED: $*" && exit 1; }
podman() {
    command podman ${RUNTIME:+--runtime "$RUNTIME"} --root "$work/storage" --runroot "$work/state" --storage-driver vfs --cgroup-manager cgroupfs "$@"
}

describe_gpu() { # folder of libraries in the image
    mkdir -p /run/cdi
    python3 - "$1" >"$cdi" <<'PYTHON'
import json, os, pathlib, re, stat, subprocess, sys
known = subprocess.run(['ldconfig', '-p'], capture_output=True, text=True, check=True).stdout
mounts = []
for library in ('libcuda.so.1', 'libnvidia-ptxjitcompiler.so.1', 'libnvidia-ml.so.1'):
    found = re.search(rf'\s{re.escape(library)} \(libc6,x86-64.*\) => (\S+)', known)
    if found:
        mounts.append({'hostPath': os.path.realpath(found[1]), 'containerPath': f'{sys.argv[1]}/{library}', 'options': ['ro', 'nosuid', 'nodev', 'bind']})
devices = [{'path': str(each)} for each in sorted(pathlib.Path('/dev').glob('nvidia*')) if stat.S_ISCHR(each.stat().st_mode)]
print(json.dumps({'cdiVersion': '0.5.0', 'kind': 'blurd.test/gpu', 'containerEdits': {'mounts': mounts},
                  'devices': [{'name': 'all', 'containerEdits': {'deviceNodes': devices}}]}))
PYTHON
}

start() { # name, port, options of Podman, --, options of the daemon
    local name=$1 port=$2 options=() end=$((SECONDS + 60))
    shift 2
    while [ "$1" != -- ]; do
        options+=("$1") && shift
    done
    podman run --detach --name "$name" --network host --ulimit nofile=8192:8192 --ulimit nproc=4096:4096 --read-only --cap-drop ALL --security-opt no-new-privileges "${options[@]}" "$tag" \
        --listen 127.0.0.1 --port "$port" "${@:2}" >"$work/$name.log" 2>&1 || { cat "$work/$name.log" && die "it is not started"; }
    until curl -fsS --max-time 5 -o /dev/null "http://127.0.0.1:$port/readyz" 2>/dev/null; do
        [ $SECONDS -lt $end ] || { podman logs "$name" && die "nothing is ready"; }
        sleep 0.1
    done
}

backend() { sed -n 's/^X-Backend: //Ip' "$work/head.$1" | tr -d '\r'; }

tag=$(podman load --quiet --input "$image" | sed 's/^Loaded image: //')
describe_gpu /usr/lib/x86_64-linux-gnu
start gpu 18601 --device blurd.test/gpu=all -- --require-gpu true
start cpu 18602 -- --gpus none
for request in 'blur?sigma=8' 'resize?width=400' 'median?radius=3&format=png' 'redact?detect=faces,text&require=false'; do
    for port in 18601 18602; do
        curl -fsS -D "$work/head.$port" --data-binary "@$picture" "http://127.0.0.1:$port/$request" -o "$work/answer.$port" || die "$request"
    done
    cmp "$work/answer.18601" "$work/answer.18602" || die "$request: the GPU gives other bytes"
    [[ $(backend 18601) == cuda:* ]] || die "the CPU has done the work of $request"
    say "$request: the same $(stat -c %s "$work/answer.18601") bytes by $(backend 18601) and $(backend 18602)"
done
podman exec gpu /usr/local/bin/blurd --check-health || die "the health check says no"
podman stop --time 20 gpu cpu >/dev/null
podman logs gpu >"$work/gpu.log" 2>&1
grep -q '"drain"' "$work/gpu.log" || die "no drain in the log"
[ "$(podman inspect --format '{{.State.ExitCode}}' gpu)" = 0 ] || die "SIGTERM: exit status $(podman inspect --format '{{.State.ExitCode}}' gpu)"
say "ok: $(podman --version), the same bytes, healthy, drained"
