#!/bin/sh
# Makes the database at the first start, then serves it.
set -eu
data=/var/lib/postgresql/data
if [ ! -e "$data/PG_VERSION" ]; then
    printf '%s' "$POSTGRES_PASSWORD" >/tmp/password
    initdb -D "$data" -U "$POSTGRES_USER" --pwfile=/tmp/password -A scram-sha-256 -E UTF8 --no-locale -N >/dev/null
    rm /tmp/password
    echo "CREATE DATABASE \"$POSTGRES_USER\"" | postgres --single -D "$data" postgres >/dev/null
    echo 'host all all all scram-sha-256' >>"$data/pg_hba.conf"
fi
exec postgres -D "$data" -c 'listen_addresses=*' -c fsync=off
