# SPDX-License-Identifier: MIT
"""L5: every call that may fail for want of memory, threads or descriptors fails in turn (fail.c)."""

import collections
import subprocess
import threading
import time

import lab
import pictures
import wire
from failing import CHANCE, LIBRARY, Control, slots

PATIENCE = 5  # seconds without an answer: it hangs
BEYOND = 3  # numbers beyond the last call that must not fail before a sweep ends
NAMED = 'X-Request-Id: torture'
READY = wire.message('GET', '/readyz')


def multipart(body, **fields):
    parts = [f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode() for name, value in fields.items()]
    image = b'--x\r\nContent-Disposition: form-data; name="image"; filename="a"\r\n\r\n' + body + b'\r\n--x--\r\n'
    return b''.join(parts) + image, 'Content-Type: multipart/form-data; boundary=x'


def kinds():
    """name -> message: a request of each kind."""
    photo = pictures.photograph(96, 64)
    rgb, jpeg = pictures.png(photo), pictures.jpeg(photo)
    palette = pictures.png(photo[:, :, :1] % 4, pictures.PALETTE, palette=photo[0, :4])
    form, form_type = multipart(rgb, sigma=2, region='3,3,20,20')
    region = '&region=9,9,30,30'
    posts = {
        'JPEG': ('/blur?sigma=2', jpeg), 'JPEG 4:2:0': ('/blur?sigma=2', pictures.small_jpeg()),
        'progressive JPEG': ('/blur?sigma=2', pictures.jpeg(photo, progressive=True)),
        'turned JPEG': ('/blur?sigma=2', pictures.with_segments(jpeg, pictures.exif_segment(6), (0xE2, b'ICC_PROFILE\0\1\1' + pictures.icc()))),
        'JPEG to PNG': ('/blur?sigma=2&format=png', jpeg), 'PNG to JPEG': ('/sharpen?format=jpeg', rgb),
        'PNG': ('/blur?sigma=2', rgb), 'PNG 16': ('/blur?sigma=2', pictures.png(photo.astype('uint16') * 257, depth=16)),
        'PNG palette': ('/blur?sigma=2', palette), 'PNG interlaced': ('/blur?sigma=2', pictures.png(photo, interlaced=True)),
        'PNG best': ('/blur?sigma=2&effort=9', pictures.png(pictures.photograph(40, 30, 2))),
        'JPEG region': ('/blur?sigma=2' + region, jpeg), 'JPEG redact': ('/pixelate?block=8&mode=redact' + region, jpeg),
        'PNG redact': ('/pixelate?block=8&mode=redact&feather=3' + region, rgb),
        'polygon': ('/blur?sigma=2&region=polygon:1,1,40,5,20,50&invert=true', rgb),
        'pipeline': ('/pipeline?ops=blur:sigma=1|convolve:kernel=1,2,1|sharpen&colorspace=linear', rgb), 'stats': ('/stats', jpeg),
        'bad parameter': ('/blur?sigma=no', jpeg), 'cut JPEG': ('/blur', jpeg[:1500]), 'cut PNG': ('/blur', rgb[:-900]),
        'PDF': ('/blur', b'%PDF-1' * 99), 'nowhere': ('/nowhere', b'x'),
    }
    found = {name: wire.message('POST', target, body, [NAMED]) for name, (target, body) in posts.items()}
    found['multipart'] = wire.message('POST', '/blur', form, [NAMED, form_type])
    found['chunked'] = wire.message('POST', '/blur?sigma=2', wire.chunked(rgb, 999), [NAMED, 'Transfer-Encoding: chunked'], length=False)
    found.update((target, wire.message('GET', target, headers=[NAMED])) for target in ('/', '/readyz', '/metrics', '/version'))
    return found


def ask(own, message):
    """(status, body, names of headers); 'closed' without an answer or with half of one, 'hangs' without any
    reaction."""
    try:
        with own.connect(PATIENCE) as connection:
            connection.send(message)
            answer = connection.answer()
            if answer:
                return answer.status, answer.body, sorted(set(answer.headers) - {'connection'})
    except TimeoutError:
        return 'hangs', b'', []
    except (AssertionError, ConnectionError):
        pass
    return 'closed', b'', []


def same(name, one, two):
    """Two answers; a problem may lack its explanation when there was no memory for it."""
    return one[0] == two[0] and one[2] == two[2] and (
        one[1] == two[1] or name == '/metrics' or name == '/readyz' or one[0] != 200 and not one[1])


class Sweep:
    """Asks for one thing with each of its calls failing, and again without."""

    def __init__(self, control):
        self.control, self.own = control, None
        self.faults, self.statuses, self.bad = 0, collections.Counter(), []

    def start(self):
        self.own = lab.start('--workers', 1, '--event-threads', 1, environment=self.control.environment())

    def blame(self, what, name, n):
        self.bad.append(f'{what}: {name}, call {n}, {self.control.last()}')
        print('     ' + self.bad[-1], flush=True)

    def one(self, name, message, wanted, n):
        """Whether something failed."""
        self.control.arm(n)
        got = ask(self.own, message)
        self.control.disarm()
        if not self.control.failed():
            return False
        self.faults += 1
        self.statuses[got[0]] += 1
        if not (same(name, got, wanted) or got[0] in (500, 503, 'closed')):
            self.blame(f'{got[0]} instead of {wanted[0]}', name, n)
        after = ask(self.own, message)
        if self.own.process.poll() is not None:
            self.blame('crash', name, n)
            self.start()
        elif not same(name, after, wanted):
            self.blame(f'afterwards {after[0]}', name, n)
        return True

    def sweep(self, name, message):
        wanted = ask(self.own, message)
        n, quiet = 1, 0
        while quiet < BEYOND:
            quiet = 0 if self.one(name, message, wanted, n) else quiet + 1
            n += 1

    def footprint(self):
        quiet = lab.daemon.eventually(lambda: self.own.metrics()['blurd_requests_in_flight'] == 1
                                      and self.own.metrics()['blurd_connections_open'] == 1)
        descriptors, pool = slots(self.own, 20)
        return {'quiet': bool(quiet), 'descriptors': descriptors, 'slots': pool, 'threads': self.own.status('Threads'),
                'slot bytes': self.own.metrics()['blurd_slot_bytes']}


def requests():
    with Control() as control:
        sweep = Sweep(control)
        sweep.start()
        messages = kinds()
        for message in messages.values():
            ask(sweep.own, message)
        before = sweep.footprint()
        for name, message in messages.items():
            sweep.sweep(name, message)
        middle, memory, before_memory = sweep.footprint(), sweep.own.status('VmRSS'), sweep.faults
        for name in ('JPEG', 'progressive JPEG', 'PNG interlaced', 'PNG 16', 'JPEG redact', 'multipart', 'pipeline'):
            for _ in range(20):
                sweep.sweep(name, messages[name])
        after, grown = sweep.footprint(), sweep.own.status('VmRSS') - memory
        sweep.own.stop()
        if not before == middle == after:
            print(f'     {before}\n     {middle}\n     {after}')
        measured = (f'{sweep.faults} failures at {control.sites()} places, {len(messages)} kinds: {lab.counted(sweep.statuses.elements())}; '
                    f'{len(sweep.bad)} wrong, hanging or dead; descriptors, slots, threads {"as before" if before == after else "differ"}; '
                    f'memory {grown:+d} KiB over the last {sweep.faults - before_memory}')
        return measured, not sweep.bad and before == after and grown < 1024


# --- the start -----------------------------------------------------------------------------------
class Start:
    """A start whose n-th call fails, and the first request after it, which is the one that makes slots."""

    def __init__(self, control, message, wanted):
        self.control, self.message, self.wanted = control, message, wanted
        self.bad, self.outcomes = [], collections.Counter()

    def blame(self, what, n, own=None):
        self.bad.append(f'{what}: call {n}, {self.control.last()}')
        print('     ' + self.bad[-1] + (': ' + ' / '.join(own.lines[-3:]) if own else ''), flush=True)

    def one(self, n, *options):
        """Whether something failed."""
        self.control.arm(n)
        try:
            own = lab.start(*options, environment=self.control.environment())
        except RuntimeError as error:
            self.control.disarm()
            lines = str(error).splitlines()[1:]
            self.outcomes['refused'] += 1
            if not any('blurd: ' in line or ' error ' in line for line in lines):
                self.blame(f'no reason is said ({" / ".join(lines)[-200:]})', n)
            return True
        first = ask(own, self.message)
        if '--cuda-library' in options:  # until its fate is known
            lab.daemon.eventually(lambda: b'"starting"' not in ask(own, READY)[1])
        self.control.disarm()
        failed = self.control.failed() > 0
        self.outcomes['serves'] += failed
        if not (same('first', first, self.wanted) or first[0] in (500, 503, 'closed') and failed):
            self.blame(f'first {first[0]}', n, own)
        if own.process.poll() is None and not same('next', ask(own, self.message), self.wanted):
            self.blame('next is wrong', n, own)
        try:
            own.stop()
        except (AssertionError, subprocess.TimeoutExpired) as error:
            self.blame(f'ends badly ({type(error).__name__} {str(error).splitlines()[0]})', n, own)
        return failed


def starts():
    message = kinds()['JPEG region']
    with lab.start() as own, Control() as control:
        start = Start(control, message, ask(own, message))
        n, quiet = 1, 0
        while quiet < BEYOND:
            quiet = 0 if start.one(n, '--workers', 2, '--event-threads', 2, '--admin-listen', '127.0.0.1', '--admin-port', 0) else quiet + 1
            n += 1
        measured = f'{n - 1 - BEYOND} calls: {lab.counted(start.outcomes.elements())}; {len(start.bad)} wrong, hanging, dead or silent'
        return measured, not start.bad


def gpu_starts(samples=60):
    """Calls of the front and of the engine process, which is given the same control."""
    message = kinds()['JPEG region']
    library = lab.BUILD['release'].parent / lab.FAKE_CUDA
    if not library.exists():
        return 'not run', 'built without CUDA headers'
    options = ('--workers', 1, '--event-threads', 1, '--gpus', 'all', '--cuda-library', library, '--gpu-timeout', '1s')
    with lab.start() as own, Control() as control:
        start = Start(control, message, ask(own, message))
        start.one(10 ** 9, *options)
        calls = control.calls()
        for n in sorted({1 + i * calls // samples for i in range(samples)}):
            start.one(n, *options)
        measured = f'{samples} of {calls} calls: {lab.counted(start.outcomes.elements())}; {len(start.bad)} wrong, hanging, dead or silent'
        return measured, not start.bad and calls > 100


# --- by chance -----------------------------------------------------------------------------------
def chance(seconds=20, clients=6, share=100):
    messages = kinds()
    with Control() as control:
        own = lab.start('--workers', 2, '--event-threads', 2, environment=control.environment())
        wanted = {name: ask(own, message) for name, message in messages.items()}
        statuses, wrong, until = collections.Counter(), [], time.monotonic() + seconds

        def work(first):
            names = list(messages)
            for i in range(first, 10 ** 9, clients):
                if time.monotonic() > until:
                    return
                name = names[i % len(names)]
                got = ask(own, messages[name])
                statuses[got[0]] += 1
                if not (same(name, got, wanted[name]) or got[0] in (500, 503, 'closed')):
                    wrong.append((name, got[0], control.last()))

        control.arm(share, CHANCE)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        control.disarm()
        after = [name for name, message in messages.items() if not same(name, ask(own, message), wanted[name])]
        own.stop()
        for found in wrong[:9] + after:
            print(f'     {found}')
        measured = f'{control.failed()} failures in {sum(statuses.values())} requests: {lab.counted(statuses.elements())}; ' \
                   f'{len(wrong)} wrong or hanging, {len(after)} afterwards'
        return measured, not wrong and not after and control.failed() > 0


def rows():
    if not LIBRARY.exists():
        return []
    return [
        lab.Row('L5', 'each call of a request that fails', '503, 500 or closed, the next 200 with the right bytes; 0 crashes, hangs, leaks', requests),
        lab.Row('L5s', 'each call of a start that fails', 'a start that says why it fails, or one that serves', starts),
        lab.Row('L5g', 'calls of a start with a GPU (fake driver) that fail', 'as L5s; the CPU serves, with the same bytes', gpu_starts),
        lab.Row('L5r', '1 % of all calls fail, 20 s of load', 'as L5', chance),
    ]
