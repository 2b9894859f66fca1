#!/bin/bash
# oci-image.sh ROOT NAME OUT.tar ARG…: an OCI image archive with one layer of a root file system; the rest is its command. IMAGE_USER is
# its user (default: root), IMAGE_FOLDER its working directory (default: /).
set -euo pipefail
root=$1 name=$2 out=$3; shift 3
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; mkdir -p "$work/blobs/sha256"
digest() { sha256sum "$1" | cut -d' ' -f1; }
add() { local d; d=$(digest "$1"); mv "$1" "$work/blobs/sha256/$d"; echo "$d"; }
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$root" -cf "$work/layer" .
layer_size=$(stat -c %s "$work/layer") layer=$(add "$work/layer")
case $(uname -m) in aarch64) arch=arm64 ;; *) arch=amd64 ;; esac
args=$(printf ',"%s"' "$@"); args=${args:1}
printf '{"architecture":"%s","os":"linux","config":{"User":"%s","WorkingDir":"%s","Cmd":[%s],"Env":["PATH=/usr/local/bin:/usr/bin:/bin"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' "$arch" "${IMAGE_USER:-}" "${IMAGE_FOLDER:-/}" "$args" "$layer" > "$work/config"
config_size=$(stat -c %s "$work/config") config=$(add "$work/config")
printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:%s","size":%s},"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar","digest":"sha256:%s","size":%s}]}' "$config" "$config_size" "$layer" "$layer_size" > "$work/manifest"
manifest_size=$(stat -c %s "$work/manifest") manifest=$(add "$work/manifest")
printf '{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:%s","size":%s,"annotations":{"io.containerd.image.name":"%s","org.opencontainers.image.ref.name":"%s"}}]}' "$manifest" "$manifest_size" "$name" "${name##*:}" > "$work/index.json"
printf '{"imageLayoutVersion":"1.0.0"}' > "$work/oci-layout"
tar -C "$work" -cf "$out" oci-layout index.json blobs
