# SPDX-License-Identifier: MIT
"""libvips by itself: streamed, gaussblur with its defaults, resize with Lanczos, one thread (VIPS_CONCURRENCY=1)."""

import peer
import pyvips


def write(picture, form):
    return picture.jpegsave_buffer(Q=85, keep='none') if form == 'jpeg' else picture.pngsave_buffer(keep='none')


def blur(data, sigma, form):
    return write(pyvips.Image.new_from_buffer(data, '', access='sequential').gaussblur(sigma), form)


def resize(data, width, form):
    picture = pyvips.Image.new_from_buffer(data, '', access='sequential')
    return write(picture.resize(width / picture.width, kernel='lanczos3'), form)


def redact(data, region, form):
    left, top, width, height = region
    picture = pyvips.Image.new_from_buffer(data, '', access='sequential')
    box = pyvips.Image.black(width, height, bands=picture.bands)
    return write(picture.insert(box + [0, 0, 0, 255] if picture.bands == 4 else box, left, top), form)


pyvips.cache_set_max(0)
peer.serve('libvips ' + '.'.join(str(pyvips.version(i)) for i in range(3)), blur=blur, resize=resize, redact=redact)
