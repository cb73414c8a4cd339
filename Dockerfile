# SPDX-FileCopyrightText: 2026 The Pinnace Authors
# SPDX-License-Identifier: Apache-2.0

# The compiler runs on the builder's platform and cross-compiles: no emulation.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src

# Modules first: they change less often than the code.
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download

COPY . .
ARG TARGETOS TARGETARCH
# Without cgo the binary needs no libc; without symbols it's smaller.
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -buildvcs=false -ldflags="-s -w" -o /out/pinnace ./cmd/pinnace
# Folders that the image needs and "scratch" has no command to make.
RUN mkdir -p /out/data /out/tmp && chmod 0700 /out/data && chmod 1777 /out/tmp

# Nothing but the binary: no shell, no package to keep patched.
FROM scratch
# For webhooks and other servers with certificates of public authorities.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build --chown=65532:65532 /out/tmp /tmp
COPY --from=build /out/pinnace /pinnace

# A number, so that Kubernetes can see that it isn't root (runAsNonRoot).
USER 65532:65532
VOLUME /data
EXPOSE 7443
ENTRYPOINT ["/pinnace"]
# Within a container the loopback address would be out of reach.
CMD ["standalone", "--data-dir=/data", "--bind-address=0.0.0.0"]
