# SPDX-License-Identifier: MIT
"""Tests of the running daemon: tests/python.sh -m pytest tests/http

    CONFIG=asan       the build under test, build/$CONFIG/blurd    BLURD=path      another one
    BLURD_SLOW=2      factor for every timeout (sanitizers: 4)     CORPUS=folder   of test_corpus.py
    BLURD_CASES=all   sanitizers, too, run all cases of every table, not some
    BLURD_TEST_SECONDS=120    time limit of each test, before that factor
"""

import collections
import math
import os

import pytest

import daemon
import evidence
import pictures
from certificates import Pair
from time_limit import pytest_runtest_call, pytest_runtest_setup, pytest_runtest_teardown, pytest_unconfigure  # noqa: F401


def pytest_report_header():
    return f'blurd: {daemon.BINARY}, timeouts x {daemon.SLOW:g}'


STEPS = ((2, 1), (6, 2), (24, 4), (math.inf, 10))  # cases of a table at most, and of how many sanitizers run one

# Files that measure time or load, or that keep all cores busy: tests/run.sh runs them after the others, one at a time.
ALONE = {'test_crew', 'test_disconnects', 'test_drain', 'test_gpu_faults', 'test_gpu_jpeg_memory', 'test_overload'}

# Files that look at pages, configurations and tools of the repository, or measure what a build with sanitizers has another way:
# those builds need not repeat them.
OF_EVERY_BUILD = {'test_benchmark', 'test_completions', 'test_compose', 'test_documentation', 'test_environment', 'test_examples', 'test_helm',
                  'test_idle_exit', 'test_kubernetes', 'test_kubernetes_job', 'test_memory_limits', 'test_monitoring', 'test_nginx_example', 'test_packages',
                  'test_prometheus', 'test_proxies', 'test_scaling', 'test_serverless',
                  'test_serverless_contract', 'test_workflows'}


# The same of single tests: kernels on the host take half a minute each, in code that sanitizers do not see.
TESTS_OF_EVERY_BUILD = {'test_the_same_on_a_gpu', 'test_the_gpu_reads_scans'}


def pytest_configure(config):
    config.addinivalue_line('markers', 'alone: measures time or load, so that nothing may run beside it')


def some_cases(items):
    """Those that sanitizers run: of a table of cases the first, and every second, fourth or tenth behind it by its size. Each is a way through
    the code that the others mostly share, and the release build runs all."""
    sizes = collections.Counter(item.nodeid.split('[')[0] for item in items)
    seen = collections.Counter()
    for item in items:
        name = item.nodeid.split('[')[0]
        step = next(step for most, step in STEPS if sizes[name] <= most)
        if seen[name] % step == 0:
            yield item
        seen[name] += 1


def pytest_collection_modifyitems(config, items):
    if daemon.SANITIZED and os.environ.get('BLURD_CASES') != 'all':
        kept = list(some_cases(items))
        chosen = set(kept)
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = kept
    for item in items:
        if item.path.stem in ALONE:
            item.add_marker(pytest.mark.alone)
        if daemon.SANITIZED and (item.path.stem in OF_EVERY_BUILD or getattr(item, 'originalname', '') in TESTS_OF_EVERY_BUILD):
            item.add_marker(pytest.mark.skip(reason='the same for every build'))
    if not os.access(daemon.BINARY, os.X_OK):
        pytest.exit(f'{daemon.BINARY} is not there: run make CONFIG={daemon.CONFIG}', returncode=2)


PATIENT = ('--work-timeout', f'{10 * daemon.SLOW:g}s')  # the usual limit, and with sanitizers as much longer as all else


@pytest.fixture(scope='session')
def shared():
    """One daemon for all tests that only ask."""
    with daemon.Daemon(*PATIENT) as running:
        yield running


@pytest.fixture
def server(shared):
    yield shared
    assert shared.process.poll() is None, 'the daemon died:\n' + '\n'.join(shared.lines[-60:])


@pytest.fixture(scope='module')
def cpu():
    """A daemon without a GPU, to compare with."""
    with daemon.Daemon('--gpus', 'none', *PATIENT) as running:
        yield running


@pytest.fixture
def start():
    """start('--workers', 1) starts a daemon with these options, which is stopped and checked after the
    test."""
    running = []

    def start_one(*options, **more):
        running.append(daemon.Daemon(*options, **more))
        return running[-1]

    yield start_one
    failure = None
    for one in running:
        try:
            one.stop()
        except BaseException as error:
            failure = failure or error
    if failure:
        raise failure


@pytest.fixture
def say(capsys):
    """Prints through pytest's capture: measurements and notices are meant to be seen."""

    def print_now(text):
        with capsys.disabled():
            print(f'\n    {text}', flush=True)

    return print_now


@pytest.fixture(scope='module')
def pair(tmp_path_factory):
    """A certificate and its key."""
    return Pair(tmp_path_factory.mktemp('tls'))


@pytest.fixture(scope='module')
def report_key(tmp_path_factory):
    """The file of a key that signs reports."""
    return evidence.make_key(tmp_path_factory.mktemp('key'))


@pytest.fixture(scope='module')
def signing(report_key):
    """A daemon with that key."""
    with daemon.Daemon('--report-key', report_key, *PATIENT) as running:
        yield running


@pytest.fixture(scope='module')
def reported(signing):
    """A report, its picture, and the file that was sent."""
    body = pictures.png(pictures.photograph(*evidence.SIDES))
    return (*evidence.parts(signing.post(f'/redact?{evidence.REGION}&report=true', body)), body)
