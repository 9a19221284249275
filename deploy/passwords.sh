#!/bin/sh
# Makes .env for docker-compose.yml: a password for each user of each server, and a key for secrets at rest. Keep it: the
# servers take these passwords when they are made first.
set -eu
cd "$(dirname "$0")/.."
umask 077
set -C
{
  grep -o '[A-Z_]*_PASSWORD:?' docker-compose.yml | tr -d ':?' | sort -u | while read -r name; do
    echo "$name=$(openssl rand -hex 24)"
  done
  echo "SECRET_KEYS=local:$(openssl rand -base64 32)"
} >.env
