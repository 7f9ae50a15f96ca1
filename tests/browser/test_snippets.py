# SPDX-License-Identifier: MIT
"""The request in each language: pasted into a file it gives the bytes that the page got."""

import os
import re
import shutil
import subprocess
import sys

import pytest

import browser

ODD = "it's a $HOME; `id`, \"so\".png"
TOKEN = 'a-token-for-the-playground'
# Name of the tab, of the program, its file, and how it is run.
RUN = {
    'curl': ('bash', 'run.sh', ['bash', '-eu', 'run.sh']),
    'Python': (sys.executable, 'run.py', [sys.executable, 'run.py']),
    'JavaScript': ('node', 'run.mjs', ['node', 'run.mjs']),
    'Go': ('go', 'main.go', ['go', 'run', 'main.go']),
    'C#': ('dotnet', 'Program.cs', ['dotnet', 'run', '--project', '.']),
}
if not shutil.which('dotnet'):  # Debian has Mono
    RUN['C#'] = ('mcs', 'Program.cs', ['sh', '-c', 'mcs -langversion:latest -nowarn:1701 -r:System.Net.Http.dll Program.cs && exec mono Program.exe'])
PROJECT = """<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType><TargetFramework>net8.0</TargetFramework>
<ImplicitUsings>enable</ImplicitUsings></PropertyGroup></Project>"""
# The program in what it need not say since C# 9, as Mono's compiler knows C# 7.
AROUND = """using System; using System.IO; using System.Net.Http; using System.Threading.Tasks;
{usings}
static class Program {{
static void Main() {{ Run().GetAwaiter().GetResult(); }}
static async Task Run() {{
{statements}
}}
}}
"""


def choose(page, language):
    page.js('document.querySelector(`input[name=language][value="${arguments[0]}"]`).click()', language)
    return page.command()


def for_mono(text):
    usings = re.match(r'(using [\w.]+;\n)*', text).group(0)
    return AROUND.format(usings=usings, statements=text[len(usings):].replace('using var ', 'var '))


def run(page, language, folder, name, content):
    """What the program printed, and the file that it made."""
    program, source, command = RUN[language]
    if not shutil.which(program):
        pytest.skip(f'no {program}: programs in {language} were not run; make check-clients gets it')
    folder.mkdir()
    (folder / name).write_bytes(content)
    text = choose(page, language)
    (folder / source).write_text(for_mono(text) if program == 'mcs' else text)
    if program == 'dotnet':
        (folder / 'run.csproj').write_text(PROJECT)
    before = {'Program.exe', *(path.name for path in folder.iterdir())}
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False, env={**os.environ, 'TOKEN': TOKEN})
    assert done.returncode == 0, (page.command(), done.stdout, done.stderr)
    made = [path for path in folder.iterdir() if path.name not in before and path.is_file()]
    return done.stdout, made[0].read_bytes() if made else None


def balanced(text):
    """Whether brackets outside of strings close each other; strings end on their line."""
    pairs, stack, i = {')': '(', ']': '[', '}': '{'}, [], 0
    while i < len(text):
        if text[i] == '"':
            i += 1
            while text[i] != '"':
                assert text[i] != '\n', 'a string has no end'
                i += 2 if text[i] == '\\' else 1
        elif text[i] in '([{':
            stack.append(text[i])
        elif text[i] in pairs and (not stack or stack.pop() != pairs[text[i]]):
            return False
        i += 1
    return not stack


def long(page):
    """What is too long for a query goes into a form."""
    page.choose('convolve')
    page.set('#own > .panel:not([hidden]) textarea', '[[0,-1,0],[-1,5,-1],\n[0,-1,0' + ' ' * 3500 + ']]')
    page.find('#add').click()


def redact(page):
    page.choose('redact')
    page.find('#add').click()


CASES = {'query': lambda page: page.find('#add').click(), 'form': long, 'redact': redact}


@pytest.mark.parametrize('language', RUN)
@pytest.mark.parametrize('case,name', (('query', '-o.jpg'), ('form', ODD), ('redact', ODD)))
def test_the_program_gives_the_same_bytes(page, folder, tmp_path, language, name, case):
    page.upload(folder / name)
    page.settled('320 ×')
    CASES[case](page)
    page.settled('320 ×')
    assert run(page, language, tmp_path / 'run', name, (folder / name).read_bytes())[1] == page.download()[1]


@pytest.mark.parametrize('language', RUN)
def test_json_is_printed(page, folder, tmp_path, language):
    page.upload(folder / 'photo.jpg')
    page.settled('320 ×')
    page.choose('placeholder')
    page.settled('Placeholder')
    printed, made = run(page, language, tmp_path / 'run', 'photo.jpg', (folder / 'photo.jpg').read_bytes())
    assert b'"blurhash"' in printed and made is None


@pytest.mark.parametrize('language', RUN)
def test_the_token_comes_from_the_environment(driver, start_daemon, downloads, folder, tmp_path, language):
    path = tmp_path / 'tokens'
    path.write_text(f'{TOKEN}\n')
    page = browser.Playground(driver, start_daemon('--gpus', 'none', '--token-file', path).url(''), downloads).open()
    page.refused()
    page.find('#token').send_keys(TOKEN)
    page.settled()
    page.upload(folder / 'photo.jpg')
    page.settled('320 ×')
    assert TOKEN not in choose(page, language)
    assert run(page, language, tmp_path / 'run', 'photo.jpg', (folder / 'photo.jpg').read_bytes())[1] == page.download()[1]
    page.driver.get('about:blank')


@pytest.mark.parametrize('language,needles', (('Go', ('package main', 'http.NewRequest("POST", "http://', 'os.WriteFile(')),
                                              ('C#', ('var client = new HttpClient();', 'PostAsync("http://', 'File.WriteAllBytes('))))
@pytest.mark.parametrize('case', CASES)
def test_programs_that_are_not_run_have_their_parts(page, folder, language, needles, case):
    """Where there is no compiler: strings end, brackets match, each import is used."""
    page.upload(folder / ODD)
    page.settled('320 ×')
    CASES[case](page)
    page.settled('320 ×')
    text = choose(page, language)
    assert balanced(text) and all(needle in text for needle in needles)
    if language == 'Go':
        imports = text.split('import (')[1].split(')')[0].replace('"', '').split()
        assert all(f'{one.split("/")[-1]}.' in text.split(')', 1)[1] for one in imports)
