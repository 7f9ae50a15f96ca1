#!/bin/bash
# SPDX-License-Identifier: MIT
# Prints alerts.yml as the Prometheus operator takes it; `make docs` keeps that in docker/kubernetes.
set -euo pipefail
cd "$(dirname "$0")"

cat <<'HEAD'
# SPDX-License-Identifier: MIT
# Made by `make docs` from docker/prometheus/alerts.yml; edit that.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: blurd
spec:
HEAD
sed '/^#/d; s/^./  &/' alerts.yml
