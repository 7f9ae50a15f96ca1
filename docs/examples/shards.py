# SPDX-License-Identifier: MIT
"""The pictures of a folder, and the rows of a job that went wrong, for ray_redact.py and spark_redact.py."""

import pathlib
import sys
import tarfile

import pyarrow
import pyarrow.dataset

PICTURES = ('.jpg', '.jpeg', '.png', '.webp', '.avif', '.heic')
ROWS = pyarrow.schema({'path': pyarrow.string(), 'bytes': pyarrow.large_binary(), 'status': pyarrow.int32(), 'error': pyarrow.string()})


def is_picture(name):
    base = name.rpartition('/')[2].lower()
    return base.endswith(PICTURES) and not base.startswith('._')  # which macOS adds


def absolute(folder):
    return folder if '://' in folder else str(pathlib.Path(folder).absolute())


def has_parquet(folder):
    """Also true for an address of storage, which no other kind of input can have."""
    return '://' in folder or any(pathlib.Path(folder).glob('**/*.parquet'))


def files(folder):
    """The names of all tars and pictures below the folder, from there."""
    root = pathlib.Path(folder)
    found = sorted(str(path.relative_to(root)) for path in root.glob('**/*') if path.is_file())
    taken = [name for name in found if name.endswith('.tar') or is_picture(name)]
    if len(taken) < len(found):
        print(f'{len(found) - len(taken)} files are neither tars nor pictures by their names, and are left out', file=sys.stderr)
    return taken or sys.exit(f'{folder} has no parquet files, tars or pictures')


def read(folder, name):
    """(path, bytes) of a picture or of each one in a tar, whose path begins with the tar's."""
    path = pathlib.Path(folder, name)
    if not name.endswith('.tar'):
        yield name, path.read_bytes()
        return
    with open(path, 'rb') as stream, tarfile.open(fileobj=stream, mode='r:') as tar:
        for member in tar:
            if member.isreg() and is_picture(member.name):
                yield f'{name}/{member.name}', tar.extractfile(member).read()
            tar.members.clear()  # which would hold each header
        stream.seek(tar.offset)  # a tar that was cut ends here, and tarfile does not mind
        if stream.read(1024) != bytes(1024):
            raise ValueError(f'{path} is cut off or damaged at byte {tar.offset}')


def finish(folder):
    """Prints the failed rows of the result, and ends the program with status 1 where there are any."""
    rows = pyarrow.dataset.dataset(folder, format='parquet')
    failed = rows.to_table(['path', 'status', 'error'], filter=pyarrow.dataset.field('status') != 200).sort_by('path').to_pylist()
    for row in failed:
        print(row['path'], row['status'], row['error'], sep='\t')
    print(f'{rows.count_rows()} pictures, {len(failed)} of them failed', file=sys.stderr)
    sys.exit(1 if failed else 0)
