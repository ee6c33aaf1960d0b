# What the image with git stands on (`make docker-git`): git for repositories and layers, ssh for those that are fetched
# by a deploy key, and a name for the image's user, without which ssh refuses to run. It is another image than the
# plain one because git is no program of one file: with it come libraries and a shell.
ARG DEBIAN=debian:13-slim
FROM ${DEBIAN}
RUN apt-get update \
 && apt-get install --yes --no-install-recommends git openssh-client \
 && rm -rf /var/lib/apt/lists/* \
 && echo 'holdfast:x:65532:65532::/data:/usr/sbin/nologin' >> /etc/passwd
