# SPDX-License-Identifier: MIT
"""docker/compose.yaml and the files that it mounts: files exist, options and ports agree, programs accept
their configurations."""

import json
import re
import shutil
import subprocess

import pytest
import requests

import daemon
from test_operations import PROMTOOL
from test_start import free_port

yaml = pytest.importorskip('yaml')
FOLDER = daemon.ROOT / 'docker'
HAPROXY = (FOLDER / 'haproxy.cfg').read_text()
PROGRAM = shutil.which('haproxy') or shutil.which('haproxy', path='/usr/sbin')


def load(name):
    return yaml.safe_load((FOLDER / name).read_text())


SERVICES = load('compose.yaml')['services']
BLURD = SERVICES['blurd']


def options(**extra):
    """name -> value, as the daemon of the container takes them."""
    code, output, errors = daemon.run('--check-config', environment=daemon.clean_environment(**BLURD['environment'], **extra))
    assert code == 0, errors
    return dict(re.findall(r'^(\w+) = ?(.*)$', output, re.M))


def seconds(text):
    number, unit = re.fullmatch(r'(\d+)(ms|s|m|h)?', text).groups()
    return int(number) * {'ms': 0.001, 's': 1, 'm': 60, 'h': 3600, None: 1}[unit]


def timeout(name):
    return seconds(re.search(rf'timeout {name} (\w+)', HAPROXY).group(1))


def mounted():
    """(file here, path in the container) of every service."""
    for service in SERVICES.values():
        for volume in service.get('volumes', ()):
            if volume.startswith('.'):
                yield volume.split(':')[:2]


def test_what_is_named_is_there():
    known = set(load('compose.yaml')['volumes'])
    for here, _ in mounted():
        assert (FOLDER / here).exists(), here
    for service in SERVICES.values():
        assert set(service.get('depends_on', ())) <= set(SERVICES)
        names = [volume.split(':')[0] for volume in service.get('volumes', ())]
        assert all(name.startswith('.') or name in known for name in names)
        assert 'image' in service
    assert (FOLDER / BLURD['build']['context'] / 'Dockerfile').exists()


def test_swarm_runs_what_compose_runs():
    """The same daemon and proxy, except for the keys that one of the two does not know."""
    stack = load('swarm.yaml')['services']
    daemons, proxy = dict(stack['blurd']), stack['haproxy']
    deploy, image = daemons.pop('deploy'), daemons.pop('image')
    assert image == '${BLURD_IMAGE:-blurd}' and deploy['replicas'] == BLURD['deploy']['replicas']
    assert daemons == {key: BLURD[key] for key in daemons}
    assert set(BLURD) - set(daemons) == {'build', 'image', 'deploy', 'expose', 'restart', 'security_opt'}
    assert deploy['endpoint_mode'] == 'dnsrr', 'HAProxy sees all daemons'
    assert deploy['update_config']['order'] == 'start-first'
    assert proxy['image'] == f'${{HAPROXY_IMAGE:-{SERVICES["haproxy"]["image"]}}}'
    assert (FOLDER / load('swarm.yaml')['configs'][proxy['configs'][0]['source']]['file']).exists()
    assert proxy['configs'][0]['target'] == {here: path for here, path in mounted()}['./haproxy.cfg']
    assert proxy['ports'] == [{'target': 8080, 'published': '${BLURD_PORT:-8080}', 'mode': 'host'}]


def test_ports_agree():
    found = options()
    assert BLURD['expose'] == [found['port'], found['admin_port']]
    assert f'server-template blurd 8 blurd:{found["port"]}' in HAPROXY
    assert f'check port {found["admin_port"]}' in HAPROXY
    assert BLURD['deploy']['replicas'] == 3
    assert 'EXPOSE ' + found['port'] in (daemon.ROOT / 'Dockerfile').read_text()
    assert SERVICES['haproxy']['ports'][0].split(':')[1] == re.search(r'bind :(\d+)', HAPROXY).group(1)
    jobs = {job['job_name']: job for job in load('prometheus/prometheus.yml')['scrape_configs']}
    assert jobs['blurd']['dns_sd_configs'][0]['port'] == int(found['admin_port'])
    assert jobs['blurd']['dns_sd_configs'][0]['names'] == ['blurd'], 'the name of the service'
    assert jobs['haproxy']['static_configs'][0]['targets'] == ['haproxy:' + re.findall(r'bind :(\d+)', HAPROXY)[1]]


def test_times_agree():
    """Each waits longer than the one behind it."""
    found = options()
    every, fall = (int(re.search(pattern, HAPROXY).group(1)) for pattern in (r'inter (\d+)s', r'fall (\d+)'))
    delay, drain = seconds(found['drain_delay']), seconds(found['drain_timeout'])
    assert delay > every * fall, 'the balancer has noticed'
    assert seconds(BLURD['stop_grace_period']) > delay + drain
    assert timeout('http-keep-alive') < seconds(found['idle_timeout'])
    assert timeout('server') > seconds(found['work_timeout'])
    assert timeout('client') > seconds(found['header_timeout']) + seconds(found['body_timeout'])


def test_grafana_finds_dashboard_and_source():
    paths = {path: here for here, path in mounted()}
    provider = load('grafana/provisioning/dashboards/blurd.yaml')['providers'][0]['options']['path']
    home = SERVICES['grafana']['environment']['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH']
    assert home.startswith(provider + '/') and json.loads((FOLDER / paths[home]).read_text())['panels']
    url = load('grafana/provisioning/datasources/blurd.yaml')['datasources'][0]['url']
    assert url == 'http://prometheus:' + SERVICES['prometheus']['ports'][0].split(':')[2]


def test_the_health_check_is_the_images():
    check = BLURD['healthcheck']
    words = ', '.join(f'"{word}"' for word in check['test'][1:])
    times = f"--interval={check['interval']} --timeout={check['timeout']} --start-period={check['start_period']} --retries={check['retries']}"
    assert f'HEALTHCHECK {times} CMD [{words}]' in (daemon.ROOT / 'Dockerfile').read_text()
    assert SERVICES['haproxy']['depends_on'] == {'blurd': {'condition': 'service_healthy'}}


@pytest.mark.skipif(not shutil.which('make'), reason='no make')
@pytest.mark.parametrize('words,says', ((('GPU=required', 'CUDA_HOME=none'), 'GPU=required, but NVRTC or CUDA headers are missing'),
                                        (('GPU=yes',), 'GPU is "yes", it must be auto, required or none')))
def test_a_build_that_could_not_use_gpus_stops(words, says):
    done = subprocess.run(['make', '-n', *words, 'all'], cwd=daemon.ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and says in done.stderr


def test_the_overlay_for_gpus():
    overlay = load('compose.gpu.yaml')['services']['blurd']
    assert overlay['build']['args'] == {'GPU': 'required'} and 'ARG GPU=' in (daemon.ROOT / 'Dockerfile').read_text()
    assert options(**overlay['environment'])['require_gpu'] == 'true'
    device = overlay['deploy']['resources']['reservations']['devices'][0]
    assert f'NVIDIA_DRIVER_CAPABILITIES={",".join(device["capabilities"])}' in (daemon.ROOT / 'Dockerfile').read_text()


@pytest.mark.skipif(not PROGRAM, reason='no haproxy')
def test_haproxy_takes_it():
    done = subprocess.run([PROGRAM, '-c', '-f', FOLDER / 'haproxy.cfg'], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0 and b'WARNING' not in done.stderr, done.stderr.decode()


@pytest.mark.skipif(not PROGRAM, reason='no haproxy')
def test_haproxy_serves(start, tmp_path):
    """The file as it is, but for the name server and the ports: checked on the second listener, then work."""
    running = start('--admin-listen', '127.0.0.1', '--admin-port', 0)
    admin = running.wait_for_line(r'health and metrics on port (\d+)').group(1)
    port = free_port()
    text = re.sub(r'resolvers docker\n(?:    .*\n)+', '', HAPROXY).replace(' resolvers docker', '').replace(' init-addr none', '')
    text = text.replace('server-template blurd 8 blurd:8080', f'server blurd 127.0.0.1:{running.port}').replace('port 8081', f'port {admin}')
    text = text.replace('bind :8080', f'bind 127.0.0.1:{port}').replace('bind :8404', f'bind 127.0.0.1:{free_port()}')
    (tmp_path / 'haproxy.cfg').write_text(text)
    proxy = subprocess.Popen([PROGRAM, '-db', '-f', tmp_path / 'haproxy.cfg'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert daemon.eventually(lambda: answers(port))
    finally:
        proxy.kill()
        proxy.wait()


def answers(port):
    try:
        return requests.get(f'http://127.0.0.1:{port}/version', timeout=5).status_code == 200
    except requests.ConnectionError:
        return False


@pytest.mark.skipif(not PROMTOOL, reason='no promtool: install prometheus, or make test')
def test_prometheus_takes_it():
    done = subprocess.run([PROMTOOL, 'check', 'config', 'prometheus.yml'], cwd=FOLDER / 'prometheus', capture_output=True, timeout=60,
                          check=False)
    assert done.returncode == 0, done.stderr.decode()
