{{- /* SPDX-License-Identifier: MIT */ -}}
{{- /*
blurd.patch puts a patch of docker/kubernetes into a Deployment, as kustomize does: environment by name, volumes added,
other fields merged. Arguments: deployment, which is changed, and patch.
*/ -}}
{{- define "blurd.patch" -}}
{{- $pod := .deployment.spec.template.spec -}}
{{- $container := first $pod.containers -}}
{{- $more := .patch.spec.template.spec -}}
{{- $changes := first $more.containers -}}
{{- range $entry := $changes.env -}}
  {{- $kept := list -}}
  {{- range $container.env -}}
    {{- if ne .name $entry.name -}}{{- $kept = append $kept . -}}{{- end -}}
  {{- end -}}
  {{- $_ := set $container "env" (append $kept $entry) -}}
{{- end -}}
{{- if $changes.volumeMounts -}}
  {{- $_ := set $container "volumeMounts" (concat ($container.volumeMounts | default list) $changes.volumeMounts) -}}
  {{- $_ := set $pod "volumes" (concat ($pod.volumes | default list) $more.volumes) -}}
{{- end -}}
{{- $_ := mergeOverwrite $container (omit $changes "env" "volumeMounts") -}}
{{- $_ := mergeOverwrite $pod (omit $more "containers" "volumes") -}}
{{- $_ := mergeOverwrite .deployment.spec (omit .patch.spec "template") -}}
{{- end -}}
