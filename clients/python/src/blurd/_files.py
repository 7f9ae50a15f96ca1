# SPDX-License-Identifier: MIT
"""Files: a whole one or none."""

from __future__ import annotations

import contextlib
import os
import pathlib
import uuid
from typing import Union

Path = Union[str, 'os.PathLike[str]']


def write(path: Path, content: bytes) -> pathlib.Path:
    """Writes to a temporary name beside it and renames that, so that nobody sees a part of the file."""
    target = pathlib.Path(path)
    temporary = target.with_name(f'.{target.name[:200]}.{uuid.uuid4().hex[:12]}.part')
    try:
        with open(temporary, 'xb') as file:
            file.write(content)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    return target
