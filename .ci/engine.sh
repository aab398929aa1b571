#!/usr/bin/env bash
# Gives this machine a Docker engine with gVisor and the sandbox image, without any image registry: packages and the
# base image come from Debian. Run as root; what is there already is left as it is.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n=== %s\n' "$*"; }
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
base=testforge-base:$release

say "packages for the engine"
missing=()
for pair in dockerd:docker.io debootstrap:debootstrap runsc:runsc; do
    command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
done
if [ "${#missing[@]}" -gt 0 ]; then
    apt-get update -qq >/dev/null || true
    # The package would start a service of its own, which not every machine can.
    export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
    for package in "${missing[@]}"; do
        apt-get install -y -qq --no-install-recommends "$package" >/dev/null ||
            { [ "$package" = runsc ] && echo "runsc cannot be had here; gVisor is left out"; }
    done
fi

say "the engine"
mkdir -p /etc/docker
if [ ! -e /etc/docker/daemon.json ] && command -v runsc >/dev/null; then
    cat >/etc/docker/daemon.json <<JSON
{"runtimes": {"runsc": {"path": "$(command -v runsc)", "runtimeArgs": ["--platform=ptrace", "--network=none"]}}}
JSON
fi
if ! docker version >/dev/null 2>&1; then
    rm -f /var/run/docker.pid
    nohup dockerd >/var/log/dockerd.log 2>&1 </dev/null &
    for _ in $(seq 60); do
        docker version >/dev/null 2>&1 && break
        sleep 1
    done
    docker version >/dev/null || { tail -n 40 /var/log/dockerd.log; exit 1; }
fi
docker info --format 'engine {{.ServerVersion}}, runtimes {{range $name, $_ := .Runtimes}}{{$name}} {{end}}'

say "the base image"
if ! docker image inspect "$base" >/dev/null 2>&1; then
    root=$(mktemp -d)
    debootstrap --variant=minbase --include=python3,python3-venv,python3-distutils,ca-certificates,git \
        "$release" "$root" >/var/log/debootstrap.log || { tail -n 20 /var/log/debootstrap.log; exit 1; }
    rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/usr/share/doc/* "$root"/usr/share/man/*
    tar -C "$root" -c . | docker import - "$base" >/dev/null
    rm -rf "$root"
fi

say "the sandbox image"
python=$(docker run --rm --network=none "$base" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
BASE=$base sh sandbox-images/build.sh "$python"
