# SPDX-License-Identifier: MIT
"""The output of `kubectl kustomize` for a folder, for the features that docker/kubernetes uses: resources,
images, namespace, and patches that are merged strategically or delete, components. A field of a kustomization
that is not known here is an error."""

import copy

import yaml

KNOWN = {'apiVersion', 'kind', 'namespace', 'resources', 'components', 'patches', 'images'}
WITHOUT_NAMESPACE = {'Namespace'}
# Lists that are merged by a key of their members; others are replaced.
KEYS = {'containers': 'name', 'env': 'name', 'volumes': 'name', 'volumeMounts': 'mountPath'}


def merged(target, patch, name=''):
    """The target with the patch in it; neither is changed."""
    if isinstance(target, dict) and isinstance(patch, dict):
        made = dict(target)
        for key, value in patch.items():
            made[key] = merged(target[key], value, key) if key in target else copy.deepcopy(value)
        return {key: value for key, value in made.items() if value is not None}
    if isinstance(target, list) and isinstance(patch, list) and {'$patch': 'replace'} in patch:
        return [copy.deepcopy(member) for member in patch if member != {'$patch': 'replace'}]
    if isinstance(target, list) and isinstance(patch, list) and name in KEYS:
        key = KEYS[name]
        # A patch's own members come first, as kustomize has them.
        old = {member[key]: member for member in target}
        new = [merged(old.get(member[key], {}), member) for member in patch]
        return new + [member for member in target if member[key] not in {one[key] for one in patch}]
    return copy.deepcopy(patch)


def apply(resources, patch, target):
    chosen = [i for i, one in enumerate(resources)
              if one['kind'] == target['kind'] and one['metadata']['name'] == target['name']]
    assert len(chosen) == 1, f'a patch for {target} finds {len(chosen)}'
    if patch.get('$patch') == 'delete':
        return resources[:chosen[0]] + resources[chosen[0] + 1:]
    return [merged(one, patch) if i == chosen[0] else one for i, one in enumerate(resources)]


def containers(resource):
    return resource.get('spec', {}).get('template', {}).get('spec', {}).get('containers', [])


def name_image(resource, image):
    for container in containers(resource):
        if container['image'] == image['name']:
            container['image'] = f"{image['newName']}:{image['newTag']}"


def load(path):
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


def build(folder):
    """The resources, as they would be applied."""
    return make(folder, load(folder / 'kustomization.yaml')[0], [])


def make(folder, file, resources):
    """The resources with the additions and changes of the folder's kustomization; a component also changes
    those of its user."""
    assert set(file) <= KNOWN, f'{folder.name}: {set(file) - KNOWN} is not known here'
    assert file['kind'] == 'Component' or not resources
    for name in file['resources']:
        path = (folder / name).resolve()
        assert path.is_dir() or path.parent == folder.resolve(), f'{name}: kustomize reads no file outside of its folder'
        resources = resources + (build(path) if path.is_dir() else load(path))
    for name in file.get('components', ()):
        path = (folder / name).resolve()
        resources = make(path, load(path / 'kustomization.yaml')[0], resources)
    for patch in file.get('patches', ()):
        content = yaml.safe_load(patch['patch']) if 'patch' in patch else load(folder / patch['path'])[0]
        resources = apply(resources, content, patch['target'])
    for resource in resources:
        for image in file.get('images', ()):
            name_image(resource, image)
        if 'namespace' in file and resource['kind'] not in WITHOUT_NAMESPACE:
            resource['metadata']['namespace'] = file['namespace']
    names = [(one['apiVersion'], one['kind'], one['metadata']['name']) for one in resources]
    assert len(names) == len(set(names)), f'{folder.name}: something is there twice'
    return resources
