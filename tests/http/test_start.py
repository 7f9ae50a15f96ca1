# SPDX-License-Identifier: MIT
"""Starting: quickly, on a free port, and with one sentence when it cannot be."""

import ctypes
import os
import pathlib
import re
import re
import shutil
import socket
import subprocess
import time

import pytest

import certificates
import daemon
import wire


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def first_answer():
    """Seconds from exec to the last byte of the first answer."""
    port = free_port()
    begin = time.monotonic()
    process = subprocess.Popen([daemon.BINARY, '--listen', '127.0.0.1', '--port', str(port)], stdin=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env=daemon.clean_environment())
    try:
        while time.monotonic() - begin < 20 * daemon.SLOW:
            try:
                with wire.Wire(port, 10 * daemon.SLOW) as connection:
                    connection.send(wire.message('GET', '/readyz'))
                    assert connection.answer().status == 200
                return time.monotonic() - begin
            except ConnectionRefusedError:
                time.sleep(0.0005)
        raise AssertionError('no answer')
    finally:
        process.terminate()
        assert process.wait(20 * daemon.SLOW) == 0


def test_the_first_answer_comes_soon(say):
    times = sorted(first_answer() for _ in range(9))
    say(f'first answer after exec: median {times[4] * 1000:.1f} ms, from {times[0] * 1000:.1f} to {times[-1] * 1000:.1f} ms (goal: 20)')
    assert times[4] < 0.5 * daemon.SLOW


def test_port_0_picks_free_ports(start):
    one, other = start(), start()
    assert one.port != other.port and one.port > 0
    assert one.get('/livez').status_code == other.get('/livez').status_code == 200


def test_port_in_use(server):
    code, output, log = daemon.run('--listen', '127.0.0.1', '--port', server.port)
    assert code == 78 and not output
    assert str(server.port) in log and log.count('\n') <= 2


def test_an_address_that_is_not_ours():
    code, _, log = daemon.run('--listen', '192.0.2.1', '--port', 0)
    assert code == 78 and '192.0.2.1' in log


@pytest.mark.parametrize('arguments,says', (
    (['--port', '70000'], '--port'), (['--port', '-1'], '--port'), (['--port', 'http'], '--port'), (['--port'], '--port'),
    (['--workers', '513'], '--workers'), (['--workers', '1.5'], '--workers'), (['--queue', '65537'], '--queue'),
    (['--max-body', '5 apples'], '--max-body'), (['--max-pixels', '0'], '--max-pixels'), (['--memory', '1MiB'], '--memory'),
    (['--body-timeout', '5'], '--body-timeout'), (['--listen', 'localhost'], '--listen'), (['--log-format', 'xml'], '--log-format'),
    (['--log-level', 'INFO'], '--log-level'), (['--cpu-level', 'mmx'], '--cpu-level'), (['--sigma', '5'], '--sigma'), (['--port', '0', 'extra'], 'extra'),
    (['--max-bodu', '5M'], 'max-body'),
), ids=lambda v: ' '.join(v) if isinstance(v, list) else '')
def test_a_bad_option_stops_the_start(arguments, says):
    code, output, log = daemon.run(*arguments)
    assert code == 78 and not output
    assert says in log and log.count('\n') == 1, log


@pytest.mark.parametrize('name,value', (('BLURD_PORT', 'x'), ('PORT', '99999'), ('BLURD_MAX_BODY', ''), ('BLURD_WORKERS', '-3')))
def test_a_bad_environment_stops_the_start(name, value):
    code, _, log = daemon.run('--listen', '127.0.0.1', environment=daemon.clean_environment(**{name: value}))
    assert code == 78 and name in log and log.count('\n') == 1, log


@pytest.mark.parametrize('name', ('BLURD_PORT', 'PORT'))
def test_the_port_from_the_environment(name):
    port = free_port()
    environment = daemon.clean_environment(**{name: str(port)})
    process = subprocess.Popen([daemon.BINARY, '--listen', '127.0.0.1'], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment)
    try:
        line = next(line for line in process.stderr if daemon.LISTENING.search(line.decode()))
        assert int(daemon.LISTENING.search(line.decode())[1]) == port
    finally:
        process.terminate()
        assert process.wait(20 * daemon.SLOW) == 0
        process.stderr.close()


def test_ipv6_and_ipv4_by_default():
    """`::` takes both; on hosts without IPv6 it is IPv4."""
    with daemon.Daemon(listen='::') as running:
        assert running.get('/livez').status_code == 200
        try:
            connection = socket.create_connection(('::1', running.port), 10)
        except OSError:
            pytest.skip('no IPv6 here')
        with connection:
            connection.sendall(wire.message('GET', '/livez'))
            assert connection.recv(100).startswith(b'HTTP/1.1 200')


WORK, METRICS = 'takes work', 'answers /metrics'


@pytest.mark.parametrize('listen,options,exposed', (
    ('::', (), (WORK, METRICS, 'set token_file', 'admin_listen', '127.0.0.1')),
    ('0.0.0.0', ('tokens',), (METRICS, 'set admin_listen')),
    ('::', ('--admin-listen', '127.0.0.1', '--admin-port', 0), (WORK, 'set token_file')),
    ('::', ('tokens', '--admin-listen', '127.0.0.1', '--admin-port', 0), ()),
    ('127.0.0.2', (), ()), ('::1', (), ()), ('::ffff:127.0.0.1', (), ()),
), ids=('all', 'metrics', 'work', 'closed', 'loopback', 'loopback-6', 'loopback-mapped'))
def test_an_open_port_is_announced_once(start, tmp_path, listen, options, exposed):
    tokens = tmp_path / 'tokens'
    tokens.write_text('0123456789abcdef0123\n', encoding='ascii')
    try:
        own = start(*[value for option in options for value in (('--token-file', tokens) if option == 'tokens' else (option,))], listen=listen)
    except RuntimeError:
        if ':' not in listen or socket.has_ipv6 and listen == '::':
            raise
        pytest.skip('no IPv6 here')
    own.stop()
    warnings = [line for line in own.lines if ' exposed ' in line]
    assert len(warnings) == (1 if exposed else 0), own.lines
    assert all(' warning ' in line and str(own.port) in line and word in line for line in warnings for word in exposed)
    assert exposed or not warnings
    for word in {WORK, METRICS} - set(exposed):
        assert not any(word in line for line in warnings)


# --- where to look ---------------------------------------------------------------------------
@pytest.mark.parametrize('listen,host', (('127.0.0.1', 'localhost'), ('0.0.0.0', 'localhost'), ('::', 'localhost'), ('127.0.0.2', r'127\.0\.0\.2'), ('::1', r'\[::1\]')))
def test_the_log_has_the_address_of_the_playground(start, listen, host):
    try:
        own = start(listen=listen)
    except RuntimeError:
        if listen != '::1':
            raise
        pytest.skip('no IPv6 here')
    assert own.wait_for_line(rf' info playground message="http://{host}:{own.port}/ ')


@certificates.needed
def test_the_address_of_the_playground_with_tls(start, tmp_path):
    pair = certificates.Pair(tmp_path, 'one')
    own = start(*pair.options())
    assert own.wait_for_line(rf' info playground message="https://localhost:{own.port}/ ')


def test_no_address_without_the_playground(start):
    own = start('--playground', 'off')
    own.stop()
    assert not [line for line in own.lines if '://' in line]


# --- hosts without GPUs ------------------------------------------------------------------------
def has_driver():
    try:
        return bool(ctypes.CDLL('libcuda.so.1'))
    except OSError:
        return False


no_driver = pytest.mark.skipif(has_driver(), reason='this host has a CUDA driver')
no_gpu = pytest.mark.skipif(has_driver() or any(pathlib.Path('/dev').glob('nvidia[0-9]*')), reason='this host has a GPU')


@no_gpu
def test_a_host_without_gpus_says_so_and_nothing_is_down(start):
    own = start()
    answer = own.get('/readyz')
    assert answer.status_code == 200
    assert [(b['name'].split('/')[0], b['state']) for b in answer.json()['backends']] == [('cpu', 'serving')]
    assert own.metrics()['blurd_gpu_state'] == 3
    own.stop()
    assert [line.split(' ', 1)[1] for line in own.lines if ' gpu message' in line] == ['info gpu message="no GPU: the CPU does all the work"']
    assert not [line for line in own.lines if ' warning ' in line or ' error ' in line]


@no_gpu
@pytest.mark.parametrize('options,says', (((), 'this host has no GPU and no CUDA driver'), (('--gpus', 'none'), 'gpus is none')))
def test_a_required_gpu_on_a_host_without_gpus(options, says):
    code, _, log = daemon.run('--listen', '127.0.0.1', '--port', 0, '--require-gpu', 'on', *options)
    assert code == 69 and log.strip().splitlines()[-1].endswith(f'error start message="--require-gpu: {says}"')


@no_driver
def test_a_gpu_whose_driver_is_missing_is_a_warning():
    """A container may have the device but not the library."""
    wrap = ['bwrap', '--bind', '/', '/', '--dev', '/dev', '--dev-bind', '/dev/null', '/dev/nvidia0']
    if not shutil.which('bwrap') or subprocess.run([*wrap, 'true'], capture_output=True, check=False).returncode:
        pytest.skip('bwrap cannot make a file in /dev here')
    done = subprocess.run([*wrap, daemon.BINARY, '--listen', '127.0.0.1', '--port', '0', '--require-gpu', 'on'], capture_output=True, text=True,
                          timeout=20 * daemon.SLOW, env=daemon.clean_environment(), check=False)
    assert done.returncode == 69 and 'no GPU' not in done.stderr
    assert ' warning gpu message="' in done.stderr, done.stderr


def test_too_few_descriptors_stop_the_start():
    done = subprocess.run(['prlimit', '--nofile=100:100', daemon.BINARY, '--port', '0'], capture_output=True, text=True,
                          timeout=20 * daemon.SLOW, env=daemon.clean_environment(), check=False)
    assert done.returncode == 78 and '--connections' in done.stderr


@pytest.mark.parametrize('arguments,says', ((['--help'], '--max-body'), (['--version'], 'blurd ')))
def test_questions_are_answered(arguments, says):
    code, output, log = daemon.run(*arguments)
    assert code == 0 and says in output and not log


def test_the_version_says_which_gpus_are_served():
    _, output, _ = daemon.run('--version')
    text = (daemon.ROOT / 'gpu/cuda/architectures.def').read_text()
    kernels = [f'sm_{number}' for number in re.findall(r'^CUBIN\((\d+)\)', text, re.M)]
    kernels += [f'compute_{number}' for number in re.findall(r'^PTX\((\d+)\)', text, re.M)]
    version, support, home = re.fullmatch(r'blurd ([\d.]+) \((.*)\)\nreads .*; writes .*\n(?:\w+ model: .*\n)+(https://\S+)\n', output).groups()
    stated = (daemon.ROOT / 'core/version.h').read_text()
    assert f'BLURD_VERSION "{version}"' in stated and f'BLURD_HOME_URL "{home}"' in stated
    if support == 'CPU only' or 'NVRTC' in support:
        pytest.skip(f'this program was built without kernels: {support}')
    named = re.fullmatch(r'cuda [\d.]+; kernels for (.*)', support).group(1).split(', ')
    assert named == [kernel for kernel in kernels if kernel in named], 'an older NVRTC does not know each'


def test_check_config():
    code, output, log = daemon.run('--check-config', '--port', '9000')
    assert code == 0 and '9000' in output + log
    assert daemon.run('--check-config', '--port', '99999')[0] == 78


def test_check_config_shows_what_is_in_force(tmp_path, start):
    code, output, _ = daemon.run('--check-config', '--connections', '400')
    lines = dict(line.split(' =', 1) for line in output.splitlines())
    values = {name: text.split('#')[0].strip() for name, text in lines.items()}
    assert code == 0
    assert int(values['workers']) > 0 and int(values['event_threads']) > 0 and values['connections_soft'] == '300'
    assert re.fullmatch(r'\d+(MiB|GiB)', values['memory']) and values['cpu_level'] != 'auto'
    for name in ('workers', 'event_threads', 'connections_soft', 'memory'):
        assert lines[name].endswith('  # picked on this machine for 0')
    assert lines['cpu_level'].endswith('  # picked on this machine for auto')
    assert '#' not in lines['port'] + lines['connections']
    path = tmp_path / 'blurd.conf'  # the same again from the printed configuration
    path.write_text(output)
    code, again, _ = daemon.run('--check-config', '--config', path)
    assert code == 0 and [line.split('  #')[0] for line in output.splitlines()] == again.splitlines()
    own = start(environment=daemon.clean_environment(BLURD_CONNECTIONS='400'))
    threads = [name.read_text().strip() for name in pathlib.Path(f'/proc/{own.process.pid}/task').glob('*/comm')]
    assert len(threads) > int(values['workers']) and own.wait_for_line(rf'cpu/{values["cpu_level"]}')


@pytest.mark.parametrize('without', (('--gpus', 'none'), ('--jpeg-codec', 'cpu')), ids=' '.join)
def test_check_config_shows_that_no_gpu_takes_jpegs(without):
    code, output, _ = daemon.run('--check-config', '--gpu-pictures', '5', *without)
    assert code == 0 and 'gpu_pictures = 0  # picked on this machine for 5' in output.splitlines()


def test_check_config_refuses_a_level_that_the_processor_lacks():
    level = 'avx2' if os.uname().machine == 'aarch64' else 'neon'
    code, output, log = daemon.run('--check-config', '--cpu-level', level)
    assert code == 78 and not output and level in log and log.count('\n') == 1


@pytest.mark.parametrize('variables,says', (
    ({'BLURD_CONNECTIONS': '8', 'BLURD_CONNECTIONS_SOFT': '9'}, 'connections_soft is 9, it must be at most connections, which is 8'),
    ({'BLURD_PORT_X': '1'}, 'BLURD_PORT_X (environment) is not an option, did you mean BLURD_PORT?'),
    ({'BLURD_MAX-BODY': '1'}, 'BLURD_MAX-BODY (environment) is not an option, did you mean BLURD_MAX_BODY?'),
), ids=range(3))
def test_variables_that_stop_the_start(variables, says):
    code, _, log = daemon.run('--port', 0, environment=daemon.clean_environment(**variables))
    assert code == 78 and says in log
