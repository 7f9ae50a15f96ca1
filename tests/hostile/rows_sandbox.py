# SPDX-License-Identifier: MIT
"""P4, P5, H14, O12: forbidden operations of a daemon under an attacker's control, misused TLS, and the few
rights that it needs."""

import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

import lab
from lab import row

UNIT = lab.ROOT / 'build/release/tests/unit/test_sandbox'


def tests(*names):
    """(passed, skipped, failed, output) of HTTP tests with the release build."""
    done = subprocess.run([sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', *names], cwd=lab.ROOT / 'tests/http', capture_output=True, text=True, check=False,
                          env=lab.daemon.clean_environment(BLURD_BINARY=str(lab.BUILD['release'])))
    count = {word: int(number) for number, word in re.findall(r'(\d+) (passed|skipped|failed|error)', done.stdout.splitlines()[-1])}
    return count.get('passed', 0), count.get('skipped', 0), count.get('failed', 0) + count.get('error', 0), done.stdout


@row('P4', 'memory that a crash writes to disk, or that another process reads', 'no core dump, and none of its users but root looks in')
def dumps():
    with tempfile.TemporaryDirectory() as folder:
        here = os.getcwd()
        limit = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (limit[1], limit[1]))
        os.chdir(folder)
        try:
            own = lab.start()
        finally:
            os.chdir(here)
            resource.setrlimit(resource.RLIMIT_CORE, limit)
        allowed = re.search(r'Max core file size +(\w+) +(\w+)', pathlib.Path(f'/proc/{own.process.pid}/limits').read_text()).groups()
        own.may_end_with = (-11,)
        own.signal(11)
        own.stop()
        left = os.listdir(folder)
    unit = subprocess.run([UNIT], capture_output=True, text=True, check=False).stdout
    hidden = re.search(r'OK \] test_no_core_dumps', unit) is not None
    return f'core file size at most {"/".join(allowed)} bytes; after SIGSEGV {len(left)} files; dumpable: {"no" if hidden else "yes"}', \
        allowed == ('0', '0') and not left and hidden


@row('P5', 'a decoder taken over by a picture', 'every forbidden thing that is tried is refused, in each thread')
def taken_over():
    done = subprocess.run([UNIT], capture_output=True, text=True, check=False)
    found = re.search(r'(\d+) of (\d+) blocked, Landlock (\d+)', done.stdout)
    if not found:
        return 'not run', 'this kernel has no seccomp'
    codec = subprocess.run([UNIT.with_name('test_codec_sandbox')], capture_output=True, text=True, check=False)
    inner = re.search(r'(\d+) of (\d+) blocked', codec.stdout) or ('', '0', '1')
    with lab.start() as own:
        states = [(task / 'status').read_text() for task in pathlib.Path(f'/proc/{own.process.pid}/task').iterdir()]
    closed = sum('Seccomp:\t2' in state and 'NoNewPrivs:\t1' in state for state in states)
    measured = f'{found[1]} of {found[2]} refused, codec process {inner[1]} of {inner[2]}, Landlock version {found[3]}; {closed} of {len(states)} threads of a daemon closed in'
    if found[3] == '0':
        return measured, 'this kernel has no Landlock: files that SIGHUP may read are not told from others'
    return measured, found[1] == found[2] and int(found[2]) >= 89 and inner[1] == inner[2] and closed == len(states) and done.returncode == 0


@row('H14', 'TLS misused', 'TLS >= 1.2, no half handshake beyond the deadline, a bad certificate at SIGHUP keeps the old one')
def tls():
    passed, skipped, failed, output = tests('test_tls.py', 'test_certificates.py')
    if not passed and not failed:
        return 'not run', 'no openssl to make certificates with'
    half = re.search(r'\d+ half handshakes: .*', output)
    return f'{passed} of {passed + failed} tests, {skipped} skipped; {half.group(0) if half else ""}', failed == 0 and half is not None


@row('O12', 'more rights than needed', 'the daemon runs as the user `nobody`, without capabilities, on a read-only root file system; the exposure of its systemd unit is at most 2.0')
def few_rights():
    passed, skipped, failed, _ = tests('test_read_only.py')
    unit = subprocess.run(['tests/check/units.sh'], cwd=lab.ROOT, capture_output=True, text=True, check=False)
    exposure = re.search(r'exposure of the service: (\S+),', unit.stdout)
    measured = f'{passed} of {passed + failed} tests, {skipped} skipped; exposure {exposure.group(1) if exposure else "unknown"}'
    if skipped or not exposure:
        return measured, 'no bubblewrap or no systemd-analyze here, or no name spaces'
    return measured, failed == 0 and unit.returncode == 0
