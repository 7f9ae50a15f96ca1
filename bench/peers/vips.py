# SPDX-License-Identifier: MIT
"""libvips by itself: streamed, gaussblur with its defaults, one thread (VIPS_CONCURRENCY=1)."""

import peer
import pyvips


def blur(data, sigma, form):
    picture = pyvips.Image.new_from_buffer(data, '', access='sequential').gaussblur(sigma)
    return picture.jpegsave_buffer(Q=85, keep='none') if form == 'jpeg' else picture.pngsave_buffer(keep='none')


pyvips.cache_set_max(0)
peer.serve('libvips ' + '.'.join(str(pyvips.version(i)) for i in range(3)), blur)
