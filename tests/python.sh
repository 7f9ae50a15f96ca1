#!/bin/bash
# SPDX-License-Identifier: MIT
# Python for tests, in an environment of its own (tests/environment.py): other packages of the host, of its users and of
# variables are not seen, so that a test finds the same modules on each host.
#
#     tests/python.sh -m pytest -q tests/http/test_tls.py
#
# Where Python is not Debian's, it is the one that stands first in PATH, with all that it has.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck disable=SC2086 # names of variables
unset ${!PYTHON*}
export PYTHONDONTWRITEBYTECODE=1
if [ ! -x /usr/bin/python3 ] || [ ! -d /usr/lib/python3/dist-packages ]; then
    exec python3 "$@"
fi
/usr/bin/python3 -I "$root/tests/environment.py"
exec "$root/build/python/bin/python3" "$@"
