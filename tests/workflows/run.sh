#!/bin/bash
# SPDX-License-Identifier: MIT
# .github/workflows: valid by GitHub's schema, and zizmor finds nothing that lets strangers in. `make check-workflows` calls this.
#
#     tests/workflows/run.sh [run [SUITE]...]     with `run`, the steps of the first job of ci.yml, in the order of the file, are run in an
#                                                 empty Debian (bookworm, trixie), with a clone of the last commit: half an hour for each
#
# Exits with 77 where the tools are missing.
set -euo pipefail
cd "$(dirname "$0")/../.."

name=workflows
. tests/packages/common.sh
python=build/workflows/python

lint() {
    [ -x $python/bin/zizmor ] || { say "skipped, check-jsonschema and zizmor are not there: config/pypi.sh workflows" && exit 77; }
    PYTHONPATH=$python /usr/bin/python3 -m check_jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml || die "they are not GitHub's workflows"
    $python/bin/zizmor --offline --config .github/zizmor.yml --no-progress --quiet --persona=pedantic .github/workflows || die "zizmor finds something"
    say "valid, and zizmor finds nothing"
}

# The clone's address is this folder's, and what GitHub sets is set.
run_quick() { # suite
    local root=$work/root step=0 steps
    new_root "$1" "$root"
    mkdir -p "$root/srv/owner" "$root/job"
    git clone -q --bare . "$root/srv/owner/blurd.git"
    git -C "$root/srv/owner/blurd.git" config uploadpack.allowAnySHA1InWant true
    tests/python.sh tests/workflows/steps.py ci.yml quick "$root/job"
    for steps in "$root/job"/*.sh; do
        step=$((step + 1))
        say "$1, step $step: $(sed -n 2p "$steps")"
        BIND=/sys BIND_TO=/sys inside 3600 "$root" env DEBIAN_FRONTEND=noninteractive GITHUB_SERVER_URL=file:///srv GITHUB_REPOSITORY=owner/blurd.git \
            GITHUB_SHA="$(git rev-parse HEAD)" bash --noprofile --norc -eo pipefail "/job/${steps##*/}" >"$work/$1-$step.log" 2>&1 ||
            { tail -n 30 "$work/$1-$step.log" && die "$1, step $step"; }
        tail -n 1 "$work/$1-$step.log"
    done
}

lint
[ "${1-}" = run ] || exit 0
shift
need debootstrap git unshare
work=$PWD/build/workflows/run
mkdir -p "$work"
trap 'rm -rf "$work/root"' EXIT
[ $# -gt 0 ] || set -- bookworm trixie
for suite; do
    run_quick "$suite"
done
say "ok"
