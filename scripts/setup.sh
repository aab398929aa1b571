#!/bin/sh
# Sets up .venv from requirements.lock. Needs Python 3.11 to 3.13 and git; on Debian and Ubuntu it installs
# python3-venv by itself where it is missing and that is allowed. Run again, it does nothing until the lock changes.
set -eu
cd "$(dirname "$0")/.."

say() { printf '==> %s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 2; }

stamp=.venv/.set-up
wanted=$(cat requirements.lock pyproject.toml | cksum)
if [ -x .venv/bin/testforge ] && [ "$(cat $stamp 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

python=${PYTHON:-}
if [ -z "$python" ]; then
    for candidate in python3 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
            python=$candidate
            break
        fi
    done
fi
[ -n "$python" ] || fail "Python 3.11, 3.12 or 3.13 is needed and none is on PATH; install one, or say PYTHON=/path/to/python make ..."
command -v git >/dev/null || fail "git is needed and not on PATH; install it with your package manager."

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

make_venv() {
    rm -rf .venv
    "$python" -m venv .venv >/dev/null 2>&1
}

if .venv/bin/python -m pip --version >/dev/null 2>&1; then
    say "bringing .venv up to date"
elif say "making .venv with $("$python" --version)" && ! make_venv; then
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    command -v apt-get >/dev/null || fail "$python cannot make virtual environments; install its venv and pip modules, then run this again."
    say "installing python$version-venv, which this system's Python lacks"
    as_root apt-get update -qq >/dev/null || fail "python$version-venv is missing; run: sudo apt-get install python$version-venv"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "python$version-venv" >/dev/null ||
        fail "python$version-venv is missing; run: sudo apt-get install python$version-venv"
    make_venv || fail "$python cannot make a virtual environment in .venv; is this directory writable?"
fi

# uv from the lock, by its hash; uv then installs the rest several times faster than pip would.
say "installing the locked packages (about a hundred, with hashes)"
awk '/^uv==/ { on = 1 } on { print } on && !/\\$/ { exit }' requirements.lock >.venv/uv.lock
.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r .venv/uv.lock
.venv/bin/uv pip sync --quiet --python .venv/bin/python --require-hashes requirements.lock
say "installing testforge itself"
.venv/bin/uv pip install --quiet --python .venv/bin/python --no-deps --no-build-isolation --editable .
printf '%s\n' "$wanted" >$stamp
