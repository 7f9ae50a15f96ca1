# SPDX-License-Identifier: MIT
"""docker/kubernetes: valid by the schemas of Kubernetes, and true of this daemon: ports, probes, options, metrics, times.

The schemas come in a Python package (config/pypi.sh kubernetes) that tests/python.sh finds; without it what needs them is skipped. KEDA and Knative
are in no such package: the fields that they take stand here."""

import copy
import json
import re
import time

import pytest
import requests

import daemon

yaml = pytest.importorskip('yaml', reason='python3-yaml is not installed')
import kustomize  # noqa: E402

FOLDER = daemon.ROOT / 'docker/kubernetes'
OVERLAYS = ('base', 'keda', 'gpu', 'knative')
VERSIONS = ('1.30', '1.33', '1.36')  # of Kubernetes
EXTRA = {'keda.sh', 'serving.knative.dev'}  # groups that are not Kubernetes' own

SCALED_OBJECT = {'scaleTargetRef', 'pollingInterval', 'initialCooldownPeriod', 'cooldownPeriod', 'idleReplicaCount', 'minReplicaCount',
                 'maxReplicaCount', 'advanced', 'triggers', 'fallback'}
TRIGGER = {'type', 'name', 'useCachedMetrics', 'metadata', 'authenticationRef', 'metricType'}
PROMETHEUS = {'serverAddress', 'query', 'threshold', 'activationThreshold', 'namespace', 'ignoreNullValues', 'timeout'}
REVISION = {'containerConcurrency', 'timeoutSeconds', 'responseStartTimeoutSeconds', 'idleTimeoutSeconds', 'serviceAccountName', 'containers',
            'volumes', 'imagePullSecrets', 'enableServiceLinks'}
REVISION_CONTAINER = {'name', 'args', 'command', 'env', 'envFrom', 'workingDir', 'image', 'imagePullPolicy', 'livenessProbe', 'readinessProbe',
                      'startupProbe', 'ports', 'resources', 'securityContext', 'volumeMounts'}


@pytest.fixture(scope='module')
def built():
    return {name: kustomize.build(FOLDER / name) for name in OVERLAYS}


@pytest.fixture(scope='module')
def validate():
    return pytest.importorskip('kubernetes_validate', reason='run config/pypi.sh kubernetes, and pytest by tests/python.sh').validate


def one(resources, kind):
    found, = [resource for resource in resources if resource['kind'] == kind]
    return found


def workload(resources):
    """The one that has a pod template."""
    found, = [resource for resource in resources if kustomize.containers(resource)]
    return found


def container(resources):
    found, = kustomize.containers(workload(resources))
    return found


def environment(resources):
    return {entry['name']: entry['value'] for entry in container(resources)['env']}


def settings(resources):
    """What the daemon makes of the environment: {option: value as --check-config prints it}."""
    code, output, log = daemon.run('--check-config', environment=daemon.clean_environment(**environment(resources)))
    assert code == 0, log
    return dict(line.split(' = ', 1) for line in output.splitlines() if ' = ' in line)


def seconds(text):
    value, unit = re.fullmatch(r'(\d+)(ms|s|m|h)', text).groups()
    return int(value) * {'ms': 0.001, 's': 1, 'm': 60, 'h': 3600}[unit]


# --- the form ----------------------------------------------------------------------------------------
def test_every_file_is_used():
    for name in OVERLAYS:
        file, = kustomize.load(FOLDER / name / 'kustomization.yaml')
        used = {'kustomization.yaml', *file['resources'], *(patch.get('path') for patch in file.get('patches', ()))}
        assert {path.name for path in (FOLDER / name).iterdir()} <= used


@pytest.mark.parametrize('version', VERSIONS)
@pytest.mark.parametrize('overlay', OVERLAYS)
def test_kinds_of_kubernetes(built, validate, overlay, version):
    for resource in built[overlay]:
        if resource['apiVersion'].split('/')[0] not in EXTRA:
            validate(resource, version, strict=True)


def test_a_wrong_field_is_found(built, validate):
    wrong = copy.deepcopy(one(built['base'], 'Deployment'))
    wrong['spec']['template']['spec']['containers'][0]['readynessProbe'] = {}
    with pytest.raises(Exception, match='readynessProbe'):
        validate(wrong, VERSIONS[0], strict=True)


def test_knative(built, validate):
    """A revision's template is a pod's, of which some fields may be set."""
    service = one(built['knative'], 'Service')
    assert set(service['spec']) == {'template'}
    spec = copy.deepcopy(service['spec']['template']['spec'])
    assert set(spec) <= REVISION
    assert set(spec['containers'][0]) <= REVISION_CONTAINER
    ports = spec['containers'][0]['ports']
    assert len(ports) == 1 and ports[0]['name'] in ('http1', 'h2c')
    assert 'PORT' not in environment(built['knative']), 'Knative sets it, and refuses those who do'
    assert spec.pop('containerConcurrency') > 0
    assert spec.pop('timeoutSeconds') <= 600
    for probe in ('readinessProbe', 'livenessProbe'):
        spec['containers'][0][probe]['httpGet']['port'] = 8080  # Knative fills it in
    validate({'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'x'}, 'spec': spec}, VERSIONS[-1], strict=True)
    for name, value in service['spec']['template']['metadata']['annotations'].items():
        assert re.fullmatch(r'autoscaling\.knative\.dev/(min-scale|max-scale|target-utilization-percentage)', name)
        assert isinstance(value, str) and value.isdigit()


def test_keda(built):
    spec = one(built['keda'], 'ScaledObject')['spec']
    assert set(spec) <= SCALED_OBJECT
    assert 1 <= spec['minReplicaCount'] <= spec['fallback']['replicas'] <= spec['maxReplicaCount']
    for trigger in spec['triggers']:
        assert set(trigger) <= TRIGGER
        assert all(isinstance(value, str) for value in trigger['metadata'].values())
        if trigger['type'] == 'prometheus':
            assert set(trigger['metadata']) <= PROMETHEUS and float(trigger['metadata']['threshold']) > 0
        else:
            assert trigger['type'] == 'cpu' and trigger['metricType'] == 'Utilization'
    assert not [resource for resource in built['keda'] if resource['kind'] == 'HorizontalPodAutoscaler'], 'two would fight'


def test_kedas_behaviour_is_an_autoscalers(built, validate):
    spec = one(built['keda'], 'ScaledObject')['spec']
    autoscaler = copy.deepcopy(one(built['base'], 'HorizontalPodAutoscaler'))
    autoscaler['spec']['behavior'] = spec['advanced']['horizontalPodAutoscalerConfig']['behavior']
    validate(autoscaler, VERSIONS[-1], strict=True)


# --- names ------------------------------------------------------------------------------------------
@pytest.mark.parametrize('overlay', ('base', 'keda', 'gpu'))
def test_names_and_labels_agree(built, overlay):
    resources = built[overlay]
    pods = one(resources, 'Deployment')['spec']['template']['metadata']['labels'].items()
    assert one(resources, 'Deployment')['spec']['selector']['matchLabels'].items() <= pods
    assert one(resources, 'Service')['spec']['selector'].items() <= pods
    assert one(resources, 'PodDisruptionBudget')['spec']['selector']['matchLabels'].items() <= pods
    assert one(resources, 'NetworkPolicy')['spec']['podSelector']['matchLabels'].items() <= pods
    for scaler in resources:
        if scaler['kind'] in ('HorizontalPodAutoscaler', 'ScaledObject'):
            target = scaler['spec']['scaleTargetRef']
            assert (target['kind'], target['name']) == ('Deployment', one(resources, 'Deployment')['metadata']['name'])
    assert {resource['metadata'].get('namespace') for resource in resources if resource['kind'] != 'Namespace'} == \
        {one(resources, 'Namespace')['metadata']['name']}


@pytest.mark.parametrize('overlay', OVERLAYS)
def test_the_image_is_of_this_version(built, overlay):
    version = re.search(r'"(.*)"', (daemon.ROOT / 'core/version.h').read_text().split('BLURD_VERSION', 1)[1]).group(1)
    assert container(built[overlay])['image'].endswith(f'/blurd:{version}')


@pytest.mark.parametrize('overlay', OVERLAYS)
def test_a_pod_may_do_nothing(built, overlay):
    """The rules of the namespace, `restricted`, and the user of the image."""
    own = container(built[overlay])['securityContext']
    pod = workload(built[overlay])['spec']['template']['spec'].get('securityContext', {})
    both = {**pod, **own}
    assert own['allowPrivilegeEscalation'] is False and own['readOnlyRootFilesystem'] is True
    assert own['capabilities'] == {'drop': ['ALL']}
    assert both['seccompProfile'] == {'type': 'RuntimeDefault'} and both['runAsNonRoot'] is True
    assert f"USER {both['runAsUser']}:{both['runAsGroup']}\n" in (daemon.ROOT / 'Dockerfile').read_text()


# --- the daemon -------------------------------------------------------------------------------------
@pytest.mark.parametrize('overlay', OVERLAYS)
def test_the_daemon_takes_the_environment(built, overlay):
    known = set(re.findall(r'^OPTION\(\w+, (\w+),', (daemon.ROOT / 'config/options.def').read_text(), re.M))
    for name in environment(built[overlay]):
        assert name in ('PORT', 'NVIDIA_DRIVER_CAPABILITIES') or name.removeprefix('BLURD_').lower() in known, name
    found = settings(built[overlay])
    assert found['port'] == str({port['name']: port['containerPort'] for port in container(built[overlay])['ports']}
                                .get('http', container(built[overlay])['ports'][0]['containerPort']))
    assert found['log_format'] == 'json'


def test_the_overlay_for_gpus(built):
    found = settings(built['gpu'])
    assert found['gpus'] == 'all' and found['require_gpu'] == 'true'
    assert found['drain_delay'] == settings(built['base'])['drain_delay'], 'the rest stays'
    assert container(built['gpu'])['resources']['limits']['nvidia.com/gpu'] == 1
    rolling = one(built['gpu'], 'Deployment')['spec']['strategy']['rollingUpdate']
    assert rolling == {'maxSurge': 0, 'maxUnavailable': 1}


@pytest.mark.parametrize('overlay', ('base', 'keda', 'gpu'))
def test_there_is_time_for_the_end(built, overlay):
    found = settings(built[overlay])
    grace = one(built[overlay], 'Deployment')['spec']['template']['spec']['terminationGracePeriodSeconds']
    assert grace >= seconds(found['drain_delay']) + seconds(found['drain_timeout']) + 5
    probe = container(built[overlay])['readinessProbe']
    assert seconds(found['drain_delay']) > probe['periodSeconds'] * probe['failureThreshold']
    assert seconds(found['work_timeout']) < seconds(found['drain_timeout'])


def test_there_is_time_for_the_end_with_knative(built):
    assert workload(built['knative'])['spec']['template']['spec']['timeoutSeconds'] > seconds(settings(built['knative'])['drain_timeout']) + 5


@pytest.fixture
def running(built, start):
    """(daemon, {name of a port: number}), with the environment of the base, on other ports."""
    changed = {**environment(built['base']), 'BLURD_ADMIN_PORT': '0', 'BLURD_LOG_FORMAT': 'text', 'BLURD_DRAIN_DELAY': '1s'}
    own = start(environment=daemon.clean_environment(**changed))
    admin = int(own.wait_for_line(r'health and metrics on port (\d+)').group(1))
    return own, {'http': own.port, 'admin': admin}


def test_probes_and_scrapes_are_answered(built, running):
    _, ports = running
    pod = one(built['base'], 'Deployment')['spec']['template']
    numbers = {port['containerPort']: port['name'] for port in container(built['base'])['ports']}
    note = pod['metadata']['annotations']
    asked = [(numbers[int(note['prometheus.io/port'])], note['prometheus.io/path'])]
    for probe in ('startupProbe', 'readinessProbe', 'livenessProbe'):
        check = container(built['base'])[probe]['httpGet']
        asked.append((check['port'], check['path']))
    for port, path in asked:
        assert requests.get(f'http://127.0.0.1:{ports[port]}{path}', timeout=10).status_code == 200, (port, path)
    assert one(built['base'], 'Service')['spec']['ports'][0]['targetPort'] in ports
    for rule in one(built['base'], 'NetworkPolicy')['spec']['ingress']:
        assert all(port['port'] in ports for port in rule['ports'])


def test_a_pod_that_ends_serves_on_and_says_no(running):
    own, ports = running
    own.signal()
    assert daemon.eventually(lambda: requests.get(f"http://127.0.0.1:{ports['admin']}/readyz", timeout=10).status_code == 503)
    assert own.get('/version').status_code == 200
    begin = time.monotonic()
    assert own.wait() == 0 and time.monotonic() - begin < 10 * daemon.SLOW


def test_probes_of_knative(built, server):
    for probe in ('readinessProbe', 'livenessProbe'):
        assert server.get(container(built['knative'])[probe]['httpGet']['path']).status_code == 200


def test_metrics_that_are_scaled_on_are_there(built, server):
    page = server.get('/metrics').text
    names = set(re.findall(r'^# TYPE (\w+)', page, re.M))
    asked = json.dumps([trigger['metadata'] for trigger in one(built['keda'], 'ScaledObject')['spec']['triggers']])
    found = set(re.findall(r'blurd_\w+', asked))
    assert len(found) == 2 and found <= names
    for reason in re.findall(r'reason=\\+"(\w+)', asked):
        assert f'reason="{reason}"' in page
