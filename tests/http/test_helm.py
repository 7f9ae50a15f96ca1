# SPDX-License-Identifier: MIT
"""The Helm chart docker/helm: linted and rendered by Helm's own library, and equal to docker/kubernetes, object by object.

The library comes in a Python package (config/pypi.sh helm) that tests/python.sh finds; without it the tests are skipped."""

import re

import pytest

import daemon

yaml = pytest.importorskip('yaml', reason='python3-yaml is not installed')
helm = pytest.importorskip('helm_python', reason='run config/pypi.sh helm, and pytest by tests/python.sh')
import kustomize  # noqa: E402
from test_kubernetes import EXTRA, FOLDER, VERSIONS, container, environment, one, seconds, settings, validate, workload  # noqa: E402, F401

CHART = daemon.ROOT / 'docker/helm'
PROMETHEUS = 'http://prometheus-operated.monitoring.svc:9090'
# Values, and the overlay or component of docker/kubernetes that gives the same.
CASES = {
    'base': {}, 'gpu': {'gpu': True}, 'token': {'tokens': 'blurd-tokens'}, 'tls': {'tls': 'blurd-tls'},
    'ingress': {'ingress': {'host': 'blurd.example.com'}}, 'monitoring': {'monitoring': True}, 'httproute': {'httpRoute': {'host': 'blurd.example.com'}},
    'servicemonitor': {'serviceMonitor': True}, 'keda': {'keda': {'prometheus': PROMETHEUS}}, 'gpu-keda': {'gpu': True, 'keda': {'prometheus': PROMETHEUS}},
}
ALL = {'gpu': True, 'tokens': 'some', 'ingress': {'host': 'pictures.example.org', 'secret': 'other'}, 'monitoring': True, 'replicas': {'min': 3, 'max': 9},
       'options': {'max_pixels': 100000000, 'gpu_timeout': '9s', 'require_gpu': False}, 'image': {'repository': 'example.org/x', 'tag': '7'}}
PLACE = {'nodeSelector': {'disk': 'fast'}, 'affinity': {'nodeAffinity': {}}, 'runtimeClassName': 'nvidia', 'priorityClassName': 'high', 'serviceAccountName': 'own',
         'imagePullSecrets': [{'name': 'registry'}], 'topologySpreadConstraints': [{'maxSkew': 2, 'topologyKey': 'rack', 'whenUnsatisfiable': 'DoNotSchedule'}]}
MORE = {**PLACE, 'gpu': True, 'tokens': 'some', 'tolerations': [{'key': 'spot', 'operator': 'Exists'}], 'annotations': {'team': 'a'}, 'podAnnotations': {'sidecar': 'no'},
        'podLabels': {'tier': 'front', 'app.kubernetes.io/name': 'other'}, 'service': {'type': 'LoadBalancer', 'annotations': {'internal': 'true'}}, 'networkPolicy': False,
        'extraEnv': [{'name': 'TZ', 'value': 'UTC'}, {'name': 'KEY', 'valueFrom': {'secretKeyRef': {'name': 'a', 'key': 'b'}}}],
        'extraVolumes': [{'name': 'models', 'emptyDir': {}}], 'extraVolumeMounts': [{'name': 'models', 'mountPath': '/models'}],
        'keda': {'prometheus': 'http://prometheus.example:9090'}, 'replicas': {'min': 3, 'max': 9}, 'httpRoute': {'host': 'a.example', 'gateway': 'g', 'namespace': 'n'},
        'monitoring': True, 'serviceMonitor': True}


def render(values):
    files = helm.Chart.load(CHART).render(values, name='any', namespace='blurd')
    return [document for name, text in files.items() if name.endswith('.yaml') for document in yaml.safe_load_all(text) if document]


def kustomized(name):
    if (FOLDER / name).is_dir():
        return kustomize.build(FOLDER / name)
    return kustomize.make(daemon.ROOT, {'kind': 'Kustomization', 'namespace': 'blurd', 'resources': ['docker/kubernetes/base'],
                                        'components': [f'docker/kubernetes/components/{name}']}, [])


def comparable(resources):
    """{(kind, name): object}. Helm has the namespace from its command line, and the chart takes Secrets that are there."""
    found = {}
    for resource in resources:
        if resource['kind'] in ('Namespace', 'Secret'):
            continue
        resource['metadata'].pop('namespace', None)
        for each in kustomize.containers(resource):
            each['env'] = {entry['name']: entry['value'] for entry in each['env']}
        key = resource['kind'], resource['metadata']['name']
        assert key not in found
        found[key] = resource
    return found


@pytest.mark.parametrize('case', CASES)
def test_the_chart_is_what_kustomize_makes(case):
    assert comparable(render(CASES[case])) == comparable(kustomized(case))


@pytest.mark.parametrize('values', ({}, ALL, MORE), ids=('default', 'all', 'more'))
@pytest.mark.parametrize('version', VERSIONS)
def test_helm_finds_nothing_to_lint(values, version):
    report = helm.lint(CHART, values, strict=True, kube_version=f'v{version}.0')
    assert not report['errors'] and {message['error'] for message in report['messages']} <= {'icon is recommended'}, report


@pytest.mark.parametrize('values', (*CASES.values(), ALL, MORE), ids=(*CASES, 'all', 'more'))
@pytest.mark.parametrize('version', VERSIONS)
def test_kinds_of_kubernetes(values, version, validate):  # noqa: F811
    resources = render(values)
    assert {'Deployment', 'Service', 'PodDisruptionBudget'} <= {each['kind'] for each in resources}
    for resource in resources:
        if resource['apiVersion'].split('/')[0] not in EXTRA:
            validate(resource, version, strict=True)


def test_all_values_arrive():
    resources = render(ALL)
    assert container(resources)['image'] == 'example.org/x:7'
    found = settings(resources)
    assert (found['gpu_timeout'], found['require_gpu']) == ('9s', 'false')
    assert environment(resources)['BLURD_MAX_PIXELS'] == '100000000'
    scaler = one(resources, 'HorizontalPodAutoscaler')['spec']
    assert (scaler['minReplicas'], scaler['maxReplicas']) == (3, 9)
    volume, = workload(resources)['spec']['template']['spec']['volumes']
    assert volume['secret']['secretName'] == 'some'
    spec = one(resources, 'Ingress')['spec']
    assert spec['tls'] == [{'hosts': ['pictures.example.org'], 'secretName': 'other'}] and spec['rules'][0]['host'] == 'pictures.example.org'


def test_where_pods_run():
    pod = workload(render(MORE))['spec']['template']['spec']
    assert {field: pod[field] for field in PLACE} == PLACE
    assert [entry['key'] for entry in pod['tolerations']] == ['nvidia.com/gpu', 'spot']


def test_what_pods_have_beside():
    deployment = workload(render(MORE))
    template = deployment['spec']['template']
    labels = template['metadata']['labels']
    assert deployment['metadata']['annotations'] == {'team': 'a'} and template['metadata']['annotations'].items() >= {'sidecar': 'no', 'prometheus.io/port': '8081'}.items()
    assert labels['tier'] == 'front' and labels.items() >= deployment['spec']['selector']['matchLabels'].items()  # else the Deployment would be refused
    only, = template['spec']['containers']
    assert {'name': 'KEY', 'valueFrom': {'secretKeyRef': {'name': 'a', 'key': 'b'}}} in only['env']
    assert [volume['name'] for volume in template['spec']['volumes']] == [mount['name'] for mount in only['volumeMounts']] and only['volumeMounts'][-1]['mountPath'] == '/models'


def test_objects_around_the_pods():
    resources = render(MORE)
    kinds = [each['kind'] for each in resources]
    assert 'NetworkPolicy' not in kinds and 'HorizontalPodAutoscaler' not in kinds and 'PodMonitor' not in kinds and {'ServiceMonitor', 'PrometheusRule'} <= set(kinds)
    service = next(each for each in resources if each['kind'] == 'Service' and each['metadata']['name'] == 'blurd')
    assert service['spec']['type'] == 'LoadBalancer' and service['metadata']['annotations'] == {'internal': 'true'}
    scaled = one(resources, 'ScaledObject')['spec']
    assert (scaled['minReplicaCount'], scaled['maxReplicaCount']) == (3, 9)
    assert {trigger['metadata']['serverAddress'] for trigger in scaled['triggers']} == {'http://prometheus.example:9090'}
    route = one(resources, 'HTTPRoute')['spec']
    assert route['hostnames'] == ['a.example'] and route['parentRefs'] == [{'name': 'g', 'namespace': 'n', 'sectionName': 'https'}]


def test_resources_replace_those_of_the_base():
    wanted = {'requests': {'cpu': '1'}, 'limits': {'memory': '2Gi'}}
    assert container(render({'resources': wanted}))['resources'] == wanted


@pytest.mark.parametrize('values,says', (({'tls': 'a', 'ingress': {'host': 'b'}}, 'set ingress.host or tls, not both'),
                                         ({'token': 'a'}, 'token'), ({'gpu': 1}, 'gpu'), ({'replicas': {'min': 0}}, 'min'),
                                         ({'options': {'BLURD_X': '1'}}, 'BLURD_X')))
def test_wrong_values_are_refused(values, says):
    with pytest.raises(helm.HelmError, match=says):
        helm.Chart.load(CHART).validate_schema(values)
        render(values)


def test_an_archive_of_the_chart_has_the_same(tmp_path):
    """Helm follows the link to docker/kubernetes: the archive has the files."""
    archive = helm.Chart.load(CHART).save(tmp_path)
    files = helm.Chart.load(archive).render(ALL, name='any', namespace='blurd')
    assert [each for name, text in files.items() if name.endswith('.yaml') for each in yaml.safe_load_all(text) if each] == render(ALL)


# --- docs/gpu/sharing.md ------------------------------------------------------------------------------
def block(mark):
    text = (daemon.ROOT / 'docs/gpu/sharing.md').read_text().split(f'<!-- {mark} -->\n\n', 1)[1]
    return yaml.safe_load(re.match(r'((?:    .*)?\n)+', text).group(0))


@pytest.mark.parametrize('version', VERSIONS)
@pytest.mark.parametrize('name', ('mig', 'spot'))
def test_values_for_shared_gpus_are_valid(validate, name, version):
    for resource in render(block(f'values: {name}')):
        if resource['apiVersion'].split('/')[0] not in EXTRA:
            validate(resource, version, strict=True)


def test_a_slice_in_place_of_a_gpu(validate):
    """The chart and kustomize ask for a slice and for no whole GPU, on nodes with NVIDIA's runtime."""
    made = [render(block('values: mig')), kustomize.make(daemon.ROOT, block('kustomization: mig'), [])]
    for resources in made:
        pod = workload(resources)['spec']['template']['spec']
        assert {name: count for name, count in container(resources)['resources']['limits'].items() if 'nvidia' in name} == {'nvidia.com/mig-1g.10gb': 1}
        assert pod['runtimeClassName'] == 'nvidia' and 'nvidia.com/gpu' in [entry['key'] for entry in pod['tolerations']]
        validate(workload(resources), VERSIONS[-1], strict=True)
    assert settings(made[0])['gpus'] == 'all'


def test_a_pod_ends_before_its_spot_node():
    resources = render(block('values: spot'))
    found = settings(resources)
    assert seconds(found['drain_delay']) + seconds(found['drain_timeout']) < 15
    pod = workload(resources)['spec']['template']['spec']
    assert [entry['key'] for entry in pod['tolerations']] == ['nvidia.com/gpu', *pod['nodeSelector']]
