# SPDX-License-Identifier: MIT
"""HEIC and AVIF files with more than one picture, as phones write them: the primary picture is answered, and the
others are said to be dropped."""

import numpy
import pytest

import anatomy
import heif
import pictures
from problems import check_problem

WIDTH, HEIGHT = 96, 64
SHOWN = '/blur?sigma=1&format=png&png_reduce=false&metadata=keep&region=999999,999999,1,1'  # changes no pixel
KINDS = ('avif', 'heic')
GAIN_MAP = heif.full(b'auxC', b'urn:com:apple:photo:2020:aux:hdrgainmap\0')
XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" ' \
      b'xmlns:dc="http://purl.org/dc/elements/1.1/" dc:source="KEPT"/></rdf:RDF></x:xmpmeta>'


class Phone(heif.File):
    """A picture with a gain map, by both of the ways that iOS 18 writes, a thumbnail, and XMP."""

    def __init__(self, kind):
        super().__init__(kind)
        small = heif.coded(kind, numpy.full((32, 48, 3), 90, numpy.uint8))
        self.shown = self.picture(heif.coded(kind, pictures.photograph(WIDTH, HEIGHT)), WIDTH, HEIGHT)
        self.gain = self.picture(small, 48, 32, GAIN_MAP)
        self.tone = self.add(b'tmap', bytes(5) + b'\x40' + bytes(32), heif.ispe(WIDTH, HEIGHT))
        self.small = self.picture(small, 48, 32)
        self.text = self.add(b'mime', XMP)
        self.refer(b'dimg', self.tone, self.shown, self.gain)


def alone(kind):
    file = heif.File(kind)
    file.picture(heif.coded(kind, pictures.photograph(WIDTH, HEIGHT)), WIDTH, HEIGHT)
    return file.write()


def dropped(answer):
    return set(filter(None, answer.headers.get('X-Metadata-Dropped', '').replace(' ', '').split(',')))


# (targets of the gain map, of the thumbnail, of the text); 's': the picture, 't': the tone map, 'm': an item that is missing
TARGETS = [('s', 's', 's'), ('st', 's', 's'), ('s', 'st', 's'), ('s', 's', 'st'), ('ts', 'ts', 'ts'), ('t', 's', 's'), ('s', 't', 's'), ('s', 's', 't'),
           ('m', 's', 's'), ('sm', 'sm', 'sm')]


@pytest.mark.parametrize('targets', TARGETS, ids=' '.join)
def test_references_to_several_items(server, targets):
    file = Phone('heic')
    names = {'s': file.shown, 't': file.tone, 'm': 999}
    for tag, item, to in zip((b'auxl', b'thmb', b'cdsc'), (file.gain, file.small, file.text), targets):
        file.refer(tag, item, *(names[name] for name in to))
    answer = server.post(SHOWN, file.write())
    assert answer.status_code == 200, answer.text
    assert (anatomy.pixels(answer.content) == anatomy.pixels(server.post(SHOWN, alone('heic')).content)).all()
    assert b'KEPT' in answer.content
    assert dropped(answer) == {'thumbnail', 'pictures'} and answer.headers['X-HDR'] == 'dropped'


def test_a_last_box_without_a_size(server):
    """The copy that the library gets ends with another box."""
    file = Phone('heic')
    file.refer(b'auxl', file.gain, file.shown, file.tone)
    body = file.write()
    at = body.index(b'meta') - 4
    assert server.post(SHOWN, body[:at] + bytes(4) + body[at + 4:]).status_code == 200


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('case, expected', [('nothing', set()), ('tone map', {'pictures'}), ('thumbnail', {'thumbnail'}), ('second', {'pictures'}),
                                            ('auxiliary', {'pictures'}), ('tiles', set())])
def test_other_pictures_are_reported(server, kind, case, expected):
    file, photo = heif.File(kind), heif.coded(kind, pictures.photograph(WIDTH, HEIGHT), *(('-y', '444') if kind == 'avif' else ()))
    if case == 'tiles':
        grid = file.add(b'grid', bytes([0, 0, 0, 0, 0, WIDTH, 0, HEIGHT]), heif.ispe(WIDTH, HEIGHT), heif.pixi(3))
        file.refer(b'dimg', grid, file.picture(photo, WIDTH, HEIGHT, heif.pixi(3)))
    else:
        shown = file.picture(photo, WIDTH, HEIGHT, heif.pixi(3))
    if case == 'tone map':
        gain = file.picture(photo, WIDTH, HEIGHT, heif.pixi(3))
        file.refer(b'dimg', file.add(b'tmap', bytes(38), heif.ispe(WIDTH, HEIGHT)), shown, gain)
    if case in ('thumbnail', 'second'):
        more = file.picture(photo, WIDTH, HEIGHT, heif.pixi(3))
        if case == 'thumbnail':
            file.refer(b'thmb', more, shown)
    if case == 'auxiliary':
        file.refer(b'auxl', file.picture(photo, WIDTH, HEIGHT, heif.pixi(3), GAIN_MAP), shown)
    answer = server.post(SHOWN, file.write())
    assert answer.status_code == 200, answer.text
    assert dropped(answer) == expected
    assert dropped(server.post(SHOWN.replace('keep', 'strip'), file.write())) == expected - {'thumbnail'}  # which nobody asked for


def test_further_pictures_beyond_the_limit_of_items_are_reported(server):
    """libavif reads an AVIF of any number of items, HEIC is refused."""
    files = {}
    for kind in KINDS:
        files[kind], photo = heif.File(kind), heif.coded(kind, pictures.photograph(WIDTH, HEIGHT))
        for _ in range(2001):
            files[kind].picture(photo, WIDTH, HEIGHT)
    assert dropped(server.post('/blur?sigma=1', files['avif'].write())) == {'pictures'}
    check_problem(server.post('/blur?sigma=1', files['heic'].write()), 'limit-exceeded', says='2001 items; the limit is 2000')
