# SPDX-License-Identifier: MIT
"""The Helm chart docker/helm: linted and rendered by Helm's own library, and equal to docker/kubernetes, object by object.

The library comes in a Python package (config/pypi.sh helm) that tests/python.sh finds; without it the tests are skipped."""

import re

import pytest

import daemon

yaml = pytest.importorskip('yaml', reason='python3-yaml is not installed')
helm = pytest.importorskip('helm_python', reason='run config/pypi.sh helm, and pytest by tests/python.sh')
import kustomize  # noqa: E402
from test_kubernetes import EXTRA, FOLDER, VERSIONS, container, environment, one, settings, validate, workload  # noqa: E402, F401

CHART = daemon.ROOT / 'docker/helm'
# Values, and the overlay or component of docker/kubernetes that gives the same.
CASES = {
    'base': {}, 'gpu': {'gpu': True}, 'token': {'tokens': 'blurd-tokens'}, 'tls': {'tls': 'blurd-tls'},
    'ingress': {'ingress': {'host': 'blurd.example.com'}}, 'monitoring': {'monitoring': True},
}
ALL = {'gpu': True, 'tokens': 'some', 'ingress': {'host': 'pictures.example.org', 'secret': 'other'}, 'monitoring': True, 'replicas': {'min': 3, 'max': 9},
       'options': {'max_pixels': 100000000, 'gpu_timeout': '9s', 'require_gpu': False}, 'image': {'repository': 'example.org/x', 'tag': '7'}}


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


@pytest.mark.parametrize('values', ({}, ALL), ids=('default', 'all'))
@pytest.mark.parametrize('version', VERSIONS)
def test_helm_finds_nothing_to_lint(values, version):
    report = helm.lint(CHART, values, strict=True, kube_version=f'v{version}.0')
    assert not report['errors'] and {message['error'] for message in report['messages']} <= {'icon is recommended'}, report


@pytest.mark.parametrize('values', (*CASES.values(), ALL), ids=(*CASES, 'all'))
@pytest.mark.parametrize('version', VERSIONS)
def test_kinds_of_kubernetes(values, version, validate):  # noqa: F811
    resources = render(values)
    assert {'Deployment', 'Service', 'HorizontalPodAutoscaler', 'PodDisruptionBudget', 'NetworkPolicy'} <= {each['kind'] for each in resources}
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


def test_the_version_is_the_daemons(shared):
    chart = yaml.safe_load((CHART / 'Chart.yaml').read_text())
    version = shared.get('/version').json()['version']
    assert chart['version'] == chart['appVersion'] == version


@pytest.mark.parametrize('name, pattern', (
    ('Dockerfile', r'^ARG VERSION=(\S+)$'), ('docker/debian/changelog', r'\Ablurd \((\S+)\)'),
    ('docker/kubernetes/base/kustomization.yaml', r'^    newTag: (\S+)$'),
    ('docker/kubernetes/knative/kustomization.yaml', r'^    newTag: (\S+)$'),
    ('docker/kubernetes/batch/kustomization.yaml', r'^    newTag: (\S+)$')))
def test_other_files_have_the_same_version(shared, name, pattern):
    assert re.findall(pattern, (daemon.ROOT / name).read_text(), re.M)[:1] == [shared.get('/version').json()['version']]
