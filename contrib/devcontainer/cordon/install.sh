#!/bin/sh
# contrib/devcontainer/cordon/install.sh - run as root while the container is built. seccomp=unconfined lets boxes have the namespace wall:
# docker's own filter denies user namespaces; without it they have the process wall.
set -eu
: "${TARBALL:?the option tarball is required}" "${SHA256:?the option sha256 is required}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
case $TARBALL in
http://* | https://*) curl -fsSL -o "$dir/cordon.tar.gz" "$TARBALL" ;;
*) cp "$TARBALL" "$dir/cordon.tar.gz" ;;
esac
echo "$SHA256  $dir/cordon.tar.gz" | sha256sum -c --quiet
tar -xzf "$dir/cordon.tar.gz" -C "$dir"
top=$(find "$dir" -mindepth 1 -maxdepth 1 -type d -name 'cordon-*')
cp -r "$top/bin" "$top/libexec" "$top/share" /usr/local/
