# SPDX-License-Identifier: MIT
"""Each phase of a test, that is set-up, call and tear-down, has a time limit of its own, so that a test that waits for what
never comes fails under its name, and the rest run on.

The limit is for hangs: it is generous, and multiplied like every other timeout. A file whose tests take longer has a TIME_LIMIT.
A test that is still in its clean-up, joining a thread that waits, is interrupted again and again."""

import os
import signal
import sys
import threading

import pytest

import daemon

USUAL = float(os.environ.get('BLURD_TEST_SECONDS') or 120)
AGAIN = 5  # seconds until what still waits is interrupted once more
late = []  # the tests that were


def limited(item):
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread gets signals; pytest-xdist runs tests in it, too
        return

    seconds = getattr(item.module, 'TIME_LIMIT', USUAL) * daemon.SLOW

    def end(*_):
        late.append(item.nodeid)
        pytest.fail(f'it has not ended within its {seconds:g} s')

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds, min(seconds, AGAIN))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item):
    yield from limited(item)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    yield from limited(item)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item):
    yield from limited(item)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure():
    """Python waits for all threads at its end, for those of a test that hung, too. All has been said by now."""
    if late and any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        sys.stdout.flush()
        os._exit(1)
