# SPDX-License-Identifier: MIT
"""What the shells offer where a command line of blurd is completed: each shell runs, with the script that blurd prints for it."""

import os
import pty
import select
import shutil
import subprocess
import time

import pytest

import daemon

PROMPT = b'READY>'
PROFILES = {
    # The function that bash would call, within the completion of a line that is typed.
    'bash': """PS1='READY>'
source ./_blurd
probe() { _blurd; printf '%s\\n' "${COMPREPLY[@]}" >offered; : >done; }
complete -F probe blurd
""",
    # All that is added to the list of matches.
    'zsh': """PROMPT='READY>'
fpath=($PWD/functions $fpath)
autoload -Uz compinit && compinit -u -D
compadd() {
    local -a hits
    if [[ "${(@)@[1,(i)(-|--)]}" != *-(O|A|D)\\ * ]]; then
        builtin compadd -O hits "$@"
        (( ! $#hits )) || print -rl -- $hits >>offered
    fi
    builtin compadd "$@"
}
probe() { zle complete-word; : >done }
zle -N probe
bindkey '^I' probe
"""}
ACTIONS = {'bash': '--help-completion', 'zsh': '--help-completion-zsh', 'fish': '--help-completion-fish'}
SHELLS = [pytest.param(shell, marks=pytest.mark.skipif(not shutil.which(shell), reason=f'{shell} is not installed')) for shell in ACTIONS]

CASES = {
    # options and their values
    'blurd --sand': '--sandbox',
    'blurd --sandbox ': 'auto on off',
    'blurd --sandbox=o': 'on off',
    'blurd --require-gpu ': 'on off',
    'blurd --gpus ': 'all',
    'blurd --port ': '',
    'blurd --token-file pho': 'photos',
    'blurd --config pho': 'photos',
    'blurd --cors-origins ': '',
    'blurd --check-': '--check-config --check-health',
    'blurd --workers 2 --sand': '--sandbox',
    # the first word
    'blurd ru': 'run',
    'blurd res': 'resize',
    'blurd re': 'redact resize',
    'blurd --workers 2 re': '',
    # jobs
    'blurd run re': 'redact resize',
    'blurd run redact pho': 'photos',
    'blurd redact pho': 'photos',
    "blurd 'redact?detect=faces' pho": 'photos',
    "blurd 'redact?detect=faces' photos -o pho": 'photos',
    'blurd redact photos --res': '--resume',
    'blurd run redact --files': '--files-from',
    'blurd redact --report pho': 'photos',
    'blurd redact --tries ': '',
    'blurd redact --server pho': '',
    'blurd redact --sand': '--sandbox',
    'blurd redact --sandbox ': 'auto on off',
    # what does not belong to the kind of command line
    'blurd --resu': '',
    'blurd redact --check-': '',
    'blurd phot': '',
    # actions with words behind them
    'blurd --benchmark pho': 'photos',
    'blurd --benchmark res': 'resize',
    'blurd benchmark pixel': 'pixelate',
    'blurd verify pho': 'photos',
    'blurd --verify pho': 'photos',
}


def read_until(terminal, seen, until):
    """Reads what the shell shows until `seen` holds of it."""
    shown = b''
    while not seen(shown):
        assert time.monotonic() < until, shown.decode(errors='replace')
        if select.select([terminal], [], [], 0.02)[0]:
            shown += os.read(terminal, 4096)


def typed(arguments, folder, line):
    """The words that an interactive shell offers for the line, when it ends with a tab."""
    until = time.monotonic() + 30 * daemon.SLOW
    for name in ('offered', 'done'):
        (folder / name).unlink(missing_ok=True)
    own, theirs = pty.openpty()
    environment = {'PATH': os.environ['PATH'], 'HOME': str(folder), 'ZDOTDIR': str(folder), 'TERM': 'dumb', 'LC_ALL': 'C'}
    with subprocess.Popen(arguments, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True) as shell:
        try:
            os.close(theirs)
            read_until(own, lambda shown: PROMPT in shown, until)
            os.write(own, line.encode() + b'\t')
            read_until(own, lambda _: (folder / 'done').exists(), until)
        finally:
            shell.kill()
            os.close(own)
    offered = folder / 'offered'
    return offered.read_text().split('\n') if offered.exists() else []


def offered_by(shell, folder, line):
    if shell == 'fish':
        done = subprocess.run(['fish', '--no-config', '-c', f'source ./_blurd; complete -C {subprocess.list2cmdline([line])}'], cwd=folder,
                              capture_output=True, text=True, timeout=30 * daemon.SLOW, check=True, env={'PATH': os.environ['PATH'], 'HOME': str(folder)})
        assert not done.stderr
        words = [row.split('\t')[0] for row in done.stdout.splitlines()]
    elif shell == 'zsh':
        words = typed(['zsh', '-d', '-i'], folder, line)
    else:
        words = typed(['bash', '--noprofile', '--rcfile', './.bashrc', '-i'], folder, line)
    return {word.rstrip('=/').split('=')[-1] for word in words if word}


@pytest.fixture(scope='module')
def folders(tmp_path_factory):
    """A folder for each shell, with the script, a profile and something to complete."""
    made = {}
    for shell, action in ACTIONS.items():
        folder = made[shell] = tmp_path_factory.mktemp(shell)
        code, script, errors = daemon.run(action)
        assert (code, errors) == (0, '')
        (folder / 'photos').mkdir()
        (folder / 'functions').mkdir()
        (folder / '_blurd').write_text(script)
        (folder / 'functions' / '_blurd').write_text(script)
        if shell in PROFILES:
            (folder / f'.{shell}rc').write_text(PROFILES[shell])
    return made


@pytest.mark.parametrize('shell', SHELLS)
def test_what_is_offered(shell, folders):
    wrong = {}
    for line, expected in CASES.items():
        found = offered_by(shell, folders[shell], line)
        if found != set(expected.split()):
            wrong[line] = sorted(found), expected
    assert not wrong


@pytest.mark.parametrize('shell', SHELLS)
def test_options_of_jobs_have_letters(shell, folders):
    """fish completes letters as further ones of a group."""
    if shell != 'fish':
        assert {'-o', '-r', '-T', '-j'} <= offered_by(shell, folders[shell], 'blurd redact photos -')
    assert 'photos' in offered_by(shell, folders[shell], 'blurd redact -T pho')
