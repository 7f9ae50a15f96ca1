#!/bin/bash
# SPDX-License-Identifier: MIT
# Linux, Landlock from ABI 6 on (kernel 6.12): a process that gives up sending signals out of its domain
# (LANDLOCK_SCOPE_SIGNAL) cannot even cause the signal that a child has ordered for the parent's death with
# PR_SET_PDEATHSIG. The kernel sends it in the name of the dying parent, asks Landlock, and drops it without
# a trace: prctl has returned 0, and PR_GET_PDEATHSIG goes on to show the signal. Who relies on it to end
# helpers, as many supervisors do, leaves them behind as soon as the parent puts itself into such a domain.
# What still arrives is SIGIO for a socket of the child (F_SETOWN, O_ASYNC), since Landlock judges that by
# who asked for it and not by who closed the other end.
# Ends with 77 where the kernel has no Landlock of ABI 6.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" -q install --disable-pip-version-check pyprctl==0.1.3
cat >"$folder/try.py" <<'PYTHON'
import ctypes, fcntl, os, platform, signal, socket, struct, sys
import pyprctl

CREATE, RESTRICT = 444, 446  # landlock_create_ruleset, landlock_restrict_self: the same on each architecture
call = ctypes.CDLL(None, use_errno=True).syscall
abi = call(CREATE, None, ctypes.c_size_t(0), 1)
if abi < 6:
    print(f"Landlock ABI {abi}, wanted 6")
    sys.exit(77)


def enter_domain():
    """No right to files or ports is given up, only signals to processes outside (scoped = 2)."""
    attribute = struct.pack("QQQ", 0, 0, 2)
    rules = call(CREATE, attribute, ctypes.c_size_t(len(attribute)), 0)
    pyprctl.set_no_new_privs()
    if rules < 0 or call(RESTRICT, rules, 0) != 0:
        sys.exit(f"landlock: {os.strerror(ctypes.get_errno())}")


def child(end, out):
    """Orders a signal for the parent's death and one for the end of the socket, and tells which come in three seconds."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGIO])
    pyprctl.set_pdeathsig(signal.SIGUSR1)
    fcntl.fcntl(end, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(end, fcntl.F_SETFL, fcntl.fcntl(end, fcntl.F_GETFL) | os.O_ASYNC)
    end.send(b".")
    came = set()
    while (info := signal.sigtimedwait([signal.SIGUSR1, signal.SIGIO], 3)) is not None:
        came.add("death signal" if info.si_signo == signal.SIGUSR1 else "SIGIO")
    os.write(out, f"{', '.join(sorted(came)) or 'nothing'}; still ordered: {pyprctl.get_pdeathsig() is not None}".encode())
    os._exit(0)


def parent_dies(scoped):
    result, out = os.pipe()
    if os.fork() == 0:
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            ours.close()
            child(theirs, out)
        theirs.close()
        if scoped:
            enter_domain()
        ours.recv(1)  # the child has ordered both
        os._exit(0)
    os.wait()
    os.close(out)
    return os.read(result, 99).decode()


print("Linux", platform.release().split("-")[0], "Landlock ABI", abi)
plain, scoped = parent_dies(False), parent_dies(True)
print("the parent ends:                       ", plain)
print("it ends in a domain that scopes signals:", scoped)
sys.exit(not ("death signal" in plain and "death signal" not in scoped and "SIGIO" in scoped))
PYTHON
"$folder/v/bin/python" "$folder/try.py"
