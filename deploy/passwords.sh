#!/bin/sh
# Makes two files for docker-compose.yml: .env, with a password for each user of each server and a key for secrets at rest, to be
# kept, as the servers take these passwords when they are first made; and settings.env, for whatever is to be set.
set -eu
cd "$(dirname "$0")/.."
umask 077
set -C
{
  grep -o '[A-Z_]*_PASSWORD:?' docker-compose.yml | tr -d ':?' | sort -u | while read -r name; do
    echo "$name=$(head -c 24 /dev/urandom | od -An -v -tx1 | tr -d ' \n')"
  done
  echo "SECRET_KEYS=local:$(head -c 32 /dev/urandom | base64)"
} >.env
[ -e settings.env ] || cat >settings.env <<'END'
# Settings of Waybell, as docs/settings.md has them: `docker compose up --wait` gives them to the services.
CALLBACK_ALLOW_HTTP=true
END
