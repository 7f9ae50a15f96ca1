# SPDX-License-Identifier: MIT
"""A daemon whose fake GPU does JPEGs, and pictures for it."""

import daemon
import fake_gpu
import pictures

PLACES = 4
BY_GPU = 'cuda:0/jpeg'


def jpeg_options(*more):
    """Uses the GPU for all JPEGs that it takes; the options in `more` come first."""
    usual = {'--jpeg-codec': 'gpu', '--gpu-pictures': PLACES, '--gpu-timeout': '60s',
             '--module-format': 'ptx'}  # which every build has
    return fake_gpu.options(*more, *(part for name, value in usual.items() if name not in more for part in (name, value)))


def places(own):
    """How many JPEGs the GPU takes at a time now."""
    return own.metrics()['blurd_jpeg_places']


def await_places(own, wanted=PLACES):
    assert daemon.eventually(lambda: places(own) == wanted, 20), f'{places(own)}\n' + '\n'.join(own.lines[-30:])


def launch_jpeg(start, *more, wanted=PLACES, **values):
    """A daemon whose fake GPU does JPEGs; returns when it can."""
    own = fake_gpu.launch(start, *jpeg_options(*more), **values)
    await_places(own, wanted)
    return own


# --- pictures ------------------------------------------------------------------------------
PHOTO = pictures.jpeg(pictures.photograph(64, 48), subsampling='420')
MEDIUM = pictures.jpeg(pictures.photograph(300, 200), subsampling='420')  # more than the buffers of others
OTHER = pictures.jpeg(pictures.photograph(45, 31, seed=2), 80, subsampling='444')


def ask(own, body, target='/blur?sigma=2', **more):
    """(X-Backend, the bytes)"""
    return fake_gpu.post(own, target, body, **more)
