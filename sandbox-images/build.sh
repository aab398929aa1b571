#!/bin/sh
# Builds the sandbox images: `sandbox-images/build.sh [VERSION...]`, all of 3.9 to 3.14 without arguments.
#   BASE     base image; by default the official python:VERSION-slim
#   IMAGE    name of the images, before the colon; testforge looks for testforge-sandbox
#   NETWORK  the network of the build; by default the host's
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON_WITH_UV:-$here/../.venv/bin/python}
image=${IMAGE:-testforge-sandbox}
[ $# -gt 0 ] || set -- 3.9 3.10 3.11 3.12 3.13 3.14

context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
cp "$here/Dockerfile" "$context/"
cp "$("$python" -c 'import uv; print(uv.find_uv_bin())')" "$context/uv"
for version in "$@"; do
    echo "==> $image:$version from ${BASE:-python:$version-slim}"
    # The classic builder is the one that every engine has.
    DOCKER_BUILDKIT=0 docker build --quiet --network="${NETWORK:-host}" --build-arg BASE="${BASE:-python:$version-slim}" \
        --build-arg PYTHON="$version" --tag "$image:$version" "$context" >/dev/null
done
