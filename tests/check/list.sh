#!/bin/bash
# SPDX-License-Identifier: MIT
# Lists the tracked files of the patterns: tests/check/list.sh '*.h'. With STAGED set, as by the hook of `make hooks`, those
# alone that the commit changes.
if [ -n "${STAGED-}" ]; then
    exec git diff --cached --name-only --diff-filter=d -- "$@"
fi
exec git ls-files -- "$@"
