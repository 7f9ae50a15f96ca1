# SPDX-License-Identifier: MIT
"""Each call of a request that can fail for lack of memory, threads or descriptors fails once. The answer is then the
right one, 500, 503 or none, and the next answer is right again. `make check-load` (tests/load/torture.py) sweeps more kinds of
requests, and the start."""
import pathlib
import sys

import pytest

import daemon

LOAD = pathlib.Path(__file__).resolve().parents[1] / 'load'
KINDS = ('JPEG', 'PNG 16', 'JPEG redact', 'multipart', 'pipeline', '/metrics')


@pytest.mark.skipif('/asan/' in daemon.BINARY, reason='a sanitizer has its own allocator')
def test_each_call_that_can_fail(monkeypatch):
    for folder in (LOAD, LOAD.parent / 'hostile'):
        monkeypatch.syspath_prepend(str(folder))
    import failing
    import torture
    if not failing.LIBRARY.exists():
        pytest.skip('no libfail.so: make load-libraries')
    messages = torture.kinds()
    with failing.Control() as control:
        sweep = torture.Sweep(control)
        sweep.start()
        for name in KINDS:
            torture.ask(sweep.own, messages[name])
        before = sweep.footprint()
        for name in KINDS:
            sweep.sweep(name, messages[name])
        after, faults = sweep.footprint(), sweep.faults
        sweep.own.stop()
    print(f'{faults} failures')
    assert not sweep.bad and before == after
    assert faults > 20 * len(KINDS)
