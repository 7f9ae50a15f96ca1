# SPDX-License-Identifier: MIT
# One image for hosts with and without GPUs; docs/container.md has the lines to run it.
#     docker build -t blurd .
# BASE: Debian 13, whose libmicrohttpd is stricter about messages; 12 will do.
# GPU: "required" stops a build that could not use GPUs, "auto" goes on and says so, "none" leaves that part out.
# NVRTC=yes: with the compiler that --module-format nvrtc needs.
ARG BASE=debian:13-slim

FROM ${BASE} AS build
WORKDIR /src
COPY config/packages.sh config/
COPY codecs/formats.def codecs/
RUN config/packages.sh build && rm -rf /var/lib/apt/lists/*
COPY . .
ARG GPU=auto
ARG NVRTC=no
# The date in the list of what is packed; without it, the date of the Debian package's changelog.
ARG SOURCE_DATE_EPOCH
RUN make -j "$(nproc)" GPU="${GPU}" ARCHITECTURES=all && build/release/blurd --version && docker/image_root.sh build/release/blurd /out "${NVRTC}"

# Not from a slim Debian: that alone is larger than all of this, by a shell, apt and Perl, which only an intruder would use.
FROM scratch
COPY --from=build /out /
ARG VERSION=1.0.0
ARG GPU=auto
# What was asked of the build; `blurd --version` in the image says what came of it.
LABEL org.opencontainers.image.title="blurd" \
      org.opencontainers.image.description="Image filters over HTTP, on CPU or GPU" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.url="https://blurd.invalid/blurd" \
      org.opencontainers.image.source="https://blurd.invalid/blurd" \
      org.opencontainers.image.licenses="MIT" \
      blurd.gpu="${GPU}"
# The driver comes from the host, through NVIDIA's container toolkit, which reads the last two.
ENV BLURD_LOG_FORMAT=json \
    NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 65534:65534
EXPOSE 8080
# Draining starts at SIGTERM.
STOPSIGNAL SIGTERM
# Asks as process 1 was configured, by variables, arguments and file, and gives up by itself after 2 s. The start takes
# milliseconds, but with require_gpu until the GPU serves.
HEALTHCHECK --interval=2s --timeout=3s --start-period=30s --retries=3 CMD ["/usr/local/bin/blurd", "--check-health"]
ENTRYPOINT ["/usr/local/bin/blurd"]
