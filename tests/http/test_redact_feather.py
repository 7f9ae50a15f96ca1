# SPDX-License-Identifier: MIT
"""A soft edge reveals no redacted content: blocks that no filter touches are copied from the file, redacted
ones never."""

import numpy
import pytest

import anatomy
import pictures


def two_pictures():
    """The same but for 16x16 pixels at (32, 48), where they have the same mean."""
    one = pictures.photograph(160, 128)
    other = one.copy()
    other[48:64, 32:48] = other[48:64, 32:48][::-1, ::-1]
    return [pictures.jpeg(pixels, 95, '420') for pixels in (one, other)]


@pytest.mark.parametrize('feather', (0.5, 20, 200, 500))
@pytest.mark.parametrize('target', ('/blur?sigma=2', '/pixelate?block=4'))
def test_redacted_blocks_are_never_the_file_s(server, target, feather):
    answers = []
    for body in two_pictures():
        answer = server.post(f'{target}&mode=redact&region=32,48,16,16&feather={feather}', body)
        assert answer.status_code == 200, answer.text
        answers.append(answer.content)
        inside = (slice(48, 64), slice(32, 48))
        assert (anatomy.pixels(answer.content)[inside] != anatomy.pixels(body)[inside]).any()
    assert numpy.array_equal(*map(anatomy.pixels, answers))
    assert answers[0] == answers[1]
