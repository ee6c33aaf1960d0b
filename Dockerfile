# syntax=docker/dockerfile:1
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/holdfast ./cmd/holdfast \
 && mkdir -p /out/data && chmod 0700 /out/data

# Nothing but the binary and the roots of trust: no shell, no package manager, no root.
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/holdfast /holdfast
COPY --from=build --chown=65532:65532 /out/data /data
ARG VERSION=dev REVISION= CREATED=
LABEL org.opencontainers.image.title="Holdfast" \
      org.opencontainers.image.description="Home for Terraform and OpenTofu states" \
      org.opencontainers.image.source="https://github.com/holdfast/holdfast" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}"
USER 65532:65532
ENV HOST=0.0.0.0 PORT=7777 STORAGE_PATH=/data HOLDFAST_AUTH_FILE=/etc/holdfast/auth.cfg
VOLUME /data
EXPOSE 7777
HEALTHCHECK --interval=15s --timeout=5s --start-period=10s CMD ["/holdfast", "health"]
ENTRYPOINT ["/holdfast"]
CMD ["serve"]
