#!/usr/bin/env bash
# Gives this machine a Docker engine with gVisor and the sandbox image, without any image registry: packages and the
# base image come from Debian. Run as root; what is there already is left as it is.
#   DOCKER_HOST      a Unix socket of an engine's own, where another engine has the usual one
#   DOCKERD_OPTIONS  how that engine is started, such as `--data-root=DIR --exec-root=DIR --pidfile=FILE`
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
base=testforge-base:$release
log=$(mktemp -d)

say "packages for the engine"
missing=()
for pair in dockerd:docker.io debootstrap:debootstrap runsc:runsc; do
    command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
done
if [ "${#missing[@]}" -gt 0 ]; then
    echo "installing ${missing[*]}"
    # The package would start a service of its own, which not every machine can.
    export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
    apt-get update -qq >/dev/null || true
    patiently apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

say "the engine"
mkdir -p /etc/docker
if [ ! -e /etc/docker/daemon.json ]; then
    cat >/etc/docker/daemon.json <<JSON
{"runtimes": {"runsc": {"path": "$(command -v runsc)", "runtimeArgs": ["--platform=ptrace", "--network=none"]}}}
JSON
fi
if ! docker version >/dev/null 2>&1; then
    [ -n "${DOCKERD_OPTIONS:-}" ] || rm -f /var/run/docker.pid
    # shellcheck disable=SC2086 # several words
    nohup dockerd ${DOCKER_HOST:+--host="$DOCKER_HOST"} ${DOCKERD_OPTIONS:-} >"$log/dockerd" 2>&1 </dev/null &
    for _ in $(seq 60); do
        docker version >/dev/null 2>&1 && break
        sleep 1
    done
    docker version >/dev/null || { tail -n 40 "$log/dockerd"; exit 1; }
fi
# A hosted runner's engine runs already, without gVisor; runtimes are read again on a signal.
if [ "${CI:-}" = true ] && [ -z "${DOCKER_HOST:-}" ] && ! docker info --format '{{json .Runtimes}}' | grep -q '"runsc"'; then
    python3 - "$(command -v runsc)" <<'PY'
import json, pathlib, sys

file = pathlib.Path("/etc/docker/daemon.json")
settings = json.loads(file.read_text() or "{}")
options = ["--platform=ptrace", "--network=none"]
settings.setdefault("runtimes", {})["runsc"] = {"path": sys.argv[1], "runtimeArgs": options}
file.write_text(json.dumps(settings))
PY
    kill -HUP "$(cat /var/run/docker.pid)"
    for _ in $(seq 30); do
        docker info --format '{{json .Runtimes}}' | grep -q '"runsc"' && break
        sleep 1
    done
fi
docker info --format 'engine {{.ServerVersion}}, storage {{.Driver}}, runtimes {{range $name, $_ := .Runtimes}}{{$name}} {{end}}'

say "the base image"
patiently sh sandbox-images/base.sh "$base"

say "the sandbox image"
python=$(docker run --rm --network=none "$base" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
BASE=$base sh sandbox-images/build.sh "$python"
