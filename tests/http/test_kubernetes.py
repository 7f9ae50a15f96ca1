# SPDX-License-Identifier: MIT
"""docker/kubernetes: valid by the schemas of Kubernetes, and consistent with this daemon: ports, probes,
options, metrics, times.

The schemas come in a Python package (config/pypi.sh kubernetes) that tests/python.sh finds; without it the
tests that need them are skipped. KEDA and Knative are not in it: kubernetes_fields.py lists their fields."""

import copy
import json
import re
import time

import pytest
import requests

import daemon

yaml = pytest.importorskip('yaml', reason='python3-yaml is not installed')
import kustomize  # noqa: E402
from kubernetes_fields import (POD_MONITOR, PROMETHEUS, REVISION, REVISION_CONTAINER, ROUTE, ROUTE_RULE, SCALED_OBJECT,  # noqa: E402
                               TRIGGER)

FOLDER = daemon.ROOT / 'docker/kubernetes'
OVERLAYS = ('base', 'keda', 'gpu', 'gpu-keda', 'knative')
DEPLOYED = OVERLAYS[:-1]
IMAGES = (*OVERLAYS, 'batch')
COMPONENTS = ('token', 'tls', 'ingress', 'httproute', 'monitoring', 'servicemonitor')
VERSIONS = ('1.30', '1.33', '1.36')  # of Kubernetes
EXTRA = {'keda.sh', 'serving.knative.dev', 'gateway.networking.k8s.io', 'monitoring.coreos.com'}  # groups that are not Kubernetes' own


@pytest.fixture(scope='module')
def built():
    made = {name: kustomize.build(FOLDER / name) for name in IMAGES}
    for name in COMPONENTS:
        made[name] = kustomize.make(daemon.ROOT, {'kind': 'Kustomization', 'namespace': 'blurd', 'resources': ['docker/kubernetes/base'],
                                                  'components': [f'docker/kubernetes/components/{name}']}, [])
    return made


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
    """The configuration that the daemon reads from the environment: {option: value as --check-config prints
    it}."""
    code, output, log = daemon.run('--check-config', environment=daemon.clean_environment(**environment(resources)))
    assert code == 0, log
    return dict(line.split(' = ', 1) for line in output.splitlines() if ' = ' in line)


def seconds(text):
    value, unit = re.fullmatch(r'(\d+)(ms|s|m|h)', text).groups()
    return int(value) * {'ms': 0.001, 's': 1, 'm': 60, 'h': 3600}[unit]


# --- the form ----------------------------------------------------------------------------------------
def test_every_file_is_used():
    for name in (*IMAGES, *(f'components/{name}' for name in COMPONENTS)):
        file, = kustomize.load(FOLDER / name / 'kustomization.yaml')
        used = {'kustomization.yaml', *file['resources'], *(patch.get('path') for patch in file.get('patches', ()))}
        assert {path.name for path in (FOLDER / name).iterdir()} <= used
    assert {path.name for path in FOLDER.iterdir()} == {*IMAGES, 'components'}
    assert {path.name for path in (FOLDER / 'components').iterdir()} == set(COMPONENTS)


@pytest.mark.parametrize('version', VERSIONS)
@pytest.mark.parametrize('overlay', IMAGES + COMPONENTS)
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


@pytest.mark.parametrize('overlay', ('keda', 'gpu-keda'))
def test_keda(built, overlay):
    spec = one(built[overlay], 'ScaledObject')['spec']
    assert set(spec) <= SCALED_OBJECT
    assert 1 <= spec['minReplicaCount'] <= spec['fallback']['replicas'] <= spec['maxReplicaCount']
    for trigger in spec['triggers']:
        assert set(trigger) <= TRIGGER
        assert all(isinstance(value, str) for value in trigger['metadata'].values())
        if trigger['type'] == 'prometheus':
            assert set(trigger['metadata']) <= PROMETHEUS and float(trigger['metadata']['threshold']) > 0
        else:
            assert trigger['type'] == 'cpu' and trigger['metricType'] == 'Utilization' and overlay == 'keda'
    assert not [resource for resource in built[overlay] if resource['kind'] == 'HorizontalPodAutoscaler'], 'two would fight'


@pytest.mark.parametrize('overlay', ('keda', 'gpu-keda'))
def test_kedas_behaviour_is_an_autoscalers(built, validate, overlay):
    spec = one(built[overlay], 'ScaledObject')['spec']
    autoscaler = copy.deepcopy(one(built['base'], 'HorizontalPodAutoscaler'))
    autoscaler['spec']['behavior'] = spec['advanced']['horizontalPodAutoscalerConfig']['behavior']
    validate(autoscaler, VERSIONS[-1], strict=True)


def test_gpus_are_not_scaled_on_the_cores_of_their_hosts(built):
    for overlay in ('gpu', 'gpu-keda'):
        scalers = [resource for resource in built[overlay] if resource['kind'] in ('HorizontalPodAutoscaler', 'ScaledObject')]
        assert len(scalers) == 1 and 'cpu' not in json.dumps(scalers), overlay
    assert {metric['type'] for metric in one(built['gpu'], 'HorizontalPodAutoscaler')['spec']['metrics']} == {'Pods'}


def test_both_scalers_of_gpus_want_the_same(built):
    """The autoscaler's figures are KEDA's, by the rules of the page for the adapter."""
    pods = {metric['pods']['metric']['name']: metric['pods']['target']['averageValue']
            for metric in one(built['gpu'], 'HorizontalPodAutoscaler')['spec']['metrics']}
    triggers = {trigger['name']: trigger['metadata'] for trigger in one(built['gpu-keda'], 'ScaledObject')['spec']['triggers']}
    assert pods == {'blurd_requests_in_flight': triggers['in-flight']['threshold'], 'blurd_requests_waiting': triggers['waiting']['threshold']}
    assert pods['blurd_requests_in_flight'] == re.search(r'GPU_PICTURES = (\d+)', (daemon.ROOT / 'core/tuned.h').read_text()).group(1)
    rules = yaml.safe_load(page('adapter'))['rules']['custom']
    assert set(pods) == {rule.get('name', {}).get('as', rule['seriesQuery'].split('{')[0]) for rule in rules}
    for rule in rules:
        series = rule['seriesQuery'].split('{')[0]
        assert series in triggers['in-flight']['query'] + triggers['waiting']['query']
        assert set(rule) <= {'seriesQuery', 'resources', 'name', 'metricsQuery'} and '<<.LabelMatchers>>' in rule['metricsQuery']


def page(mark):
    """The indented block of docs/scaling.md behind a mark."""
    text = (daemon.ROOT / 'docs/scaling.md').read_text().split(f'<!-- {mark} -->\n\n', 1)[1]
    return re.match(r'((?:    .*)?\n)+', text).group(0)


# --- components -------------------------------------------------------------------------------------
def test_the_kustomization_of_the_page(validate):
    file = yaml.safe_load(page('kustomization'))
    resources = kustomize.make(daemon.ROOT, file, [])
    for resource in resources:
        if resource['apiVersion'].split('/')[0] not in EXTRA:
            validate(resource, VERSIONS[-1], strict=True)
    assert {'Secret', 'Ingress', 'PodMonitor', 'PrometheusRule', 'Deployment'} <= {resource['kind'] for resource in resources}
    assert {resource['metadata'].get('namespace') for resource in resources if resource['kind'] != 'Namespace'} == {'blurd'}


def mounted(resources, folder):
    """{path in the pod: text} of a component's Secret, laid down in a folder here."""
    secret = one(resources, 'Secret')
    mount, = container(resources)['volumeMounts']
    volume, = workload(resources)['spec']['template']['spec']['volumes']
    assert mount['name'] == volume['name'] and mount['readOnly'] and volume['secret']['secretName'] == secret['metadata']['name']
    assert volume['secret']['defaultMode'] == 0o440 and workload(resources)['spec']['template']['spec']['securityContext']['fsGroup'] == 65534
    for name, text in secret['stringData'].items():
        (folder / name).write_text(text)
        yield f"{mount['mountPath']}/{name}", folder / name


@pytest.mark.parametrize('component,says', (('token', 'a token has a blank'), ('tls', 'holds no certificate chain')))
def test_an_example_secret_does_not_start(built, component, says, tmp_path):
    """Each file of the Secret is one that the environment names; with the text that stands there the daemon ends."""
    files = dict(mounted(built[component], tmp_path))
    named = {name: value for name, value in environment(built[component]).items() if name in ('BLURD_TOKEN_FILE', 'BLURD_TLS_CERT', 'BLURD_TLS_KEY')}
    assert sorted(named.values()) == sorted(files)
    here = {name: str(files[value]) for name, value in named.items()}
    code, _, log = daemon.run('--port', 0, '--listen', '127.0.0.1', environment=daemon.clean_environment(**here))
    assert code == 78 and says in log


def test_tls_is_on_the_port_of_the_service(built):
    port, = one(built['tls'], 'Service')['spec']['ports']
    assert (port['port'], port['appProtocol'], port['targetPort']) == (443, 'https', 'http')
    assert container(built['tls'])['readinessProbe']['httpGet']['port'] == 'admin', 'which stays plain'


def test_what_leads_to_the_service(built):
    """Ingress and route name its port, and wait longer than the daemon does."""
    found = settings(built['base'])
    port = one(built['base'], 'Service')['spec']['ports'][0]['port']
    rule, = one(built['ingress'], 'Ingress')['spec']['rules']
    service = rule['http']['paths'][0]['backend']['service']
    assert (service['name'], service['port']['number']) == ('blurd', port)
    notes = {name.rsplit('/', 1)[1]: value for name, value in one(built['ingress'], 'Ingress')['metadata']['annotations'].items()}
    assert notes['proxy-body-size'] == found['max_body'].replace('MiB', 'm')
    assert int(notes['proxy-read-timeout']) > seconds(found['work_timeout']) + seconds(found['queue_target'])
    spec = one(built['httproute'], 'HTTPRoute')['spec']
    assert set(spec) <= ROUTE and set(spec['rules'][0]) <= ROUTE_RULE
    backend, = spec['rules'][0]['backendRefs']
    assert backend == {'name': 'blurd', 'port': port}
    times = spec['rules'][0]['timeouts']
    assert seconds(times['request']) >= seconds(times['backendRequest']) > seconds(found['work_timeout'])
    assert seconds(times['request']) > seconds(found['body_timeout']) + seconds(found['work_timeout'])


def test_the_monitor_finds_the_pods(built):
    spec = one(built['monitoring'], 'PodMonitor')['spec']
    assert set(spec) <= POD_MONITOR
    labels = one(built['monitoring'], 'Deployment')['spec']['template']['metadata']['labels']
    assert spec['selector']['matchLabels'].items() <= labels.items()
    assert labels[spec['jobLabel']] == 'blurd', 'the job that alerts ask for'
    end, = spec['podMetricsEndpoints']
    assert end['port'] in {port['name'] for port in container(built['monitoring'])['ports']} and end['path'] == '/metrics'


def test_the_rules_are_the_alerts(built):
    groups = one(built['monitoring'], 'PrometheusRule')['spec']
    assert groups == yaml.safe_load((daemon.ROOT / 'docker/prometheus/alerts.yml').read_text()), 'run make docs'


# --- the network ------------------------------------------------------------------------------------
def allowed(policy, port, namespace, pod):
    """Whether a policy lets a pod with these labels, of a namespace with these, connect to that port."""
    def matches(selector, labels):
        assert selector is None or set(selector) <= {'matchLabels'}
        return selector is None or selector.get('matchLabels', {}).items() <= labels.items()

    return any(port in [each['port'] for each in rule['ports']] and
               any(matches(peer.get('namespaceSelector'), namespace) and matches(peer.get('podSelector'), pod) for peer in rule['from'])
               for rule in policy['spec']['ingress'])


def test_the_policy_does_what_it_says(built):
    policy = one(built['base'], 'NetworkPolicy')
    shop, monitoring = ({'kubernetes.io/metadata.name': name} for name in ('shop', 'monitoring'))
    assert sorted(policy['spec']['policyTypes']) == ['Egress', 'Ingress'] and policy['spec']['egress'] == [], 'nothing leaves'
    assert allowed(policy, 'http', shop, {'app': 'any'}), 'pictures come from any pod'
    assert not allowed(policy, 'admin', shop, {'app': 'any'}), 'metrics are not for any pod'
    assert allowed(policy, 'admin', monitoring, {'app': 'prometheus'})
    assert all(set(peer) <= {'namespaceSelector', 'podSelector'} for rule in policy['spec']['ingress'] for peer in rule['from']), 'pods alone'


@pytest.mark.parametrize('overlay', DEPLOYED)
def test_pods_spread_over_zones_and_nodes(built, overlay):
    resources = built[overlay]
    rules = workload(resources)['spec']['template']['spec']['topologySpreadConstraints']
    assert [rule['topologyKey'] for rule in rules] == ['topology.kubernetes.io/zone', 'kubernetes.io/hostname']
    labels = workload(resources)['spec']['template']['metadata']['labels']
    for rule in rules:
        assert rule['labelSelector']['matchLabels'].items() <= labels.items() and rule['whenUnsatisfiable'] == 'ScheduleAnyway'


# --- names ------------------------------------------------------------------------------------------
@pytest.mark.parametrize('overlay', DEPLOYED)
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


@pytest.mark.parametrize('overlay', IMAGES)
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
    known = set(re.findall(r'^OPTION\(\w+, \w+, (\w+),', (daemon.ROOT / 'config/options.def').read_text(), re.M))
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


@pytest.mark.parametrize('overlay', DEPLOYED)
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


@pytest.mark.parametrize('overlay,count', (('keda', 2), ('gpu-keda', 3)))
def test_metrics_that_are_scaled_on_are_there(built, server, overlay, count):
    page = server.get('/metrics').text
    asked = json.dumps([trigger['metadata'] for trigger in one(built[overlay], 'ScaledObject')['spec']['triggers']])
    found = set(re.findall(r'blurd_\w+', asked))
    assert len(found) == count and all(f'\n{name}' in page for name in found)
    for label, value in re.findall(r'(reason|stage)=\\+"(\w+)', asked):
        assert f'{label}="{value}"' in page
