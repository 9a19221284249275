import { existsSync } from 'node:fs';
import { runAsRoot } from './run-as-root.ts';

/**
 * Installs Debian's packages without letting them start daemons: policy-rc.d forbids that for as long as apt runs, and
 * is taken away however the script ends. A policy that the machine has already is left alone.
 */
const INSTALL = `
set -e
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ] || grep -qs 'made by waybell' "$policy"; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 130' INT TERM HUP
  printf '#!/bin/sh\\n# made by waybell while it installs packages\\nexit 101\\n' >"$policy"
  chmod 755 "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
install() {
  apt-get update -q -o Acquire::Retries=5 &&
    apt-get install -q -y --no-install-recommends -o Acquire::Retries=5 -o DPkg::Lock::Timeout=300 "$@"
}
# Mirrors fail at times: an update that missed a list succeeds, and then there is no such package.
install "$@" || install "$@"
`;

/** Installs them from the distribution, as root or with passwordless sudo. False where that is not possible. */
export async function installPackages(packages: string[], report: (line: string) => void): Promise<boolean> {
  if (!existsSync('/usr/bin/apt-get')) return false;
  const title = `installing ${packages.join(', ')} with apt-get; their own daemons are not started`;
  return runAsRoot({ script: INSTALL, args: packages, title, report });
}
