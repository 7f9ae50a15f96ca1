# SPDX-License-Identifier: MIT
"""The playground in a real browser: make check-browser, or tests/python.sh -m pytest tests/browser

    BLURD=path        the daemon under test       BLURD_SLOW=2      factor for every timeout of the daemon
"""

import pathlib
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / 'http')]

import browser
import daemon
import fake_gpu
import pictures


def pytest_collection_modifyitems(items):
    if not browser.there():
        pytest.exit(f'no {browser.BROWSER} and {browser.DRIVER}: run make check-browser', returncode=2)


@pytest.fixture(scope='session')
def server():
    with daemon.Daemon('--gpus', 'none') as running:
        yield running


@pytest.fixture(scope='session')
def downloads(tmp_path_factory):
    return tmp_path_factory.mktemp('downloads')


@pytest.fixture(scope='session')
def driver(downloads):
    with browser.running(downloads) as running:
        yield running


@pytest.fixture
def page(driver, server, downloads):
    """The page, freshly opened, with the answer for its first sample. Errors on it fail the test."""
    playground = browser.Playground(driver, server.url(''), downloads).open()
    playground.settled()
    yield playground
    assert playground.wrongs() == []


@pytest.fixture(scope='session')
def folder(tmp_path_factory):
    """Pictures to upload; the names are hard on shells."""
    path = tmp_path_factory.mktemp('pictures')
    pixels = pictures.photograph(320, 200)
    (path / 'photo.jpg').write_bytes(pictures.jpeg(pixels))
    (path / "it's a $HOME; `id`, \"so\".png").write_bytes(pictures.png(pixels))
    (path / '-o.jpg').write_bytes(pictures.jpeg(pixels))
    (path / 'broken.jpg').write_bytes(pictures.jpeg(pixels)[:2000])
    (path / 'text.jpg').write_bytes(b'no picture at all')
    return path


@pytest.fixture
def start_daemon():
    """Starts a daemon with the given options, which is stopped after the test."""
    running = []

    def start(*options, **more):
        running.append(daemon.Daemon(*options, **more))
        return running[-1]

    yield start
    for one in running:
        one.stop()


@pytest.fixture
def start_gpu(start_daemon):
    """A daemon whose GPU serves: the one that the host plays."""

    def start():
        if not fake_gpu.LIBRARY.exists():
            pytest.skip(f'no {fake_gpu.LIBRARY}: built without CUDA headers, or make tests')
        return fake_gpu.launch(start_daemon)

    return start
