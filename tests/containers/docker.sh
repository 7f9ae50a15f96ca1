#!/bin/bash
# SPDX-License-Identifier: MIT
# The container image, docker/compose.yaml and docker/swarm.yaml with Docker's own engine, and the image with Podman.
# `make check-docker` calls this.
#
#     tests/containers/docker.sh [SUITE]     of Debian: trixie, bookworm; exits with 77 where the tools are missing
#                                            (config/packages.sh docker), or the engine does not start
#     IMAGE=FILE DEPLOY=FOLDER tests/containers/docker.sh    an image of a release, and its files for engines
#
# The test starts an engine of its own, in a folder of its own, without rules for the firewall and without the default
# bridge, and ends it. No registry is asked: the base is the one that tests/debian.sh makes, and HAProxy, Prometheus and
# Compose come from Debian 13. Grafana is not in Debian: its service is not started.
set -euo pipefail
cd "$(dirname "$0")/../.."

name=docker
. tests/containers/common.sh
. docker/release/buildah.sh
suite=${1-$(suite_of_dockerfile)}
folder=$PWD/build/docker
gpu=none # tests/containers/image.sh builds with kernels
deploy=${DEPLOY-$PWD} # has docker/compose.yaml and docker/swarm.yaml
need docker dockerd docker debootstrap curl python3

mkdir -p "$folder"
work=$(mktemp -d "$folder/work.XXXXXX")
log=$folder/engine.log
export DOCKER_HOST=unix://$work/socket
engine=
had_bridge=$(ip -o link show docker_gwbridge 2>/dev/null || true)

start_engine() {
    dockerd --iptables=false --ip6tables=false --bridge=none --data-root "$work/data" --exec-root "$work/run" \
        --pidfile "$work/pid" --host "$DOCKER_HOST" >"$log" 2>&1 &
    engine=$!
    if ! eventually docker info; then
        say "skipped, the engine does not start: $(tail -n 1 "$log")"
        exit 77
    fi
    say "engine $(docker version --format '{{.Server.Version}}'), $(docker info --format '{{.Driver}}')"
}

finish() {
    local mount
    if [ -n "$engine" ]; then
        docker swarm leave --force >/dev/null 2>&1 || true
        docker ps --all --quiet | xargs --no-run-if-empty docker rm --force >/dev/null 2>&1 || true
        docker network prune --force >/dev/null 2>&1 || true
        kill -TERM "$engine" 2>/dev/null || true
    fi
    exec 9>&- # the clients end
    wait
    [ -n "$had_bridge" ] || ip link delete docker_gwbridge 2>/dev/null || true
    while read -r mount; do
        umount --lazy "$mount"
    done < <(cut -d ' ' -f 2 /proc/mounts | grep "^$work/" | sort -r)
    rm -rf "$work"
}
trap finish EXIT

import_base() { # suite
    tar -C "$(tests/debian.sh "$1")" -c . | docker import - "blurd-base:$1" >/dev/null
}

build() { # tag, arguments of docker build
    DOCKER_BUILDKIT=0 docker build --network host --tag "$1" "${@:2}" >"$folder/build.log" 2>&1 ||
        { tail -n 15 "$folder/build.log" && die "the build of $1"; }
}

build_images() {
    say "building on $suite, see $folder/build.log"
    import_base "$suite"
    build blurd --build-arg BASE="blurd-base:$suite" --build-arg GPU=$gpu .
    check_config "$(docker inspect --format '{{json .Config}}' blurd)" $gpu
    say "image: $(docker inspect --format '{{.Size}}' blurd) bytes"
}

# What the files start beside blurd.
build_others() {
    local target
    docker image inspect blurd-base:trixie >/dev/null 2>&1 || import_base trixie
    for target in haproxy prometheus compose; do
        build "$(image_of $target)" --build-arg BASE=blurd-base:trixie --target $target - <tests/containers/tools.Dockerfile
    done
    say "beside it $(docker run --rm "$(image_of haproxy)" haproxy -v | sed -n '1s/ - .*//p')," \
        "Compose $(docker run --rm compose docker-compose version --short)"
}

# The name that docker/compose.yaml gives a service's image.
image_of() {
    sed -n "s|^    image: \(.*$1[:/].*\)|\1|p" docker/compose.yaml | grep . || echo "$1"
}

# --- one container ---------------------------------------------------------------------------------------
# Podman keeps its storage in the folder, too, and uses Docker's runtime, which knows both versions of control groups. Its
# own health checks need timers of systemd: the test runs the check.
podman() { command podman --runtime runc --root "$work/podman" --runroot "$work/podman.run" --storage-driver vfs "$@"; }
docker_is_healthy() { [ "$(docker inspect --format '{{.State.Health.Status}}' one)" = healthy ]; }
podman_is_healthy() { podman healthcheck run one; }

run_container() { # docker, podman
    local port process
    port=$(free_port)
    "$1" run --detach --name one --network host --read-only --cap-drop ALL --security-opt no-new-privileges --ulimit nofile=8192:8192 \
        --ulimit nproc=4096:4096 --stop-timeout 35 --env PORT="$port" --env BLURD_DRAIN_DELAY=1s blurd --listen 127.0.0.1 >/dev/null
    eventually "$1_is_healthy" || die "the container does not become healthy: $("$1" logs one 2>&1 | tail -n 3)"
    process=$("$1" inspect --format '{{.State.Pid}}' one)
    [ "$(awk '/^Uid:/ { print $2 }' "/proc/$process/status")" = 65534 ] || die "it runs as another user"
    [ "$(awk '/^CapBnd:/ { print $2 }' "/proc/$process/status")" = 0000000000000000 ] || die "it has capabilities"
    awk '$2 == "/" { way = $4 } END { exit way !~ /^ro/ }' "/proc/$process/mounts" || die "it can write to its root"
    say "$1: healthy, as nobody, without capabilities, read-only"
    begin_clients "$port" --until-closed
    "$1" stop one >/dev/null
    end_clients "$1 stop under load"
    [ "$("$1" inspect --format '{{.State.ExitCode}}' one)" = 0 ] || die "it ends with another status than 0"
    "$1" logs one 2>&1 | grep '"drain"' >/dev/null || die "no drain in the log"
    "$1" rm one >/dev/null
}

run_with_podman() {
    type -P podman >/dev/null || { say "not run with Podman, which is not installed" && return; }
    docker save blurd | podman load --quiet >/dev/null || die "podman load"
    say "Podman $(podman version --format '{{.Client.Version}}')"
    run_container podman
}

# --- Compose ---------------------------------------------------------------------------------------------
compose() {
    docker run --rm --network host --volume "$work:$work" --volume "$PWD:$PWD" --volume "$deploy:$deploy" --workdir "$PWD" --env DOCKER_HOST \
        --env BLURD_PORT="$port" --env PROMETHEUS_PORT="$prometheus_port" compose \
        docker-compose -f "$deploy/docker/compose.yaml" -f tests/containers/compose.yaml "$@" >>"$folder/compose.log" 2>&1
}

# The number of daemons that Prometheus has scraped.
scraped() {
    curl -fsS "http://127.0.0.1:$prometheus_port/api/v1/query" --data-urlencode 'query=sum(up{job="blurd"})' |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["data"]["result"][0]["value"][1])'
}
are_scraped() { [ "$(scraped)" = "$1" ]; }

run_compose() {
    local port prometheus_port
    port=$(free_port) prometheus_port=$(free_port)
    rm -f "$folder/compose.log"
    compose up --no-build --detach blurd haproxy prometheus || { tail -n 5 "$folder/compose.log" && die "compose up"; }
    eventually answers "$port" /version || die "nothing answers behind HAProxy"
    eventually are_scraped 3 || die "Prometheus scrapes $(scraped) daemons of 3"
    begin_clients "$port"
    compose up --no-build --detach --no-recreate --scale blurd=5 blurd || die "compose does not scale"
    eventually are_scraped 5 || die "Prometheus scrapes $(scraped) daemons of 5"
    compose up --no-build --detach --no-recreate --scale blurd=3 blurd || die "compose does not scale back"
    eventually are_scraped 3 || die "Prometheus scrapes $(scraped) daemons of 3"
    end_clients "Compose, 3 daemons scaled to 5 and back"
    compose down --volumes || die "compose down"
}

# --- Swarm -----------------------------------------------------------------------------------------------
# All tasks of the service run, and no older ones are left to end.
has_tasks() { # count
    [ "$(docker service ps --filter desired-state=running --format '{{.CurrentState}}' blurd_blurd | grep -c ^Running)" = "$1" ] &&
        [ "$(docker ps --quiet --filter name=blurd_blurd --filter health=healthy | wc -l)" = "$1" ] &&
        [ "$(docker ps --quiet --filter name=blurd_blurd | wc -l)" = "$1" ]
}

scale() { # count
    docker service scale --detach "blurd_blurd=$1" >/dev/null
    eventually has_tasks "$1" || die "Swarm does not reach $1 daemons"
}

deploy() { # image
    BLURD_PORT=$port BLURD_IMAGE=$1 docker stack deploy --resolve-image never -c "$deploy/docker/swarm.yaml" blurd >"$folder/swarm.log" 2>&1 ||
        { cat "$folder/swarm.log" && die "stack deploy"; }
}

swarm_says() { # message of the last update
    [ "$(docker service inspect --format '{{.UpdateStatus.Message}}' blurd_blurd)" = "$1" ]
}

all_run() { # image
    [ "$(docker ps --filter name=blurd_blurd --format '{{.Image}}' | sort -u)" = "$1" ]
}

run_swarm() {
    local port on_failure='docker service ps --no-trunc blurd_blurd'
    port=$(free_port)
    docker swarm init --advertise-addr 127.0.0.1 --listen-addr "127.0.0.1:$(free_port)" --data-path-port 24789 >/dev/null
    docker tag blurd blurd:first
    deploy blurd:first
    eventually has_tasks 3 || die "Swarm does not run 3 daemons"
    eventually answers "$port" /version || die "nothing answers behind HAProxy"
    begin_clients "$port"
    scale 5
    scale 2
    scale 3
    end_clients "Swarm, scaled to 5, 2 and 3"
    docker tag blurd blurd:next
    begin_clients "$port"
    deploy blurd:next
    eventually swarm_says "update completed" || eventually swarm_says "update completed" || die "the update is not completed"
    eventually has_tasks 3 || die "the update leaves other than 3 daemons"
    all_run blurd:next || die "the update leaves daemons of another image"
    end_clients "Swarm, each of 3 replaced by a new image"
    begin_clients "$port"
    docker service rollback --detach blurd_blurd >"$folder/swarm.log" 2>&1 || die "service rollback"
    eventually swarm_says "rollback completed" || eventually swarm_says "rollback completed" || die "the rollback is not completed"
    eventually has_tasks 3 || die "the rollback leaves other than 3 daemons"
    all_run blurd:first || die "the rollback leaves daemons of another image"
    end_clients "Swarm, rolled back"
    docker stack rm blurd >/dev/null
}

load_image() {
    local loaded
    loaded=$(docker load --quiet --input "$IMAGE" | sed 's/^Loaded image: //')
    check_config "$(docker inspect --format '{{json .Config}}' "$loaded")" required
    docker tag "$loaded" blurd
    say "loaded $loaded"
}

start_engine
if [ -n "${IMAGE-}" ]; then
    load_image
else
    build_images
fi
build_others
run_container docker
run_with_podman
run_compose
run_swarm
say "ok"
