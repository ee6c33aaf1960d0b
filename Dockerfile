# `docker build .` makes the page and the program in stages of their own, which fetch Node, Go and modules. `make docker`
# leaves these stages out: scripts/image.sh makes both on this machine, with a revision and the commit's time.
#
# The image has nothing but the binary and the roots of trust: no shell, no package manager, no root. Where BASE is
# another image, what is in that comes beside: `make docker-git` has git there, which repositories and layers need.
ARG BASE=scratch

FROM docker.io/library/node:22 AS page
WORKDIR /src
COPY . .
RUN scripts/page.sh needed

FROM docker.io/library/golang:1.26 AS build
WORKDIR /src
COPY . .
COPY --from=page /src/web/dist/page web/dist/page
ARG VERSION=dev
RUN scripts/imagefiles.sh "$VERSION" /out

FROM ${BASE}
COPY --from=build /out/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/holdfast /holdfast
COPY --from=build --chown=65532:65532 /out/owned/ /
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
