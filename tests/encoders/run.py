# SPDX-License-Identifier: MIT
"""Files of the newest public encoders through the daemon, and what other decoders see in the daemon's answers.

    make check-encoders                              installs and builds what it needs, and runs it
    tests/python.sh tests/encoders/run.py            with build/release/blurd
    tests/python.sh tests/encoders/run.py tiff/      files whose kind/writer/name contains one of the words; answers/jxl for answers

Each file is sent with a filter that changes no pixel, and has to come back as a PNG within 1 of 255 of what a decoder sees that shares no code
with the daemon's, if there is one (REFERENCES); of files without losses also of what was written. How far other decoders are off is counted
beside it. A table says for each kind and encoder how many files were tried; failures are named, and the exit status is 1.

A decoder that is known to be wrong about some files is not asked about them: KNOWN says why, and the table how often."""

import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import libraries  # noqa: E402  pylint: disable=unused-import

import answers  # noqa: E402
import apng  # noqa: E402
import browser  # noqa: E402
import daemon  # noqa: E402
import decoders  # noqa: E402
import files_animated  # noqa: E402
import files_jxl  # noqa: E402
import files_still  # noqa: E402
import files_tiff  # noqa: E402
import known  # noqa: E402
import truth  # noqa: E402
from case import Shelf  # noqa: E402

UNFILTERED = '/blur?sigma=1&format=png&png_reduce=false&region=999999,999999,1,1'

# The first that can read the file and is right about it. What the daemon calls itself comes last: for JPEG XL and AVIF there is
# no second implementation in Debian or PyPI, so that another version of libjxl and of the AV1 decoder has to do.
REFERENCES = {
    'jxl': ('restored', 'imagecodecs', 'program', 'ffmpeg'), 'tiff': ('tifffile', 'PyAV', 'Pillow', 'libvips'), 'bmp': ('PyAV', 'Chromium', 'Pillow', 'imagecodecs'),
    'gif': ('libvips', 'Chromium', 'PyAV', 'Pillow'), 'png': ('PyAV', 'Chromium', 'rules', 'Pillow', 'libvips'), 'webp': ('program', 'libvips', 'Pillow', 'Chromium'),
    'avif': ('program', 'libvips', 'Pillow'), 'jpeg': ('Pillow', 'libvips', 'imagecodecs'),
}
TELL_TIMES = ('libvips', 'Chromium', 'rules', 'Pillow')


def look(case, name):
    """Seen, or why not."""
    try:
        return decoders.ALL[name](case.body, case.kind)
    except decoders.Unable:
        return None
    except Exception as error:  # pylint: disable=broad-except  # each library has errors of its own
        return f'{type(error).__name__}: {str(error).strip()[-100:]}'


def apart(seen, frames):
    """What is wrong with frames, or None."""
    if len(seen.frames) != len(frames):
        return f'{len(seen.frames)} frames, not {len(frames)}'
    for number, (theirs, ours) in enumerate(zip(seen.frames, frames)):
        complaint = truth.difference(theirs, ours)
        if complaint:
            return f'frame {number}: {complaint}' if len(frames) > 1 else complaint
    return None


class Result:
    """What came of a file: complaints about the daemon, and {decoder: what it says instead} beside the reference."""

    def __init__(self, case, server):
        self.case, self.complaints, self.others, self.reference = case, [], {}, None
        answer = server.post(UNFILTERED + case.query, case.body)
        if case.refused:
            if answer.status_code != 415 or case.refused not in answer.text:
                self.complaints.append(f'status {answer.status_code} {answer.text[:200] if answer.status_code != 200 else ""}, not 415 that says {case.refused}')
            return
        if answer.status_code != 200:
            self.complaints.append(f'status {answer.status_code}: {answer.json().get("detail", "")}')
            return
        self.frames, self.delays = apng.read(answer.content)
        if case.samples is not None:
            complaint = truth.difference(case.samples, self.frames[0])
            if complaint:
                self.complaints.append(f'what was written: {complaint}')
        self.compare()

    def compare(self):
        case = self.case
        for name in (*REFERENCES[case.kind], *(set(decoders.ALL) - set(REFERENCES[case.kind]))):
            reason = known.wrong(case, name)
            seen = None if reason else look(case, name)
            if reason:
                self.others[name] = reason
            elif isinstance(seen, str):
                self.others[name] = seen
            elif seen:
                frames = self.frames[:len(seen.frames)] if name in ('program', 'ffmpeg') else self.frames
                complaint = apart(seen, frames)
                if self.reference is None and name in REFERENCES[case.kind]:
                    self.reference = name
                    late = self.delays and seen.delays and name in TELL_TIMES and [(a, b) for a, b in zip(self.delays, seen.delays) if abs(a - b) > 1]
                    complaint = complaint or (late and f'times {self.delays}, not {seen.delays}')
                    self.complaints += [f'{name}: {complaint}'] if complaint else []
                elif complaint:
                    self.others[name] = complaint
        if self.reference is None and case.samples is None:
            self.complaints.append('no decoder reads it: ' + '; '.join(f'{name}: {said}' for name, said in self.others.items()))


def table(results):
    """Rows of what was tried."""
    rows = collections.defaultdict(list)
    for one in results:
        rows[one.case.kind, one.case.writer].append(one)
    print('| kind | encoder | files | within 1 | refused as promised | wrong | compared with |')
    print('|---|---|---|---|---|---|---|')
    for (kind, writer), some in sorted(rows.items()):
        refused = sum(1 for one in some if one.case.refused and not one.complaints)
        wrong = sum(1 for one in some if one.complaints)
        references = collections.Counter(one.reference for one in some if one.reference)
        exact = sum(1 for one in some if one.case.samples is not None and not one.case.refused)
        compared = [f'{name} {count}' for name, count in references.most_common()] + ([f'samples {exact}'] if exact else [])
        print(f'| {kind} | {writer} | {len(some)} | {len(some) - refused - wrong} | {refused} | {wrong} | {", ".join(compared)} |')


def disagreements(results):
    """Which decoders saw something else, how often, with one example each."""
    found = collections.defaultdict(list)
    for one in results:
        for name, said in one.others.items():
            found[one.case.kind, name].append((said, one.case))
    for (kind, name), some in sorted(found.items()):
        said, case = some[0]
        print(f'other: {kind}, {name}: {len(some)} files, such as {case.writer}, {case.name}: {said}')


def main():
    words = sys.argv[1:] or ['']
    print('\n'.join(libraries.versions()))
    print(f'Chromium {browser.version()}')
    shelf = Shelf()
    for module in (files_jxl, files_tiff, files_still, files_animated):
        module.files(shelf)
    cases = [case for case in shelf.cases if any(word in f'{case.kind}/{case.writer}/{case.name}' for word in words)]
    with daemon.Daemon('--gpus', 'none') as server:
        reads = server.get('/version').json()['formats']['reads']
        results = [Result(case, server) for case in cases if case.kind in reads]
        wrong = answers.judge(server, [word.removeprefix('answers/') for word in words if word.startswith(('answers/', 'answers')) or not word])
    print(''.join(f'not written: {line}\n' for line in shelf.unwritten), end='')
    disagreements(results)
    table(results)
    failures = [f'{one.case.kind}, {one.case.writer}, {one.case.name}: {complaint}' for one in results for complaint in one.complaints] + wrong
    print('\n'.join(f'FAIL {failure}' for failure in failures))
    print(f'{len(results)} files, {len(failures)} failures')
    sys.exit(bool(failures))


if __name__ == '__main__':
    main()
