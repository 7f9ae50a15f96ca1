#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the image of a release on a machine with an NVIDIA GPU, by runc or crun, the runtimes below Docker and Podman, with what NVIDIA's container toolkit adds:
# the driver's libraries beside those of the image, and its devices. No engine, registry or toolkit is needed. The GPU has to serve, with
# the same bytes as the CPU; the image's user, a root that cannot be written, and no capabilities are as engines have them.
#
#     tests/containers/gpu.sh IMAGE PICTURE     blurd-VERSION-image-amd64.tar and a JPEG; root; runc, curl, python3
#     RUNTIME='crun --cgroup-manager disabled'  where the machine itself is a container without control groups
set -euo pipefail

image=$1 picture=$2
work=$(mktemp -d)
name=image-gpu
containers=()
finish() {
    local each
    for each in "${containers[@]}"; do
        runtime delete --force "$each" >/dev/null 2>&1 || true
    done
    rm -rf "$work"
}
trap finish EXIT
say() { printf '%s: %s\n' "$name" "$*"; }
die() { say "FAILED: $*" && exit 1; }
# shellcheck disable=SC2086 # options
runtime() { ${RUNTIME-runc} --root "$work/state" "$@"; }

# The layers of the image, and a configuration as podman makes it of the image's own.
unpack() { # name of the container, port, options of the daemon
    mkdir -p "$work/$1/rootfs"
    python3 - "$image" "$work/$1" "$2" "${@:3}" <<'PYTHON'
import json, os, pathlib, re, stat, subprocess, sys, tarfile
image, folder, port, options = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4:]
with tarfile.open(image) as files:
    manifest, = json.load(files.extractfile('manifest.json'))
    made = json.load(files.extractfile(manifest['Config']))['config']
    for layer in manifest['Layers']:
        with tarfile.open(fileobj=files.extractfile(layer)) as content:
            content.extractall(folder / 'rootfs')
bind = ['bind', 'ro', 'nosuid', 'nodev']
mounts = [{'destination': '/proc', 'type': 'proc', 'source': 'proc'}, {'destination': '/dev', 'type': 'tmpfs', 'source': 'tmpfs', 'options': ['nosuid', 'mode=755']},
          {'destination': '/tmp', 'type': 'tmpfs', 'source': 'tmpfs', 'options': ['nosuid', 'nodev', 'mode=1777']},
          {'destination': '/sys', 'type': 'none', 'source': '/sys', 'options': ['rbind', 'ro']}]
place = '/' + next(folder.glob('rootfs/usr/lib/*/libc.so.6')).parent.relative_to(folder / 'rootfs').as_posix()
known = subprocess.run(['ldconfig', '-p'], capture_output=True, text=True, check=True).stdout
for library in ('libcuda.so.1', 'libnvidia-ptxjitcompiler.so.1', 'libnvidia-ml.so.1'):
    found = [pathlib.Path(folder) / library for folder in os.environ.get('LD_LIBRARY_PATH', '').split(':') if folder]
    found = [each for each in found if each.exists()] + re.findall(rf'\s{re.escape(library)} \(libc6,x86-64.*\) => (\S+)', known)
    if found:
        mounts.append({'destination': f'{place}/{library}', 'type': 'bind', 'source': os.path.realpath(found[0]), 'options': bind})
allowed = []
for device in sorted(pathlib.Path('/dev').glob('nvidia*')):
    if stat.S_ISCHR(device.stat().st_mode):
        number = device.stat().st_rdev
        mounts.append({'destination': str(device), 'type': 'bind', 'source': str(device), 'options': ['bind']})
        allowed.append({'allow': True, 'type': 'c', 'major': os.major(number), 'minor': os.minor(number), 'access': 'rw'})
user, group = map(int, made['User'].split(':'))
capabilities = {each: [] for each in ('bounding', 'effective', 'inheritable', 'permitted', 'ambient')}
(folder / 'config.json').write_text(json.dumps({
    'ociVersion': '1.0.2', 'hostname': 'blurd', 'mounts': mounts, 'root': {'path': 'rootfs', 'readonly': True},
    'process': {'terminal': False, 'user': {'uid': user, 'gid': group}, 'cwd': '/', 'noNewPrivileges': True, 'capabilities': capabilities,
                'args': [*made['Entrypoint'], '--listen', '127.0.0.1', '--port', port, *options], 'env': [*made['Env'], f'PORT={port}']},
    'linux': {'resources': {'devices': [{'allow': False, 'access': 'rwm'}, *allowed]}, 'namespaces': [{'type': each} for each in ('pid', 'ipc', 'uts', 'mount')]}}))
PYTHON
}

start() { # name, port, options of the daemon
    local end=$((SECONDS + 60))
    unpack "$@"
    containers+=("$1")
    runtime run --detach --bundle "$work/$1" "$1" </dev/null >"$work/$1.log" 2>&1 || { cat "$work/$1.log" && die "it is not started"; }
    until curl -fsS --max-time 5 -o /dev/null "http://127.0.0.1:$2/readyz" 2>/dev/null; do
        [ $SECONDS -lt $end ] || { cat "$work/$1.log" && die "nothing is ready"; }
        sleep 0.1
    done
}

start gpu 18601 --require-gpu true
start cpu 18602 --gpus none
for request in 'blur?sigma=8' 'resize?width=400' 'median?radius=3&format=png' 'redact?detect=faces,text&require=false'; do
    for port in 18601 18602; do
        curl -fsS -D "$work/head.$port" --data-binary "@$picture" "http://127.0.0.1:$port/$request" -o "$work/answer.$port" || die "$request"
    done
    cmp "$work/answer.18601" "$work/answer.18602" || die "$request: the GPU gives other bytes"
    say "$request: the same $(stat -c %s "$work/answer.18601") bytes, by $(sed -n 's/^X-Backend: //Ip' "$work/head.18601" | tr -d '\r') and $(sed -n 's/^X-Backend: //Ip' "$work/head.18602" | tr -d '\r')"
    grep -qi '^x-backend: cuda' "$work/head.18601" || die "the CPU has done the work"
done
runtime exec gpu /usr/local/bin/blurd --check-health || die "the health check says no"
for each in gpu cpu; do
    runtime kill "$each" TERM
done
for _ in $(seq 100); do
    [ "$(runtime list --quiet 2>/dev/null | while read -r each; do runtime state "$each" 2>/dev/null; done | grep -c '"running"')" != 0 ] || break
    sleep 0.1
done
grep -q '"drain"' "$work/gpu.log" || die "no drain in the log"
say "ok: $(grep -o '"backend":"cuda:0' "$work/gpu.log" | wc -l) answers by the GPU, the same bytes, healthy, drained"
