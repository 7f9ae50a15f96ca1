# SPDX-License-Identifier: MIT
"""L6: system calls that fail, at the start and while requests are served (strace's fault injection).

Errors that the kernel never reports are not tried: that a descriptor cannot be removed from an epoll set (the
library ends the process then), that a futex or an eventfd cannot wake (the C library aborts, waiters wait),
that there is nothing to read or no room to write although epoll has just reported it. A log that cannot be
written is row O9's."""

import collections
import shutil
import subprocess

import lab
from torture import ask, kinds, same

CALLS = {
    'accept4': ('EINTR', 'EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM', 'ECONNABORTED'),
    'bind': ('EADDRINUSE', 'ENOMEM'),
    'brk': ('ENOMEM',),
    'clone3': ('EAGAIN', 'ENOMEM'),
    'close': ('EINTR', 'EIO'),
    'epoll_create1': ('EMFILE', 'ENOMEM'),
    'epoll_wait': ('EINTR',),
    'eventfd2': ('EMFILE', 'ENOMEM'),
    'fallocate': ('EINTR', 'EIO', 'ENOSPC'),
    'fcntl': ('EINTR', 'EMFILE'),
    'ftruncate': ('EINTR', 'EIO', 'ENOSPC'),
    'getpeername': ('ENOMEM',),
    'getrandom': ('EAGAIN', 'EINTR', 'ENOSYS'),
    'getsockopt': ('ENOMEM',),
    'ioctl': ('EIO', 'ENOMEM'),
    'listen': ('EADDRINUSE',),
    'madvise': ('EAGAIN', 'ENOMEM'),
    'memfd_create': ('EMFILE', 'ENOMEM'),
    'mmap': ('EAGAIN', 'ENOMEM'),
    'mprotect': ('ENOMEM',),
    'munmap': ('ENOMEM',),
    'openat': ('EINTR', 'EIO', 'EMFILE', 'ENOMEM'),
    'poll': ('EINTR', 'ENOMEM'),
    'prlimit64': ('EPERM',),
    'read': ('EINTR', 'EIO'),
    'recvfrom': ('EINTR', 'EIO', 'ENOMEM'),
    'sched_getaffinity': ('EINVAL',),
    'sendmsg': ('EINTR', 'EIO', 'ENOMEM', 'EPIPE'),
    'sendto': ('EINTR', 'EIO', 'ENOMEM', 'EPIPE'),
    'setsockopt': ('ENOMEM',),
    'shutdown': ('ENOTCONN', 'EIO'),
    'signalfd4': ('EMFILE', 'ENOMEM'),
    'socket': ('EMFILE', 'ENOMEM'),
}
LINKER = ('brk', 'close', 'mmap', 'mprotect', 'openat', 'read')  # calls of the dynamic linker, too, which may fail in silence
# Failures after which the C library ends the process, or crashes, in code of its own: a thread's stack that cannot be unmapped
# when the threads have ended, behind the last answer; the very first brk, now and then. Neither fails for
# lack of memory.
KNOWN = {'munmap:error=ENOMEM:when=2..6', 'brk:error=ENOMEM:when=1'}
TIMES = ('1', '2..6', '45')  # which calls of a thread, 45: behind those of the dynamic linker


class Sweep:
    def __init__(self, messages, wanted):
        self.messages, self.wanted = messages, wanted
        self.outcomes, self.bad = collections.Counter(), []

    def blame(self, what, fault, own=None):
        self.bad.append(fault)
        print(f'     {fault}: {what} {" / ".join(own.lines[-3:]) if own else ""}', flush=True)

    def one(self, fault):
        through = ('strace', '-D', '-f', '-qq', '-o', '/dev/null', '-e', f'inject={fault}')
        try:
            own = lab.start('--workers', 1, '--event-threads', 1, through=through)
        except RuntimeError as error:
            self.outcomes['refused'] += 1
            if len(str(error).splitlines()) < 2 and not fault.startswith(LINKER):
                self.blame('says nothing', fault)
            return
        self.outcomes['serves'] += 1
        for name in [*self.messages] * 2 + [None]:
            self.serve(own, name, fault)
        try:
            own.stop()
        except (AssertionError, subprocess.TimeoutExpired) as error:
            self.blame(f'ends badly, {type(error).__name__}', fault, own)

    def serve(self, own, name, fault):
        """None: the faults are over, and every answer must be right."""
        for one in [name] if name else self.messages:
            got = ask(own, self.messages[one])
            if not same(one, got, self.wanted[one]) and (not name or got[0] not in (500, 503, 'closed')):
                self.blame(f'{one} {got[0]}', fault, own)


def sweep():
    if not shutil.which('strace'):
        return 'not run', 'strace is not installed'
    messages = {name: message for name, message in kinds().items() if name in ('JPEG region', 'PNG interlaced', 'multipart', 'nowhere')}
    with lab.start() as own:
        found = Sweep(messages, {name: ask(own, message) for name, message in messages.items()})
    faults = [f'{call}:error={error}:when={when}' for call, errors in CALLS.items() for error in errors for when in TIMES]
    for fault in faults:
        found.one(fault)
    measured = f'{len(faults)} faults of {len(CALLS)} calls: {lab.counted(found.outcomes.elements())}; {len(found.bad)} wrong, hanging or dead'
    if found.bad and set(found.bad) <= KNOWN:
        return measured, "the C library ends a process that cannot unmap a thread's stack, and crashes at times after a first brk that fails"
    return measured, not found.bad


def rows():
    return [lab.Row('L6', 'system calls that fail', 'as L5, under strace: 0 crashes, hangs, wrong answers', sweep)]
