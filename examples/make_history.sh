#!/bin/sh
# Makes a git repository from the sample package: `main`, and a branch `bulky-parcels` with a change that has no tests.
# Usage: make_history.sh DIRECTORY (removed first if this script made it)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
target=$1
if [ -e "$target" ] && [ ! -e "$target/.made-by-testforge" ]; then
    echo "$target exists and was not made by this script: name another directory" >&2
    exit 2
fi
rm -rf "$target"
mkdir -p "$target"
cp -R "$here/parcel/." "$target/"
cd "$target"

# The history must not depend on whoever runs the demo: no global configuration, fixed names and dates.
GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
GIT_AUTHOR_NAME="Ada Sample" GIT_AUTHOR_EMAIL="ada@example.org" GIT_AUTHOR_DATE="2026-01-05T09:00:00Z"
GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
export GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE
export GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE

git init --quiet
git symbolic-ref HEAD refs/heads/main
echo .made-by-testforge >.git/info/exclude
touch .made-by-testforge
git add .
git commit --quiet -m "Shipping quotes by weight and zone"
git checkout --quiet -b bulky-parcels
git apply "$here/bulky-parcels.patch"
git add .
git commit --quiet -m "Charge bulky parcels by volume, read sizes, give discounts"
