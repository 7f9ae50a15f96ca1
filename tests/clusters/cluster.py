# SPDX-License-Identifier: MIT
"""Inputs of the examples for clusters, their runs, and what runs meanwhile."""

import io
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import threading
import time

from PIL import Image

import daemon
import faces
import pictures

try:
    import pyarrow
    import pyarrow.dataset
    import pyarrow.parquet
except ImportError:
    pass  # conftest.py says so, and the tests are skipped

EXAMPLES = daemon.ROOT / 'docs/examples'
MODEL = os.environ.get('BLURD_FACE_MODEL') or (str(faces.MODEL) if faces.MODEL.exists() else '')
# Without a model the cluster is tested all the same.
JOB = 'redact?detect=faces&require=false' if MODEL else 'redact?region=10,10,99,99'
SECONDS = 120 * daemon.SLOW


def environment(more):
    own = daemon.clean_environment(BLURD=os.path.abspath(daemon.BINARY), BLURD_WORKERS='1', BLURD_GPUS='none', BLURD_LOG_LEVEL='info', **more)
    return {**own, 'BLURD_FACE_MODEL': MODEL} if MODEL else own


# --- the input ---------------------------------------------------------------------------------------
def picture(i):
    samples = pictures.photograph(500 + i, 400, seed=i)
    if i % 3 == 0:
        return '.jpg', pictures.jpeg(samples)
    if i % 3 == 1:
        return '.png', pictures.png(samples)
    out = io.BytesIO()
    Image.fromarray(samples).save(out, 'WEBP', quality=80)
    return '.webp', out.getvalue()


def pictures_made():
    """{path: bytes} of 60 pictures, of which some are none."""
    found = {f'holiday {i % 4}/beach 1.{i}{suffix}': data for i in range(55) for suffix, data in [picture(i)]}
    good = picture(0)[1]
    found['broken/cut short.jpg'] = good[:len(good) // 2]
    found['broken/empty.jpg'] = b''
    found['broken/zero in the middle.jpg'] = b'no \0 picture'
    found['broken/nothing but zeros.png'] = bytes(1000)
    found['zeros at the end.jpg'] = good + bytes(100)
    assert len(found) == 60 and all(b'\0' in data for data in found.values() if data)
    return found


def write_parquet(folder, made):
    """In four files, so that each worker has some."""
    folder.mkdir()
    paths = list(made)
    for i in range(4):
        own = paths[i::4]
        table = pyarrow.table({'path': own, 'bytes': pyarrow.array([made[path][0] for path in own], pyarrow.large_binary())})
        pyarrow.parquet.write_table(table, folder / f'{i}.parquet', compression='none', use_dictionary=False, row_group_size=64)


def write_mixed(folder, made):
    """Two tars and single pictures; returns {path that the example gives: path}."""
    names, paths = {}, list(made)
    for shard in ('000000.tar', '000001.tar'):
        folder.mkdir(exist_ok=True)
        with tarfile.open(folder / shard, 'w') as tar:
            for path in paths[int(shard[5])::3]:
                names[f'{shard}/{path}'] = path
                for name, data in ((path, made[path][0]), (path.rpartition('.')[0] + '.json', b'{}')):
                    member = tarfile.TarInfo(name)
                    member.size = len(data)
                    tar.addfile(member, io.BytesIO(data))
    for path in paths[2::3]:
        names[path] = path
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(made[path][0])
    (folder / 'notes.txt').write_text('no picture')
    return names


# --- a run -------------------------------------------------------------------------------------------
def run(script, source, target, own, place, through=()):
    """(exit status, standard output, standard error); a run that hangs is ended."""
    command = [*through, sys.executable, EXAMPLES / script, source, target, '--job', JOB]
    with subprocess.Popen(list(map(str, command)), env=own, cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        try:
            output, log = running.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            running.kill()
            output, log = running.communicate()
    return running.returncode, output.decode(), log.decode('utf-8', 'replace')


def check(result, target, made, names=None):
    """The rows are the daemon's answers, and the failed ones are what was printed."""
    status, output, log = result
    assert status == 1, (status, log[-4000:])
    names = names or {path: path for path in made}
    rows = pyarrow.dataset.dataset(target, format='parquet').to_table().to_pylist()
    assert sorted(row['path'] for row in rows) == sorted(names)
    for row in rows:
        _, code, body = made[names[row['path']]]
        assert row['status'] == code, row['path']
        assert row['bytes'] == (body if code == 200 else b''), row['path']
        assert (row['error'] == '') == (code == 200)
    failed = [name for name, path in names.items() if made[path][1] != 200]
    assert len(failed) == 4 and sorted(line.split('\t')[0] for line in output.splitlines()) == sorted(failed)
    assert '60 pictures, 4 of them failed' in log
    for path in pathlib.Path(target).glob('*.parquet'):
        group = pyarrow.parquet.ParquetFile(path).metadata
        assert all(group.row_group(i).num_rows <= 64 for i in range(group.num_row_groups))
        column = group.row_group(0).column(1) if group.num_row_groups else None
        assert not column or (column.compression == 'UNCOMPRESSED' and not column.has_dictionary_page)


# --- processes ---------------------------------------------------------------------------------------
def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def processes(place):
    """{pid: command line} of all that were started with this folder in the environment."""
    found, mark = {}, f'TMPDIR={place}\0'.encode()
    for entry in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            if mark in (entry / 'environ').read_bytes():
                found[int(entry.name)] = (entry / 'cmdline').read_bytes().replace(b'\0', b' ').decode()[:200]
        except (OSError, ValueError):
            pass  # it has ended, or belongs to others
    return found


def daemons(place):
    """{pid: how many answers its folder's log has} of the daemons of all keepers."""
    found = {}
    for keeper, command in processes(place).items():
        try:
            children = pathlib.Path(f'/proc/{keeper}/task/{keeper}/children').read_text().split() if 'node_daemon.py' in command else ()
            for pid in children:
                if pathlib.Path(f'/proc/{pid}/comm').read_text().strip() == os.path.basename(daemon.BINARY)[:15]:
                    found[int(pid)] = pathlib.Path(command.split()[-1], 'log').read_text().count(' status=')
        except OSError:
            pass  # it has ended
    return found


class Watch:
    """Notes which daemons run, and kills one of them in the middle of its work."""

    def __init__(self, place, kill_one):
        self.place, self.left, self.killed, self.seen, self.most = place, int(kill_one), None, set(), 0
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        while not self.stop.is_set():
            now = daemons(self.place)
            self.seen |= set(now)
            self.most = max(self.most, len(now))
            worked = [pid for pid, answers in now.items() if answers > 4]
            if worked and self.left:
                self.killed, self.left = worked[0], 0
                kill(worked[0])
            time.sleep(0.02)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()
