# SPDX-License-Identifier: MIT
"""Makes the classes of `blurd.types` from JSON."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Dict, Union, get_args, get_origin, get_type_hints


@functools.cache
def members(kind: Any) -> Dict[str, Any]:
    """{name: type} of each member of a class."""
    hints = get_type_hints(kind)
    return {one.name: hints[one.name] for one in dataclasses.fields(kind)}


def build(kind: Any, value: Any) -> Any:
    """A value of that type. Members that a class does not know are left out: a later daemon may have them."""
    origin = get_origin(kind)
    if origin is Union:  # Optional
        return None if value is None else build(get_args(kind)[0], value)
    if origin is list:
        return [build(get_args(kind)[0], one) for one in value]
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return kind(**{name: build(hint, value[name]) for name, hint in members(kind).items() if name in value})
    return value
