# scripts/image.sh (`make docker`) lays out what is copied here, and builds it.
#
# Nothing but the binary and the roots of trust: no shell, no package manager, no root. Where BASE is another image,
# what is in that comes beside: `make docker-git` has git there, which repositories and layers need.
ARG BASE=scratch
FROM ${BASE}
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY holdfast /holdfast
COPY --chown=65532:65532 owned/ /
ARG VERSION=dev
ARG REVISION=
ARG CREATED=
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
