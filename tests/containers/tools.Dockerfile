# SPDX-License-Identifier: MIT
# Debian's builds of the programs that the Compose and Swarm files start beside blurd, and of Compose itself.
ARG BASE
FROM ${BASE} AS compose
RUN apt-get update -q && apt-get install -qy --no-install-recommends haproxy prometheus docker-compose

# The two below obey the files as the images do that are named there: the same command, user and folders.
FROM compose AS haproxy
USER haproxy
STOPSIGNAL SIGUSR1
CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]

FROM compose AS prometheus
RUN install -d -o nobody -g nogroup /prometheus
USER nobody
ENTRYPOINT ["prometheus"]
CMD ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]
