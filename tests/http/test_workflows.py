# SPDX-License-Identifier: MIT
""".github/workflows does what the Makefile does and nothing else, with as few rights as can be."""

import re
import shutil
import subprocess
import sys

import pytest

import daemon

yaml = pytest.importorskip('yaml', reason='python3-yaml is not installed')
sys.path.insert(0, str(daemon.ROOT / 'tests/workflows'))
import steps  # noqa: E402

NAMES = sorted(path.name for path in steps.WORKFLOWS.glob('*.yml'))
GOALS = set(re.findall(r'^([\w-]+):(?!=)', (daemon.ROOT / 'Makefile').read_text(), re.M))
# What a runner has to do before there is a Makefile, and after it.
OTHERS = ('apt-get update && apt-get install -qy --no-install-recommends ', 'git init -q blurd\n', 'find blurd/build/blurd-[0-9]* -maxdepth 1 -type f \\\n    -exec gh release create ')


def jobs():
    for name in NAMES:
        for key, job in steps.load(name)['jobs'].items():
            yield pytest.param(job, id=f'{name}-{key}')


def lines(job):
    """The shell lines of each run of a job, with the variables of its steps put in."""
    for _, taken in steps.expanded(job):
        for step in taken:
            yield re.sub(r'"\$(\w+)"', lambda found, env=step['env']: env.get(found[1], found[0]), step['run'])


def test_there_are_both():
    assert NAMES == ['ci.yml', 'release.yml']
    assert set(steps.load('ci.yml')['on']) == {'push', 'pull_request'} and steps.load('release.yml')['on'] == {'push': {'tags': ['v*']}}


@pytest.mark.parametrize('job', jobs())
def test_each_step_is_a_goal_that_exists(job):
    made = [line for line in lines(job) if not line.startswith(OTHERS)]
    assert made
    for line in made:
        goal = re.match(r'make ([\w-]+)( WERROR=1| HOME_URL="\S+")?$', line)
        assert goal and goal[1] in GOALS, line


@pytest.mark.parametrize('job', jobs())
def test_no_step_runs_what_others_wrote(job):
    """Actions would be pinned by the hash of a commit; there is none. What a pull request can name is no part of a script."""
    for step in job['steps']:
        assert 'uses' not in step or re.search(r'@[0-9a-f]{40}$', step['uses'])
        assert '${{' not in step['run']
    assert job['timeout-minutes'] <= 180


@pytest.mark.parametrize('name', NAMES)
def test_few_rights(name):
    workflow = steps.load(name)
    assert workflow['permissions'] == {} and workflow['concurrency']['group'] and 'pull_request_target' not in workflow['on']
    rights = [job['permissions'] for job in workflow['jobs'].values() if 'permissions' in job]
    assert rights == ([{'contents': 'write'}] if name == 'release.yml' else [])
    holders = [step for job in workflow['jobs'].values() for step in job['steps'] if 'token' in str(step.get('env'))]
    assert all(step['run'].startswith('find blurd/build/blurd-[0-9]* -maxdepth 1 -type f \\\n    -exec gh release create ') and '--draft' in step['run'] for step in holders)


def test_what_one_machine_does():
    """`make ci` can be asked for each of the checks that the workflow has."""
    checks = {line.removeprefix('make ') for job in steps.load('ci.yml')['jobs'].values() for line in lines(job) if line.startswith('make check-')}
    done = subprocess.run(['make', '-n', 'ci'], cwd=daemon.ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and 'CI=true .ci/run\n' in done.stdout, done.stderr
    named = re.search(r"^#   make ci .*ARGS='([\w ]+)'", (daemon.ROOT / 'Makefile').read_text(), re.M)[1].split()
    assert checks == {f'check-{name}' for name in named}


@pytest.mark.skipif(not shutil.which('shellcheck'), reason='shellcheck is not installed')
@pytest.mark.parametrize('job', jobs())
def test_the_shell_of_the_steps(job):
    for line in set(lines(job)):
        done = subprocess.run(['shellcheck', '--shell=bash', '-'], input=line, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, line + done.stdout
