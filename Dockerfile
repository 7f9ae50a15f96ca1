# SPDX-License-Identifier: MIT
# One image for hosts with and without GPUs; docs/container.md has the lines to run it.
#     docker build -t blurd .
# BASE: Debian 12 or 13. NVRTC=yes: with the compiler that --module-format nvrtc needs. CUDA_HOME=none: without a GPU.
ARG BASE=debian:12-slim

FROM ${BASE} AS build
WORKDIR /src
COPY config/packages.sh config/
RUN config/packages.sh build && rm -rf /var/lib/apt/lists/*
COPY . .
ARG CUDA_HOME=/usr/local/cuda
ARG NVRTC=no
RUN make -j "$(nproc)" CUDA_HOME="${CUDA_HOME}" && docker/image_root.sh build/release/blurd /out "${NVRTC}"

# Not from a slim Debian: that alone is larger than all of this, by a shell, apt and Perl, which only an intruder would use.
FROM scratch
COPY --from=build /out /
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="blurd" \
      org.opencontainers.image.description="Image filters over HTTP, on CPU or GPU" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="MIT"
# The driver comes from the host, through NVIDIA's container toolkit, which reads the last two.
ENV BLURD_LOG_FORMAT=json \
    NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 65534:65534
EXPOSE 8080
# Draining starts at SIGTERM.
STOPSIGNAL SIGTERM
# Sees BLURD_… and PORT, not the arguments of the daemon.
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s --retries=3 CMD ["/usr/local/bin/blurd", "--check-health"]
ENTRYPOINT ["/usr/local/bin/blurd"]
