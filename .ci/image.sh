#!/usr/bin/env bash
# Builds the server's image and tries it: webhook in, review out, alone and as compose.yaml has it. Run as root after
# `.ci/engine.sh`, whose base image stands for the official ones.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n=== %s\n' "$*"; }
# Mirrors stumble now and then.
patiently() {
    local pause
    for pause in 3 10 30; do
        "$@" && return
        echo "again in $pause s: $*"
        sleep "$pause"
    done
    "$@"
}
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The classic builder is the one that every engine has.
export DOCKER_BUILDKIT=0

say "the base, with this machine's indexes of packages and certificates"
mkdir "$work/base"
.venv/bin/python - "testforge-base:$release" "$work/base" <<'PY'
import json
import shutil
import sys
from pathlib import Path

from bot.environment.indexes import reachable

base, context = sys.argv[1], Path(sys.argv[2])
variables, certificates = reachable()
lines = [f"FROM {base}"]
if certificates is not None:
    target = "/etc/ssl/certs/ca-certificates.crt"
    shutil.copyfile(certificates, context / "certificates")
    lines.append(f"COPY certificates {target}")
    variables |= {"SSL_CERT_FILE": target, "PIP_CERT": target}
lines += [f"ENV {name}={json.dumps(value)}" for name, value in sorted(variables.items())]
(context / "Dockerfile").write_text("\n".join(lines) + "\n")
PY
docker build --quiet --tag testforge-image-base "$work/base"

build() {
    echo "building $1"
    if ! docker build --network=host --build-arg BASE=testforge-image-base --tag "$1" "$2" >"$work/log" 2>&1; then
        tail -n 40 "$work/log"
        return 1
    fi
}
say "the server's image"
patiently build testforge-image:ci .
patiently build testforge-image-postgres tests/image/postgres
size() { docker image inspect --format '{{.Size}}' "$1"; }
echo "$(($(size testforge-image:ci) / 1000000)) MB, of which $(($(size testforge-image-base) / 1000000)) MB are the base"

if ! command -v docker-compose >/dev/null; then
    say "docker-compose"
    export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
    patiently apt-get install -y -qq --no-install-recommends docker-compose >/dev/null
fi

say "a webhook, a review"
TESTFORGE_IMAGE=testforge-image:ci TESTFORGE_IMAGE_POSTGRES=testforge-image-postgres \
    .venv/bin/python -m pytest tests/image -q --durations=6
