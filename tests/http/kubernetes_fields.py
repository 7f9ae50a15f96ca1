# SPDX-License-Identifier: MIT
"""The fields of kinds of objects whose schemas these tests have not: those of KEDA, the Prometheus operator, the
Gateway API and Knative."""

SCALED_OBJECT = {'scaleTargetRef', 'pollingInterval', 'initialCooldownPeriod', 'cooldownPeriod', 'idleReplicaCount', 'minReplicaCount',
                 'maxReplicaCount', 'advanced', 'triggers', 'fallback'}
TRIGGER = {'type', 'name', 'useCachedMetrics', 'metadata', 'authenticationRef', 'metricType'}
PROMETHEUS = {'serverAddress', 'query', 'threshold', 'activationThreshold', 'namespace', 'ignoreNullValues', 'timeout'}
POD_MONITOR = {'jobLabel', 'selector', 'namespaceSelector', 'podMetricsEndpoints', 'podTargetLabels'}
ROUTE = {'parentRefs', 'hostnames', 'rules'}
ROUTE_RULE = {'matches', 'filters', 'timeouts', 'backendRefs', 'name'}
REVISION = {'containerConcurrency', 'timeoutSeconds', 'responseStartTimeoutSeconds', 'idleTimeoutSeconds', 'serviceAccountName', 'containers',
            'volumes', 'imagePullSecrets', 'enableServiceLinks'}
REVISION_CONTAINER = {'name', 'args', 'command', 'env', 'envFrom', 'workingDir', 'image', 'imagePullPolicy', 'livenessProbe', 'readinessProbe',
                      'startupProbe', 'ports', 'resources', 'securityContext', 'volumeMounts'}
