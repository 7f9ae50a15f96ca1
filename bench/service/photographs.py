# SPDX-License-Identifier: MIT
"""The pictures of the load test and the soak, made of given photographs. The load test takes baseline JPEGs of
1920x1080, 4:2:0, as they are; where fewer than two are given and Pillow is there, it scales the others, quality 85."""
import io
import struct

try:
    from PIL import Image, ImageOps
except ImportError:
    Image = ImageOps = None

FULL = (1920, 1080)
SEVERAL = 5
SUBSAMPLING = {"4:4:4": 0, "4:2:2": 1, "4:2:0": 2}


def frame_of(data):
    """(baseline, width, height, sampling factors) of a JPEG; None when that is none."""
    at = 2
    while data[:2] == b"\xff\xd8" and at + 9 < len(data) and data[at] == 0xFF:
        kind, length = data[at + 1], struct.unpack_from(">H", data, at + 2)[0]
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width, parts = struct.unpack_from(">HHB", data, at + 5)
            return kind == 0xC0, width, height, bytes(data[at + 11 + 3 * i] for i in range(parts))
        at += 2 + length
    return None


def jpeg(picture, subsampling="4:2:0", quality=85, **more):
    """The bytes of a JPEG; `more` as Pillow has it: progressive, exif."""
    output = io.BytesIO()
    chroma = {} if picture.mode == "L" else {"subsampling": SUBSAMPLING[subsampling]}
    picture.save(output, "JPEG", quality=quality, **chroma, **more)
    return output.getvalue()


def png(picture):
    output = io.BytesIO()
    picture.save(output, "PNG", compress_level=1)
    return output.getvalue()


def scaled(data, size, mode="RGB"):
    return ImageOps.fit(Image.open(io.BytesIO(data)).convert(mode), size, Image.Resampling.LANCZOS)


def only_pictures(paths):
    """The files of a folder that can be read as pictures."""
    return sorted(path for path in paths if path.suffix.lower() in (".jpg", ".jpeg", ".png"))


def full_hd(paths, folder):
    """(paths, where they come from in words): photographs of the load test; they are written to the folder, so that each
    program gets the same ones."""
    files = [(path, path.read_bytes()) for path in only_pictures(paths)]
    fitting = [path for path, data in files if frame_of(data) == (True, *FULL, b"\x22\x11\x11")]
    if len(fitting) > 1:
        return fitting[:SEVERAL], "as they were given"
    if Image and files:
        folder.mkdir(parents=True, exist_ok=True)
        made = []
        for path, data in sorted(files, key=lambda file: -len(file[1]))[:SEVERAL]:  # the largest files: real detail
            made.append(folder / f"{path.stem}-{len(made)}.jpg")
            if not made[-1].exists():
                made[-1].write_bytes(jpeg(scaled(data, FULL)))
        return made, "scaled, as those given have another size or sampling"
    kept = [path for path, data in files if frame_of(data)]
    return kept[:SEVERAL], "**not of 1920x1080**: there is no Pillow to scale what was given"
