# SPDX-License-Identifier: MIT
"""Measures other libraries with the pictures of the load test on the same machine: torchvision on the GPU
(decode_jpeg, gaussian_blur, encode_jpeg) and OpenCV on all cores, each with JPEG bytes in and out, quality
85. Prints Markdown.

    peers.py --out FOLDER [--ours FOLDER/load.json] [--seconds 2] [--cuda cuda|cpu] [--quick] PICTURE...

Not over HTTP, which is in their favour. A library that is not installed is left out, and a line says so. The
first results of each are discarded. --cuda cpu: torchvision without a GPU, to try this program."""
import argparse
import contextlib
import importlib.util
import json
import math
import multiprocessing
import os
import pathlib
import sys
import threading
import time

import photographs
from load import SIGMAS

QUALITY = 85
THREADS = (1, 4, 8, 16)
BATCH = 16
SLOW_S = 0.25  # a picture that takes longer alone fills the device: more threads are not tried
HOPELESS_S = 15  # what would take longer is not run


def kernel_size(sigma):
    return 2 * math.ceil(3 * sigma) + 1


# --- OpenCV -----------------------------------------------------------------------------
def opencv_process(files, sigma, seconds, barrier, results):
    import cv2
    import numpy
    cv2.setNumThreads(1)
    quality = [cv2.IMWRITE_JPEG_QUALITY, QUALITY]

    def blur(data):
        picture = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_COLOR)
        picture = cv2.GaussianBlur(picture, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)
        return cv2.imencode(".jpg", picture, quality)[1].tobytes()

    blur(files[0])
    barrier.wait()
    begin, count = time.monotonic(), 0
    while count == 0 or time.monotonic() - begin < seconds:
        blur(files[count % len(files)])
        count += 1
    results.put(count / (time.monotonic() - begin))


def opencv(files, sigma, options):
    """Pictures/s of a process for each core."""
    context = multiprocessing.get_context("spawn")
    count = len(os.sched_getaffinity(0))
    barrier, results = context.Barrier(count), context.Queue()
    processes = [context.Process(target=opencv_process, args=(files, sigma, options.seconds, barrier, results))
                 for _ in range(count)]
    for process in processes:
        process.start()
    rate = sum(results.get(timeout=120) for _ in processes)
    for process in processes:
        process.join()
    return rate, f"{count} processes"


# --- torchvision ------------------------------------------------------------------------
class Torchvision:
    def __init__(self, files, device):
        import torch
        import torchvision
        self.torch, self.device = torch, device
        self.io, self.blur = torchvision.io, torchvision.transforms.functional.gaussian_blur
        self.alone = {}  # sigma -> seconds of a picture alone
        self.files = [torch.frombuffer(bytearray(data), dtype=torch.uint8) for data in files]
        self.about = f"torchvision {torchvision.__version__}, PyTorch {torch.__version__}"

    def run(self, number, many, sigma):
        """Bytes in, bytes out: so many pictures, from the number on."""
        inputs = [self.files[(number + i) % len(self.files)] for i in range(many)]
        pictures = self.io.decode_jpeg(inputs, mode=self.io.ImageReadMode.RGB, device=self.device)
        size = kernel_size(sigma)
        if len({picture.shape for picture in pictures}) == 1:
            pictures = list(self.blur(self.torch.stack(pictures), [size, size], [sigma, sigma]))
        else:
            pictures = [self.blur(picture, [size, size], [sigma, sigma]) for picture in pictures]
        self.wait(self.torch.cuda.current_stream)  # encode_jpeg has a stream of its own, which does not wait for ours,
        answers = self.io.encode_jpeg(pictures, quality=QUALITY)
        self.wait(self.torch.cuda.default_stream)  # and fetches on the default one
        return [answer.cpu().numpy().tobytes() for answer in answers]

    def wait(self, stream):
        if self.device == "cuda":
            stream().synchronize()

    def time_alone(self, sigma):
        with self.torch.inference_mode():
            self.run(0, 1, sigma)
            begin = time.monotonic()
            self.run(1, 1, sigma)
        self.alone[sigma] = time.monotonic() - begin
        return self.alone[sigma]

    def predicted(self, sigma):
        """Seconds of a picture, from the largest sigma before it: the work grows with the kernel's area."""
        if not self.alone:
            return 0
        largest = max(self.alone)
        return self.alone[largest] * (kernel_size(sigma) / kernel_size(largest)) ** 2

    def thread(self, number, many, sigma, until, counts):
        with self.torch.inference_mode(), self.stream():
            self.run(number, many, sigma)
            self.barrier.wait()
            begin = time.monotonic()
            while counts[number][0] == 0 or time.monotonic() - begin < until:
                self.run(number + counts[number][0], many, sigma)
                counts[number][0] += many
            counts[number][1] = time.monotonic() - begin

    def stream(self):
        return self.torch.cuda.stream(self.torch.cuda.Stream()) if self.device == "cuda" else contextlib.nullcontext()

    def rate(self, threads, many, sigma, seconds):
        """Pictures/s; raises errors."""
        self.barrier = threading.Barrier(threads)
        counts, errors = [[0, 0.0] for _ in range(threads)], []

        def guarded(number):
            try:
                self.thread(number, many, sigma, seconds, counts)
            except Exception as error:  # of any library below: it goes to the caller
                errors.append(error)
                self.barrier.abort()

        running = [threading.Thread(target=guarded, args=(i,)) for i in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        if errors:
            raise next((error for error in errors if not isinstance(error, threading.BrokenBarrierError)), errors[0])
        return sum(count / took for count, took in counts)


def torchvision_best(peer, sigma, options):
    """(pictures/s, how) of the best way; all ways go to the log."""
    if peer.predicted(sigma) > HOPELESS_S:
        return 1 / peer.predicted(sigma), "not run: predicted from the largest kernel before"
    alone = peer.time_alone(sigma)
    ways = [(threads, 1) for threads in THREADS] + [(1, BATCH)]
    if options.quick:
        ways = [(2, 1), (1, 2)]
    if alone > SLOW_S:
        ways = [(1, 1)]
    rates = []
    for threads, many in ways:
        name = f"a batch of {many}" if many > 1 else f"{threads} threads" if threads > 1 else "1 thread"
        try:
            rates.append((peer.rate(threads, many, sigma, options.seconds), name))
        except RuntimeError as error:  # out of memory, mostly
            print(f"{name}, sigma {sigma}: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        print(f"torchvision, sigma {sigma}, {name}: {rates[-1][0]:.1f}/s", file=sys.stderr)
    return max(rates) if rates else (None, "fails")


# --- the table --------------------------------------------------------------------------
def our_rates(path):
    """(codec, sigma) -> the best requests/s of the load test."""
    rates = {}
    if path and path.exists():
        for codec, result in json.loads(path.read_text()).items():
            for cell in result["cells"]:
                key = codec, cell["sigma"]
                rates[key] = max(rates.get(key, 0), cell["rate"])
    return rates


def measured(name, run, sigmas):
    rows = {}
    for sigma in sigmas:
        try:
            rows[sigma] = run(sigma)
        except (RuntimeError, ValueError) as error:
            print(f"\n{name} refuses sigma {sigma}: {str(error).splitlines()[0]}")
            rows[sigma] = None, "refused"
    return rows


def table(peers, ours, sigmas):
    codecs = list(dict.fromkeys(codec for codec, _ in ours))
    print("\n| sigma | " + " | ".join([f"{name}, pictures/s | how" for name in peers] +
                                      [f"blurd, `{codec}`, requests/s | " + " | ".join(f"to {name}" for name in peers)
                                       for codec in codecs]) + " |")
    print("|" + "--:|" * (1 + 2 * len(peers) + len(codecs) * (1 + len(peers))))
    for sigma in sigmas:
        cells = [str(sigma)]
        for rows in peers.values():
            rate, how = rows[sigma]
            cells += [f"{rate:.4g}" if rate else "-", how]
        for codec in codecs:
            own = ours.get((codec, sigma))
            cells.append(f"{own:.0f}" if own else "-")
            cells += [f"{own / rows[sigma][0]:.3g}x" if own and rows[sigma][0] else "-" for rows in peers.values()]
        print("| " + " | ".join(cells) + " |")


def missing(*modules):
    return [module for module in modules if importlib.util.find_spec(module) is None]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--ours", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--cuda", default="cuda")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("pictures", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    paths, _ = photographs.full_hd(options.pictures, options.out / "photographs")
    files = [path.read_bytes() for path in paths]
    sigmas = SIGMAS[1:2] if options.quick else SIGMAS
    print(f"\n### Others, the same {len(files)} photographs\n\nJPEG bytes in, JPEG bytes of quality {QUALITY} out, in memory: "
          "without HTTP, which is in their favour. torchvision: `decode_jpeg`,\n`gaussian_blur` with a kernel of "
          "2 ceil(3 sigma) + 1, `encode_jpeg`, all on the GPU, the best of "
          f"{', '.join(map(str, THREADS))} threads with a stream each\nand batches of {BATCH}; it writes 4:4:4 and nothing else. OpenCV: "
          "`imdecode`, `GaussianBlur`, `imencode` in a process for each core, one thread each.")
    peers = {}
    if missing("cv2", "numpy"):
        print("\nOpenCV is not installed here and is left out.")
    else:
        peers["OpenCV"] = measured("OpenCV", lambda sigma: opencv(files, sigma, options), sigmas)
    if missing("torch", "torchvision"):
        print("\ntorchvision is not installed here and is left out.")
    else:
        peer = Torchvision(files, options.cuda)
        if options.cuda == "cuda" and not peer.torch.cuda.is_available():
            print(f"\n{peer.about} sees no GPU and is left out.")
        else:
            print(f"\n{peer.about}.")
            peers["torchvision"] = measured("torchvision", lambda sigma: torchvision_best(peer, sigma, options), sigmas)
    if peers:
        table(peers, our_rates(options.ours), sigmas)


if __name__ == "__main__":
    main()
