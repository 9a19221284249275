/**
 * Programs of this machine, in this order: finding them, installing Debian's packages of them, running a script as root or a
 * program as another user, and the Chromium that tests of pages need.
 */

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The file of that name in the first of the folders that has one which may be run. */
export function firstExecutable(name: string, folders: string[]): string | undefined {
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The folders of the environment's PATH. */
export const foldersOnPath = (): string[] =>
  (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');

/**
 * Installs Debian's packages without letting them start daemons: policy-rc.d forbids that for as long as apt runs, and
 * is removed however the script ends. A policy that the machine has already is left alone.
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

const TICK_MS = 10_000;
const SHOWN_LINES = 15;

type RootScript = {
  /** Run by `sh -c`. */
  script: string;
  args: string[];
  /** Describes the command to a person who waits. */
  title: string;
  report: (line: string) => void;
};

/** Runs a script as root or with passwordless sudo. False where it may not, or fails; `report` then gets the reason. */
export async function runAsRoot({ script, args, title, report }: RootScript): Promise<boolean> {
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  if (asRoot.length > 0 && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status !== 0) return false;
  report(title);
  const [command = '', ...rest] = [...asRoot, 'sh', '-c', script, 'sh', ...args];
  const beganMs = Date.now();
  const ticking = setInterval(
    () => report(`still at it (${Math.round((Date.now() - beganMs) / 1_000)} s): ${title}`),
    TICK_MS,
  );
  const output: Buffer[] = [];
  const status = await new Promise((resolve) => {
    const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk));
    child.once('error', resolve);
    child.once('close', resolve);
  });
  clearInterval(ticking);
  if (status === 0) return true;
  report(`failed: ${title}\n${Buffer.concat(output).toString().trim().split('\n').slice(-SHOWN_LINES).join('\n')}`);
  return false;
}

/** A user of this machine, by number. */
export type User = { name: string; uid: number; gid: number };

/** Postgres refuses to run as root: the user it runs as instead. Undefined when the caller is not root. */
export function unprivilegedUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => idOf(flag, name));
    if (uid !== undefined && gid !== undefined) return { name, uid, gid };
  }
  throw new Error('Postgres does not run as root, and this machine has neither a user "postgres" nor "nobody"');
}

/** Whether that user may enter the folder: every folder above it counts too. */
export function canEnter(path: string, user: User): boolean {
  const { uid, gid } = user;
  return spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', path], { uid, gid, cwd: '/', stdio: 'ignore' }).status === 0;
}

function idOf(flag: string, name: string): number | undefined {
  const { status, stdout } = spawnSync('id', [flag, name], { encoding: 'utf8' });
  return status === 0 ? Number(stdout) : undefined;
}

/** The variable that names the binary of a Chromium; tests of pages read it. */
export const CHROMIUM = 'WAYBELL_CHROMIUM';

/** Names of Chromium on the path: the first found is used. The one without windows needs two thirds of the CPU of the others. */
const CHROMIUM_NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
/** Packages that have one, tried in this order: not every release of Debian has the first. */
const CHROMIUM_PACKAGES = ['chromium-headless-shell', 'chromium'];

/** The properties of this machine that matter here. */
export type BrowserMachine = {
  isExecutable(file: string): boolean;
  findOnPath(name: string): string | undefined;
  /** Installs these packages; false where it may not or cannot. */
  install(packages: string[]): Promise<boolean>;
};

/** The machine that this process runs on. `report` gets the names of packages being installed. */
export const browserMachine = (report: (line: string) => void): BrowserMachine => ({
  isExecutable,
  findOnPath: (name) => firstExecutable(name, foldersOnPath()),
  install: (packages) => installPackages(packages, report),
});

/** The binary of a Chromium: what the environment names, one on the path, the system's package. Throws NoChromium. */
export async function findChromium(env: NodeJS.ProcessEnv, machine: BrowserMachine): Promise<string> {
  const named = env[CHROMIUM];
  if (named !== undefined && named !== '') {
    if (machine.isExecutable(named)) return named;
    throw new NoChromium(`${CHROMIUM} names ${named}, which is no program`);
  }
  const find = () => CHROMIUM_NAMES.map((name) => machine.findOnPath(name)).find((path) => path !== undefined);
  let found = find();
  for (const name of CHROMIUM_PACKAGES) if (found === undefined && (await machine.install([name]))) found = find();
  if (found === undefined) throw new NoChromium(`found no ${CHROMIUM_NAMES.join(', no ')} on this machine`);
  return found;
}

/** No way to get a browser. The message names the ways. */
export class NoChromium extends Error {
  constructor(found: string) {
    super(
      [
        `${found}. Tests of pages need it. Do one of these, then try again:`,
        `  - install Chromium or Google Chrome (on Debian as root this happens by itself: package ${CHROMIUM_PACKAGES[0]})`,
        `  - name its binary in ${CHROMIUM}`,
      ].join('\n'),
    );
    this.name = 'NoChromium';
  }
}
