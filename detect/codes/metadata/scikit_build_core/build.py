# SPDX-License-Identifier: MIT
"""Stands in for the package that builds zxing-cpp, which is only downloaded: tells pip its name and version."""
import os
import re


def prepare_metadata_for_build_wheel(folder, _settings=None):
    """Writes the least that pip reads; the working folder is the package's."""
    version = re.search(r'^version = "([\d.]+)"', open("pyproject.toml").read(), re.M).group(1)
    name = f"zxing_cpp-{version}.dist-info"
    os.mkdir(os.path.join(folder, name))
    with open(os.path.join(folder, name, "METADATA"), "w") as file:
        file.write(f"Metadata-Version: 2.1\nName: zxing-cpp\nVersion: {version}\n")
    return name
