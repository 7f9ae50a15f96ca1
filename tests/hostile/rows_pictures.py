# SPDX-License-Identifier: MIT
"""I1 to I11: hostile pictures."""

import random

from PIL import Image

import bombs
import lab
import newer
import newest
import pictures
from lab import row

MILLISECONDS = 1000
GOOD = {200, 400, 415, 422}


def costs(own, bodies, times=3):
    return {name: lab.Cost(own, body, times=times) for name, body in bodies.items()}


def worst(found, what):
    return max(found.items(), key=lambda item: getattr(item[1], what))


def all_statuses(found):
    return [status for cost in found.values() for status in cost.statuses]


def told(ratio, errors, count):
    return f'good client beside {count} of them: p99 x {ratio:.1f}, {errors} errors'


# --- I1, I2: size from the header ------------------------------------------------------------------
@row('I1', 'PNG that inflates to gigabytes', '422 from IHDR, answer <= 10 ms, memory <= 8 MiB beyond the body, isolated')
def huge_png():
    with lab.start() as own:
        files = {'50000 x 50000, 1 bit': bombs.png_of_zeros(50000, 50000, 1, 0),
                 '20000 x 20000, gray': bombs.png_of_zeros(20000, 20000, 8, 0),
                 '30000 x 30000, RGBA 16, no data': bombs.png(bombs.header(30000, 30000, 16, 6))}
        files.update({r['path']: r['data'] for r in lab.manifest('hostile/bombs/png_', 'reject-413-or-422')})
        found = costs(own, files)
        wait, memory = worst(found, 'wait')[1].wait, max(c.memory - len(files[n]) / 2 ** 20 for n, c in found.items())
        beside = lab.isolation(own, lambda client: client.ask(files['50000 x 50000, 1 bit']))
    statuses = all_statuses(found)
    measured = f'{len(files)} files: {lab.counted(statuses)}; {wait * MILLISECONDS:.1f} ms; {memory:.1f} MiB; {told(*beside)}'
    return measured, set(statuses) == {422} and wait <= 0.010 and memory <= 8 and beside[0] <= 2 and beside[1] == 0


@row('I2', 'JPEG header of 65500 x 65500', '422 from SOF, answer <= 10 ms, memory <= 8 MiB')
def huge_jpeg():
    with lab.start() as own:
        files = bombs.huge_jpegs()
        files.update({r['path']: r['data'] for r in lab.manifest('hostile/bombs/', 'reject-413-or-422') if r['path'].endswith('.jpg')})
        found = costs(own, files)
    wait, memory, statuses = worst(found, 'wait')[1].wait, worst(found, 'memory')[1].memory, all_statuses(found)
    measured = f'{len(files)} files: {lab.counted(statuses)}; {wait * MILLISECONDS:.1f} ms; {memory:.1f} MiB'
    return measured, set(statuses) == {422} and wait <= 0.010 and memory <= 8


# --- I3: data that cannot be there -------------------------------------------------------------------
@row('I3', 'size below the limit, data that cannot fill it', '400 before decoding, <= 10 ms; no good file refused')
def implausible():
    small = Image.new('RGB', (16, 16))
    files = {'JPEG, 64 MP': bombs.with_size(bombs.save(small), 8000, 8000),
             'JPEG, 64 MP, progressive': bombs.with_size(bombs.save(small, progressive=True), 8000, 8000),
             'PNG, 64 MP': bombs.png(bombs.header(8000, 8000, 8, 2)),
             'PNG, 64 MP, 16 bit': bombs.png(bombs.header(8000, 8000, 16, 6), data=bombs.zeros(1 << 20))}
    with lab.start() as own:
        found = costs(own, files)
        good = [r for r in lab.manifest('', 'ok') if int(r['width'] or 0) * int(r['height'] or 0) <= 64000000 and
                '/corrupt/pillow_apng' not in r['path']]  # good as stills, whose frames are damaged
        refused = [r['path'] for r, status in zip(good, lab.ask_all(own, [r['data'] for r in good])) if status not in (200, 415)]
    wait, statuses = worst(found, 'wait')[1].wait, all_statuses(found)
    measured = f'{lab.counted(statuses)}; {wait * MILLISECONDS:.1f} ms; {len(refused)} of {len(good)} good files refused'
    return measured, set(statuses) == {400} and wait <= 0.010 and not refused


# --- I4: scans -----------------------------------------------------------------------------------------
def scan_bombs():
    files = {f'{count} scans, 16 MP': bombs.scan_bomb(4000, 4000, count) for count in (101, 500, 5000)}
    before, scan = bombs.scans(bombs.blank_progressive(4000, 4000))
    files['as many as fit, 16 MP'] = bombs.scan_bomb(4000, 4000, (bombs.BODY_MAX - len(before) - 2) // len(scan))
    files['5000 scans, 64 MP'] = bombs.scan_bomb(8000, 8000, 5000)
    files.update({r['path'].split('/')[-1]: r['data'] for r in lab.manifest('hostile/bombs/jpeg_scan_bomb')})
    return files


@row('I4', 'JPEG of hundreds to thousands of scans', '422, or 400 where they are invalid; CPU <= 0.6 s at 16 MP, <= 2 s at 64 MP, isolated')
def many_scans():
    files = scan_bombs()
    with lab.start() as own:
        found = costs(own, files, times=1)
        beside = lab.isolation(own, lambda client: client.ask(files['5000 scans, 16 MP']))
    large = {n: c for n, c in found.items() if '64 MP' in n}
    usual = {n: c for n, c in found.items() if '64 MP' not in n}
    statuses = all_statuses(found)
    measured = (f'{len(files)} files: {lab.counted(statuses)}; CPU {worst(usual, "cpu")[1].cpu:.2f} s ({worst(usual, "cpu")[0]}), '
                f'{worst(large, "cpu")[1].cpu:.2f} s at 64 MP; {told(*beside)}')
    return measured, set(statuses) <= {400, 422} and 422 in statuses and worst(usual, 'cpu')[1].cpu <= 0.6 and worst(large, 'cpu')[1].cpu <= 2 and \
        beside[0] <= 2 and beside[1] == 0


# --- I5, I6: markers and chunks --------------------------------------------------------------------------
@row('I5', '20 MiB of JPEG segments before the picture', '200 or 422, CPU <= 50 ms')
def marker_flood():
    with lab.start() as own:
        found = costs(own, bombs.markers())
        # the cost of receiving 20 MiB and discarding them
        base = lab.Cost(own, b'%PDF-1' + bytes(bombs.BODY_MAX - 6), times=3).cpu
    name, cost = worst(found, 'cpu')
    statuses = all_statuses(found)
    own_cpu = cost.cpu - base
    measured = (f'{len(found)} files: {lab.counted(statuses)}; CPU {own_cpu * MILLISECONDS:.0f} ms beside {base * MILLISECONDS:.0f} ms '
                f'for receiving ({name})')
    return measured, set(statuses) <= {200, 422} and own_cpu <= 0.050


@row('I6', 'PNG chunks that inflate, fill or flood', '200, or 400 where the pixel data is none; CPU <= 50 ms, memory <= 16 MiB beyond the body')
def chunk_flood():
    files = bombs.png_ancillary()
    files.update({r['path'].split('/')[-1]: r['data'] for r in lab.manifest('hostile/bombs/png_', 'either')})
    with lab.start() as own:
        lab.Cost(own, b'%PDF-1' + bytes(bombs.BODY_MAX - 6))  # slots exist
        found = costs(own, files)
        base = lab.Cost(own, b'%PDF-1' + bytes(bombs.BODY_MAX - 6), times=3).cpu
    cost_of = {n: c.cpu - base * len(files[n]) / bombs.BODY_MAX for n, c in found.items()}
    memory = max(c.memory - len(files[n]) / 2 ** 20 for n, c in found.items())
    name = max(cost_of, key=cost_of.get)
    statuses = all_statuses(found)
    measured = (f'{len(files)} files: {lab.counted(statuses)}; CPU {cost_of[name] * MILLISECONDS:.0f} ms beside receiving ({name}); '
                f'{max(0, memory):.1f} MiB')
    return measured, set(statuses) <= {200, 400, 422} and cost_of[name] <= 0.050 and memory <= 16


# --- I7, I8: damage -----------------------------------------------------------------------------------------
def victims():
    photo = pictures.photograph(96, 80)
    moving = {name: data for name, data in newest.good().items() if name != 'gain map'}  # its base is whole without the map
    return {'jpeg': pictures.jpeg(photo, subsampling='420'), 'progressive': pictures.jpeg(photo, progressive=True),
            'cmyk': pictures.jpeg(pictures.photograph(48, 40, 4)), 'restarts': pictures.mosaic_jpeg(photo[:, :, 0][:10, :11] // 2, 3),
            'png': pictures.png(pictures.photograph(60, 50)), 'png rgba': pictures.png(pictures.photograph(30, 20, 4)),
            'png interlaced': pictures.png(photo[:50, :60].astype(int) * 257, depth=16, interlaced=True), **newer.good(), **moving}


def mutate(data, order):
    """A copy with one to eight changes: bytes, bits, cuts, copies."""
    out = bytearray(data)
    for _ in range(order.randrange(1, 9)):
        at = order.randrange(len(out))
        kind = order.randrange(6)
        if kind == 0:
            out[at] = order.randrange(256)
        elif kind == 1:
            out[at] ^= 1 << order.randrange(8)
        elif kind == 2:
            out[at] = order.choice((0, 1, 0x7F, 0x80, 0xFE, 0xFF))
        elif kind == 3 and len(out) > 40:
            del out[at:at + order.randrange(1, 17)]
        elif kind == 4:
            begin = order.randrange(len(out))
            out[at:at] = out[begin:begin + order.randrange(1, 33)]
        else:
            out[at:at + 4] = order.choice((b'\xff\xff\xff\xff', b'\0\0\0\0', b'\x7f\xff\xff\xff', b'\xff\xd8\xff\xda'))
    return bytes(out)


def mutants(bodies, count, seed):
    order = random.Random(seed)
    bodies = list(bodies)
    return [mutate(bodies[i % len(bodies)], order) for i in range(count)]


def damaged():
    """Cut at every percent, every byte of the first KiB flipped, seeded mutants of all formats."""
    found = []
    for data in victims().values():
        found += [data[:len(data) * percent // 100] for percent in range(1, 100)]
        found += [data[:i] + bytes((data[i] ^ 0xFF,)) + data[i + 1:] for i in range(min(1024, len(data)))]
    corpus = lab.small_corpus(8 << 10, 400)
    for magic in (b'\xff\xd8', b'\x89P'):
        seeds = [d for d in [*victims().values(), *corpus] if d[:2] == magic]
        found += mutants(seeds, lab.Options.mutants, lab.Options.seed)
    modern = newer.samples(64 << 10).values()
    return found + list(modern) + mutants([*newer.good().values(), *newest.good().values(), *modern], lab.Options.mutants, lab.Options.seed)


@row('I7', 'cut, flipped and mutated files', 'statuses 200, 400, 415, 422 only, 0 sanitizer reports (ASan build)')
def mutations():
    bodies = damaged()
    with lab.start(config='asan') as own:
        statuses = lab.ask_all(own, bodies)
        alive = own.process.poll() is None
        reports = len(own.reports())
    measured = f'{len(bodies)} files: {lab.counted(statuses)}; {reports} reports'
    return measured, set(statuses) <= GOOD and alive and reports == 0


@row('I8', 'files cut by 1 % and more', 'never a 200')
def truncated():
    whole = {**victims(), 'large jpeg': pictures.jpeg(pictures.photograph(800, 600)), 'large png': pictures.png(pictures.photograph(200, 150))}
    files = [(name, data[:len(data) * percent // 100]) for name, data in whole.items() for percent in range(1, 100)
             if len(data) * (100 - percent) // 100 > 14]  # the last bytes of a file hold no picture: IEND, EOI
    files += [(r['path'], r['data']) for r in lab.manifest('hostile/truncated/', 'reject-400')]
    with lab.start() as own:
        statuses = lab.ask_all(own, [data for _, data in files])
    taken = [name for (name, _), status in zip(files, statuses) if status == 200]
    return f'{len(files)} files: {lab.counted(statuses)}{"; taken: " + taken[0] if taken else ""}', not taken and set(statuses) <= GOOD


# --- I9 to I11: formats ------------------------------------------------------------------------------------------
@row('I9', 'unusual but legal files', 'as the table of the corpus says')
def unusual():
    rows = lab.manifest('formats/') + lab.manifest('hostile/pngsuite/')
    if not rows:
        return 'no corpus here', 'the corpus is not part of the repository'
    with lab.start() as own:
        statuses = lab.ask_all(own, [r['data'] for r in rows])
    wrong = [r['path'] for r, status in zip(rows, statuses) if str(status) not in r['accept_status'].split(',')]
    return f'{len(rows)} files: {lab.counted(statuses)}; {len(wrong)} not as listed {" ".join(wrong[:2])}'.rstrip(), not wrong


FORMATS = {'SVG': b'<svg xmlns="http://www.w3.org/2000/svg"/>', 'PSD': b'8BPS' + bytes(40),
           'PDF': b'%PDF-1.7\n' + bytes(40), 'ZIP': b'PK\3\4' + bytes(40), 'HTML': b'<!doctype html><script>1</script>', 'text': b'a text' * 9,
           'MP4': b'\0\0\0\x18ftypisom' + bytes(60), 'WAVE': b'RIFF\x40\0\0\0WAVEfmt ' + bytes(50), 'text of BM': b'BM' + b'W' * 60, 'zeros': bytes(1000), 'one byte': b'x'}


@row('I10', 'other formats and polyglots', '415 by the magic bytes, empty 400, 100 %')
def other_formats():
    files = dict(FORMATS)
    files.update({r['path']: r['data'] for r in lab.manifest('hostile/wrongformat/', 'reject-415')
                  if not r['format_detail'].startswith(('webp', 'isobmff', 'tiff', 'bmp', 'gif', 'jxl', 'jpeg xl')) and not r['path'].endswith(('.gif', '.jxl'))})  # a build may read them
    with lab.start() as own:
        statuses = dict(zip(files, lab.ask_all(own, files.values())))
        empty = lab.Cost(own, b'').statuses[0]
        mixed = lab.manifest('hostile/polyglot/')
        taken = lab.ask_all(own, [r['data'] for r in mixed])
    wrong = [n for n, status in statuses.items() if status != 415]
    wrong += [r['path'] for r, status in zip(mixed, taken) if str(status) not in r['accept_status'].split(',')]
    measured = f'{len(files)} files: {lab.counted(statuses.values())}; empty: {empty}; {len(mixed)} polyglots: {lab.counted(taken)}'
    return measured + (f'; wrong: {wrong[:3]}' if wrong else ''), not wrong and empty == 400


@row('I11', 'wrong Content-Type', 'the magic bytes decide: 200; multipart that is none 400; too long 431')
def content_types():
    jpeg, form = pictures.small_jpeg(), 'multipart/form-data; boundary=x'
    table = {('image/png', jpeg): 200, ('image/jpeg', pictures.small_png()): 200, ('text/html', jpeg): 200, ('', jpeg): 200,
             ('nonsense', jpeg): 200, ('application/x-www-form-urlencoded', jpeg): 200, (form, jpeg): 400,
             ('multipart/form-data', jpeg): 400, ('image/jpeg; ' + 'a' * 10000, jpeg): 200, ('a' * 17000, jpeg): 431}
    with lab.start() as own:
        found = {case: lab.Cost(own, case[1], headers=[f'Content-Type: {case[0]}']).statuses[0] for case in table}
        found['none', jpeg], table['none', jpeg] = lab.Cost(own, jpeg).statuses[0], 200
    wrong = [f'{case[0][:30]}: {found[case]}' for case in table if found[case] != table[case]]
    return f'{len(table) - len(wrong)} of {len(table)} {" ".join(wrong)}'.rstrip(), not wrong
