# SPDX-License-Identifier: MIT
"""Puts the generated modules into the wheel. Their source is the program itself: $BLURD, build/release/blurd or the one in PATH."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import generate  # noqa: E402


def program():
    built = HERE.parents[1] / 'build/release/blurd'
    found = os.environ.get('BLURD') or (str(built) if built.exists() else shutil.which('blurd'))
    if not found:
        raise RuntimeError('the client is made from what `blurd --help-openapi` prints: build blurd first, or set BLURD to its path')
    return found


class Hook(BuildHookInterface):
    PLUGIN_NAME = 'custom'

    def initialize(self, version, build_data):
        self.folder = tempfile.TemporaryDirectory()
        build_data['force_include'][str(HERE.parents[1] / 'LICENSE')] = 'blurd/LICENSE'
        document = json.loads(subprocess.check_output([program(), '--help-openapi']))
        for name, text in generate.generate(document).items():
            path = pathlib.Path(self.folder.name) / name
            path.write_text(text, encoding='utf-8')
            path.chmod(0o644)
            build_data['force_include'][str(path)] = f'blurd/{name}'

    def finalize(self, version, build_data, artifact_path):
        self.folder.cleanup()
