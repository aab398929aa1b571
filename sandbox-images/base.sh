#!/bin/sh
# Makes a base image where there is no registry: a Debian of debootstrap, and on top of it, if one is named, a Python that
# is installed on this machine. Run as root, which debootstrap needs.
#   sandbox-images/base.sh NAME          Debian with its own Python
#   sandbox-images/base.sh NAME PREFIX   the same with the Python of a directory such as /usr/local or ~/.pyenv/versions/3.12.1,
#                                        which must have been built on this release of Debian
#   RELEASE  the release of Debian, by default this machine's: bullseye has Python 3.9, bookworm 3.11, trixie 3.13, sid the newest
#   DEBIAN   an image that this script made before, to start from instead of making one
# Then: BASE=NAME sandbox-images/build.sh VERSION
set -eu
name=$1
prefix=${2:-}
release=${RELEASE:-$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

debian=${DEBIAN:-testforge-base:$release}
if ! docker image inspect "$debian" >/dev/null 2>&1; then
    # Later releases have distutils in no package of its own.
    case $release in bullseye | bookworm | focal | jammy) more=,python3-distutils ;; *) more= ;; esac
    # Ubuntu keeps the package of virtual environments apart.
    case $release in focal | jammy | noble | plucky | questing) parts=--components=main,universe ;; *) parts= ;; esac
    # shellcheck disable=SC2086 # an option, or none
    debootstrap --variant=minbase $parts --include="python3,python3-venv,ca-certificates,git$more" \
        "$release" "$work/debian" >"$work/log" || { tail -n 20 "$work/log"; exit 1; }
    rm -rf "$work"/debian/var/cache/apt/archives/*.deb "$work"/debian/var/lib/apt/lists/* \
        "$work"/debian/usr/share/doc/* "$work"/debian/usr/share/locale/* "$work"/debian/usr/share/man/*
    tar -C "$work/debian" -c . | docker import - "$debian" >/dev/null
fi
if [ -z "$prefix" ]; then
    [ "$name" = "$debian" ] || docker tag "$debian" "$name"
    exit
fi

# A Python finds its library beside itself, wherever it lies; only the linker must be told of a shared libpython.
mkdir -p "$work/context"
tar -C "$prefix" --exclude='__pycache__' --exclude='lib/python3.*/test' --exclude='lib/python3.*/site-packages/*' \
    --exclude='*.a' -c bin include lib | { mkdir "$work/context/python" && tar -C "$work/context/python" -x; }
printf 'FROM %s\nCOPY --chown=0:0 python /usr/local\nRUN ldconfig && python3 -c "import ssl, sqlite3, zlib, lzma, bz2, ctypes, venv"\n' \
    "$debian" >"$work/context/Dockerfile"
DOCKER_BUILDKIT=0 docker build --quiet --network=none --tag "$name" "$work/context" >/dev/null
