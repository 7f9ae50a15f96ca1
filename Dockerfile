# SPDX-License-Identifier: MIT
# docker build -t blurd . && docker run --rm -p 8080:8080 blurd
# Debian 12 or 13: --build-arg BASE=debian:trixie-slim
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS build
WORKDIR /src
COPY config/packages.sh config/
RUN config/packages.sh build && rm -rf /var/lib/apt/lists/*
COPY . .
RUN make -j "$(nproc)" && make install DESTDIR=/out PREFIX=/usr/local
# The runtime packages' names differ between Debian's releases: ask which own our libraries.
RUN ldd build/release/blurd | sed -n 's|.* => .*\(/[^/]*/[^/ ]*\) .*|*\1|p' \
    | xargs dpkg-query --search | cut -d: -f1 | sort -u >/out/packages

FROM ${BASE}
RUN --mount=type=bind,from=build,source=/out,target=/mnt \
    apt-get update -q \
    && apt-get install -qy --no-install-recommends $(cat /mnt/packages) \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/usr/local /usr/local
USER 65532:65532
ENV BLURD_LOG_FORMAT=json
EXPOSE 8080
# Draining starts at SIGTERM. Orchestrators probe GET /livez and /readyz from outside.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/blurd"]
