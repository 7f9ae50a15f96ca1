# SPDX-License-Identifier: MIT
"""Machines in one: network namespaces on a bridge, and shares of a core. For root alone.

    with Networks(3) as networks:           # networks.host[0].address is '10.77.0.11'
        with networks.front():              # this thread, and what it starts, is in the balancer's namespace
            daemon.Daemon(..., listen='0.0.0.0', port=8080, through=networks.host[0].through())"""

import contextlib
import ctypes
import os
import pathlib
import shutil
import subprocess

CLONE_NEWNET = 0x40000000
PERIOD_US = 20000
SUBNET = '10.77.0'


def missing():
    """A sentence about the missing part; '' when namespaces can be made."""
    if os.getuid() != 0:
        return 'network namespaces are for root'
    if not shutil.which('ip'):
        return 'iproute2 is not installed'
    name = f'blurd-{os.getpid()}-probe'
    if subprocess.run(['ip', 'netns', 'add', name], capture_output=True, check=False).returncode != 0:
        return 'network namespaces cannot be made here'
    subprocess.run(['ip', 'netns', 'delete', name], check=True)
    return ''


def command(*words):
    subprocess.run(list(map(str, words)), check=True, capture_output=True)


class Share:
    """A control group with a part of one core; None where there are no such groups."""

    ROOTS = (('/sys/fs/cgroup/cpu', 'cpu.cfs_quota_us'), ('/sys/fs/cgroup', 'cpu.max'))

    def __init__(self, name, part):
        self.path, quota = None, int(part * PERIOD_US)
        for root, file in self.ROOTS:
            path = pathlib.Path(root, name)
            if self.path or not os.access(root, os.W_OK):
                continue
            try:
                path.mkdir()
                if file == 'cpu.max':
                    (path / file).write_text(f'{quota} {PERIOD_US}')
                else:
                    (path / 'cpu.cfs_period_us').write_text(str(PERIOD_US))
                    (path / file).write_text(str(quota))
                self.path = path
            except OSError:
                if path.is_dir():
                    path.rmdir()

    def remove(self):
        if self.path:
            self.path.rmdir()


class Host:
    """A namespace with one address on the bridge."""

    def __init__(self, prefix, number, part):
        self.name, self.address = f'{prefix}-{number}', f'{SUBNET}.{10 + number}'
        self.share = Share(self.name, part) if part else None

    def through(self):
        """The command that runs a program in the namespace, within its share."""
        enter = ['ip', 'netns', 'exec', self.name]
        if not self.share:
            return enter
        return ['sh', '-c', f'echo $$ >{self.share.path}/cgroup.procs && exec "$@"', 'sh', *enter]


class Networks:
    """Namespaces for a balancer, with the bridge, and for so many hosts. All are removed afterwards."""

    def __init__(self, hosts, part=None):
        """`part` of a core that each host may use at most; without: all."""
        self.prefix = f'blurd-{os.getpid()}'
        self.bridge = f'{self.prefix}-front'
        self.host = [Host(self.prefix, number, part) for number in range(1, hosts + 1)]

    def _connect(self, number, host):
        command('ip', 'netns', 'add', host.name)
        near, far = f'near{number}', f'far{number}'
        command('ip', '-n', self.bridge, 'link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', host.name)
        command('ip', '-n', self.bridge, 'link', 'set', near, 'master', 'bridge', 'up')
        command('ip', '-n', host.name, 'address', 'add', f'{host.address}/24', 'dev', far)
        command('ip', '-n', host.name, 'link', 'set', far, 'up')
        command('ip', '-n', host.name, 'link', 'set', 'lo', 'up')

    def __enter__(self):
        try:
            command('ip', 'netns', 'add', self.bridge)
            command('ip', '-n', self.bridge, 'link', 'set', 'lo', 'up')
            command('ip', '-n', self.bridge, 'link', 'add', 'bridge', 'type', 'bridge')
            command('ip', '-n', self.bridge, 'address', 'add', f'{SUBNET}.1/24', 'dev', 'bridge')
            command('ip', '-n', self.bridge, 'link', 'set', 'bridge', 'up')
            for number, host in enumerate(self.host):
                self._connect(number, host)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in (*(host.name for host in self.host), self.bridge):
            subprocess.run(['ip', 'netns', 'delete', name], capture_output=True, check=False)
        for host in self.host:
            if host.share:
                host.share.remove()

    @contextlib.contextmanager
    def front(self):
        """Threads and processes that are started within are there, too."""
        home = os.open('/proc/thread-self/ns/net', os.O_RDONLY)
        there = os.open(f'/run/netns/{self.bridge}', os.O_RDONLY)
        try:
            self._enter(there)
            yield
        finally:
            self._enter(home)
            os.close(home)
            os.close(there)

    @staticmethod
    def _enter(descriptor):
        if ctypes.CDLL(None, use_errno=True).setns(descriptor, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), 'setns')
