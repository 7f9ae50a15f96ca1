# SPDX-License-Identifier: MIT
"""docker/kubernetes/batch: an indexed job that takes a tar for each index. test_kubernetes.py checks its form with the others'."""

import pytest

import daemon

pytest.importorskip('yaml', reason='python3-yaml is not installed')
import kustomize  # noqa: E402
from test_kubernetes import container, one  # noqa: E402


@pytest.fixture(scope='module')
def built():
    return {name: kustomize.build(daemon.ROOT / 'docker/kubernetes' / name) for name in ('base', 'batch')}


def test_the_job_takes_a_tar_for_each_index(built):
    job = one(built['batch'], 'Job')['spec']
    assert job['completionMode'] == 'Indexed' and job['parallelism'] <= job['completions'] and job['maxFailedIndexes'] <= job['completions']
    assert job['template']['spec']['restartPolicy'] == 'Never', 'as a policy for failures wants it'
    own = container(built['batch'])
    index, = [entry for entry in own['env'] if 'valueFrom' in entry]
    assert index['valueFrom']['fieldRef']['fieldPath'] == "metadata.annotations['batch.kubernetes.io/job-completion-index']"
    paths = [word for word in own['args'] if word.startswith('/')]
    assert [path.rpartition('/')[2] for path in paths] == [f"$({index['name']}).tar"] * 2
    assert '--keep-going' in own['args'], 'or a result has none of the others'
    mounts = own['volumeMounts']
    assert [path.rpartition('/')[0] for path in paths] == [mount['mountPath'] for mount in mounts[:2]] and mounts[2]['mountPath'] == '/tmp'
    volumes = {volume['name']: volume for volume in job['template']['spec']['volumes']}
    assert 'emptyDir' in volumes[mounts[2]['name']]
    claims = {name: volume['persistentVolumeClaim'] for name, volume in volumes.items() if 'persistentVolumeClaim' in volume}
    assert {claim['claimName'] for claim in claims.values()} == \
        {resource['metadata']['name'] for resource in built['batch'] if resource['kind'] == 'PersistentVolumeClaim'}
    assert [claims[mount['name']].get('readOnly', False) for mount in mounts[:2]] == [True, False]


def test_the_job_repeats_what_can_help(built):
    rules = one(built['batch'], 'Job')['spec']['podFailurePolicy']['rules']
    assert {rule['action']: rule.get('onExitCodes', {}).get('values') for rule in rules} == {'Ignore': None, 'FailIndex': [1], 'FailJob': [2]}
    assert all(rule['onExitCodes']['containerName'] == container(built['batch'])['name'] for rule in rules if 'onExitCodes' in rule)


def test_no_request_comes_to_pods_of_the_job(built):
    labels = one(built['batch'], 'Job')['spec']['template']['metadata']['labels']
    assert not one(built['base'], 'Service')['spec']['selector'].items() <= labels.items()
    policy = one(built['batch'], 'NetworkPolicy')['spec']
    assert policy['podSelector']['matchLabels'].items() <= labels.items() and policy['ingress'] == policy['egress'] == []
