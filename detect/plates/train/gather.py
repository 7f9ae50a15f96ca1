# SPDX-License-Identifier: MIT
"""Makes the data folder of train.py: the photographs of sources.json, fetched from their repositories, and the training pictures of
RobertLucian/license-plate-dataset (MIT), without those that bench/plates.py measures with.

    detect/plates/train/gather.py FOLDER [MIRRORS]

MIRRORS has git folders OWNER+NAME that are used instead of the network. FOLDER/pictures.json lists the pictures and the boxes of
their plates: left, top, width and height in pixels; `unsure` are places that may have others: those of more.json look like plates
to layers that were trained without it (propose.py)."""

import hashlib
import io
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

from PIL import Image, ImageOps

DATASET, COMMIT = 'RobertLucian/license-plate-dataset', 'f00f309'
LONGEST = 1280
PLAIN_LONGEST = 896  # of a picture without plates
QUALITY = 58
SMALL = 0.3  # of the width of a picture


def is_held_out(ride, second):
    """What bench/recall/plates.py measures with: two rides by day, and the end of that by night."""
    return ride in ('dayride_type1_002', 'dayride_type1_003') or (ride == 'nightride_type3_001' and second >= 300)


def repository(name, folder, mirrors):
    """The arguments of git for a repository; without a mirror only what is asked for is fetched."""
    place = name.replace('/', '+')
    for mirror in (mirrors / place / 'repo' / '.git', mirrors / place / 'repo', mirrors / place) if mirrors else ():
        if (mirror / 'objects').exists():
            return ['git', f'--git-dir={mirror}']
    git = folder / '.git' / place
    run = ['git', f'--git-dir={git}']
    if not git.exists():
        subprocess.run(['git', 'init', '--quiet', '--bare', git], check=True)
        subprocess.run([*run, 'remote', 'add', 'origin', f'https://github.com/{name}'], check=True)
        subprocess.run([*run, 'config', 'remote.origin.promisor', 'true'], check=True)
    return run


def show(run, commit, path):
    if subprocess.run([*run, 'cat-file', '-e', commit], stderr=subprocess.DEVNULL, check=False).returncode:
        subprocess.run([*run, 'fetch', '--quiet', '--depth=1', '--filter=blob:none', 'origin', commit], check=True)
    return subprocess.run([*run, 'show', f'{commit}:{path}'], check=True, stdout=subprocess.PIPE).stdout


def scaled(places, factor):
    return [[round(value * factor, 1) for value in place] for place in places]


def save(folder, data, source):
    """Writes a picture, upright and made smaller, and returns its entry: boxes of plates, of places where there may be
    others (`unsure`), and whether the picture was `stretched` to a square."""
    picture = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert('RGB')
    factor = min(1, (LONGEST if source.get('plates') else PLAIN_LONGEST) / max(picture.size))
    if factor < 1:
        picture = picture.resize([round(side * factor) for side in picture.size], Image.LANCZOS)
    name = hashlib.sha256(data).hexdigest()[:16] + '.webp'
    picture.save(folder / name, quality=QUALITY)
    return {'file': name, 'plates': scaled(source.get('plates', []), factor), 'unsure': scaled(unsure(source), factor),
            'stretched': source.get('stretched', False)}


def unsure(source):
    """Small vehicles without a box of a plate may have one all the same."""
    holds = lambda box: any(box[0] <= x + wide / 2 <= box[0] + box[2] and box[1] <= y + high / 2 <= box[1] + box[3]
                            for x, y, wide, high in source['plates'])
    return source.get('unsure', []) + [box for box in source.get('vehicles', []) if box[2] < SMALL * 416 and not holds(box)]


def boxes(text):
    """left, top, width and height of each object of a VOC file."""
    made = []
    for found in xml.etree.ElementTree.fromstring(text).findall('object'):
        left, top, right, bottom = (float(found.find('bndbox').find(name).text) for name in ('xmin', 'ymin', 'xmax', 'ymax'))
        made.append((left, top, right - left, bottom - top))
    return made


def dataset(folder, mirrors):
    run = repository(DATASET, folder, mirrors)
    show(run, COMMIT, 'LICENSE')
    names = subprocess.run([*run, 'ls-tree', '-r', '--name-only', COMMIT], check=True, stdout=subprocess.PIPE, text=True).stdout
    for name in names.splitlines():
        ride = re.fullmatch(r'dataset/(?:train|valid)/annots/(.*)\.mp4#t=(\d+)\.xml', name)
        if ride and not is_held_out(ride[1], int(ride[2])):
            picture = show(run, COMMIT, name.replace('/annots/', '/images/').replace('.xml', '.jpg'))
            yield save(folder, picture, {'plates': boxes(show(run, COMMIT, name))})


def main():
    folder = pathlib.Path(sys.argv[1])
    mirrors = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    folder.mkdir(parents=True, exist_ok=True)
    entries = list(dataset(folder, mirrors))
    for source in json.loads(pathlib.Path(__file__).with_name('sources.json').read_text(encoding='utf-8')):
        data = show(repository(source['repository'], folder, mirrors), source['commit'], source['path'])
        if hashlib.sha256(data).hexdigest() != source['sha256']:
            sys.exit(f"{source['path']} of {source['repository']} has another hash")
        entries.append(save(folder, data, source))
    more = json.loads(pathlib.Path(__file__).with_name('more.json').read_text(encoding='utf-8'))
    for entry in entries:
        entry['unsure'] += more.get(entry['file'], [])
    (folder / 'pictures.json').write_text(json.dumps(entries), encoding='utf-8')


if __name__ == '__main__':
    main()
