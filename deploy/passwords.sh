#!/bin/sh
# Makes .env for docker-compose.yml: a password for each user of each server, and a key for secrets at rest. Keep it: the
# servers take these passwords when they are first made.
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
