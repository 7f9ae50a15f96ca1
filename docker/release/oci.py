#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packs an image as an OCI layout in a tar file:

    docker/release/oci.py FOLDER REFERENCE OUTPUT

FOLDER is what `buildah push IMAGE dir:FOLDER` writes. REFERENCE names the image, as blurd:1.0.0. skopeo, buildah and podman read OUTPUT
as oci-archive:OUTPUT; `docker load` of every version reads it, as it has the manifest.json of `docker save`, too.

buildah writes OCI layouts itself, but without the health check, which is no part of OCI's specification: engines that know it take it
from the same place as in Docker's format. The identifiers of the container that buildah built in are left out, and files are packed in
order and with fixed dates, so that the same image gives the same bytes."""

import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import sys
import tarfile

OF_IMAGE = ('architecture', 'os', 'created', 'rootfs', 'history')
OF_CONFIG = ('User', 'ExposedPorts', 'Env', 'Entrypoint', 'Cmd', 'WorkingDir', 'Labels', 'StopSignal', 'Healthcheck')
OCI = 'application/vnd.oci.image.'


def text(made):
    return json.dumps(made, sort_keys=True, separators=(',', ':')).encode()


class Layout:
    def __init__(self):
        self.files = {'oci-layout': text({'imageLayoutVersion': '1.0.0'})}

    def add(self, kind, data, **more):
        """A blob; what other blobs say of it."""
        digest = hashlib.sha256(data).hexdigest()
        self.files[f'blobs/sha256/{digest}'] = data
        return {'mediaType': OCI + kind, 'digest': f'sha256:{digest}', 'size': len(data), **more}

    def write(self, path, date):
        folders = sorted({parent.as_posix() for name in self.files for parent in pathlib.PurePosixPath(name).parents} - {'.'})
        with tarfile.open(path, 'w', format=tarfile.USTAR_FORMAT) as archive:
            for name in (*folders, *sorted(self.files)):
                entry = tarfile.TarInfo(name)
                entry.mtime = date
                if name in folders:
                    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                    archive.addfile(entry)
                else:
                    entry.size, entry.mode = len(self.files[name]), 0o644
                    archive.addfile(entry, io.BytesIO(self.files[name]))


def blob(folder, digest):
    data = (folder / digest.partition(':')[2]).read_bytes()
    if hashlib.sha256(data).hexdigest() != digest.partition(':')[2]:
        raise SystemExit(f'oci: {digest} has other bytes')
    return data


def layer(folder, digest, expected):
    """The files of a layer, compressed in one way."""
    data = blob(folder, digest)
    if data.startswith(b'\x1f\x8b'):
        data = gzip.decompress(data)
    if 'sha256:' + hashlib.sha256(data).hexdigest() != expected:
        raise SystemExit(f'oci: the layer is not {expected}')
    return gzip.compress(data, 9, mtime=0)


def main():
    folder, reference, output = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    date = int(os.environ['SOURCE_DATE_EPOCH'])
    manifest = json.loads((folder / 'manifest.json').read_text())
    image = json.loads(blob(folder, manifest['config']['digest']))
    config = {key: image[key] for key in OF_IMAGE if key in image}
    config['config'] = {key: image['config'][key] for key in OF_CONFIG if image['config'].get(key)}
    config['created'] = datetime.datetime.fromtimestamp(date, datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
    layout = Layout()
    layers = [layout.add('layer.v1.tar+gzip', layer(folder, each['digest'], diff))
              for each, diff in zip(manifest['layers'], config['rootfs']['diff_ids'], strict=True)]
    described = layout.add('config.v1+json', text(config))
    made = layout.add('manifest.v1+json', text({'schemaVersion': 2, 'mediaType': OCI + 'manifest.v1+json', 'config': described, 'layers': layers}),
                      platform={'architecture': config['architecture'], 'os': config['os']},
                      annotations={'org.opencontainers.image.ref.name': reference.rpartition(':')[2], 'io.containerd.image.name': f'docker.io/library/{reference}'})
    layout.files['index.json'] = text({'schemaVersion': 2, 'mediaType': OCI + 'index.v1+json', 'manifests': [made]})
    layout.files['manifest.json'] = text([{
        'Config': 'blobs/sha256/' + described['digest'][7:], 'RepoTags': [reference],
        'Layers': ['blobs/sha256/' + each['digest'][7:] for each in layers]}])
    layout.write(output, date)
    print(made['digest'])


if __name__ == '__main__':
    main()
