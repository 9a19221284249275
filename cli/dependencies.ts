/**
 * The packages and programs that this checkout depends on: advisories about them, what deploy/toolchain pins, and pnpm.
 */

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { repository } from '@waybell/stack/stack-folder';

/** All that is known against the versions in use, and why it is not known of others; a line for each. */
type Findings = { found: string[]; unknown: string[] };

type AdvisoriesAnswer = {
  advisories: Record<
    string,
    { module_name: string; severity: string; title: string; url: string; patched_versions: string }
  >;
};

// Without this, pnpm asks a registry that does not answer for minutes.
const ANSWER_LIMIT_MS = 5_000;

type RegistryQuery = { registry?: string | undefined; answerLimitMs?: number };

/**
 * Asks the registry for advisories about the packages of the lock file, and whether Node.js, as deploy/toolchain pins it and as it
 * runs this, is the newest of its line: the machine's own registry, unless another is named. What a registry that is away, or
 * does not answer the question, leaves open is `unknown`.
 */
export async function findAdvisories(query: RegistryQuery = {}): Promise<Findings> {
  const all = await Promise.all([
    findingsOfPackages(query),
    ...nodesInUse().map((node) => findingsOfNode(node, query)),
  ]);
  return { found: all.flatMap(({ found }) => found), unknown: all.flatMap(({ unknown }) => unknown) };
}

async function findingsOfPackages(query: RegistryQuery): Promise<Findings> {
  const { stdout, stderr } = await queryRegistry(['audit', '--json'], query);
  const answer = readAnswer(stdout);
  if (answer === undefined) return { found: [], unknown: [`packages: ${firstSentence(stderr)}`] };
  const found = Object.values(answer.advisories).map(
    ({ module_name: name, severity, title, url, patched_versions: patched }) =>
      `${severity}: ${name}: ${title}; fixed in ${patched} (${url})`,
  );
  return { found, unknown: [] };
}

type PinnedNode = { name: string; version: string };

function nodesInUse(): PinnedNode[] {
  const pinned = toolchainComponents().filter(({ name }) => name.startsWith('node-'));
  const running = { name: `node-${process.platform}-${process.arch}`, version: process.versions.node };
  return pinned.some(({ version }) => version === running.version) ? pinned : [...pinned, running];
}

async function findingsOfNode({ name, version }: PinnedNode, query: RegistryQuery): Promise<Findings> {
  const { stdout, stderr } = await queryRegistry(['view', name, 'versions', '--json'], query);
  const line = `${version.split('.')[0]}.`;
  const versions = readVersions(stdout).filter((each) => each.startsWith(line) && !each.includes('-'));
  const newest = versions.toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true })).at(-1);
  if (newest === undefined)
    return { found: [], unknown: [`Node ${version} (${name}): ${firstSentence(stderr || stdout)}`] };
  return {
    found: newest === version ? [] : [`Node ${version} (${name}): ${newest} is the newest of its line`],
    unknown: [],
  };
}

const queryRegistry = (
  args: string[],
  { registry, answerLimitMs = ANSWER_LIMIT_MS }: RegistryQuery,
): Promise<PnpmResult> =>
  runPnpm([...args, ...(registry === undefined ? [] : ['--registry', registry])], {
    PNPM_CONFIG_FETCH_TIMEOUT: String(answerLimitMs),
    PNPM_CONFIG_FETCH_RETRIES: '0',
  });

function readVersions(stdout: string): string[] {
  try {
    const versions: unknown = JSON.parse(stdout);
    return [versions].flat().filter((version) => typeof version === 'string');
  } catch {
    return [];
  }
}

function readAnswer(stdout: string): AdvisoriesAnswer | undefined {
  try {
    const answer: unknown = JSON.parse(stdout);
    // Its shape is pnpm's, whose version ./waybell chooses.
    return typeof answer === 'object' && answer !== null && 'advisories' in answer
      ? (answer as AdvisoriesAnswer)
      : undefined;
  } catch {
    return undefined;
  }
}

/** pnpm draws its errors over several lines, or as JSON. */
function firstSentence(output: string): string {
  const words = (/"message": "(.*)"/.exec(output)?.[1] ?? output).replaceAll(/[×│╰─▶]/g, ' ').replaceAll(/\s+/g, ' ');
  return words.trim() || 'pnpm said nothing';
}

type Lock = { packages: Record<string, { version?: string; license?: string; integrity?: string }> };

/** A component of a CycloneDX document. */
type Component = {
  type: 'library';
  group?: string;
  name: string;
  version: string;
  scope: 'excluded';
  purl: string;
  hashes: { alg: 'SHA-512'; content: string }[];
};

const ROOT = 'node_modules/';

/** Node and pnpm as deploy/toolchain pins them: an image is built with them, and a checkout runs by them. */
export function toolchainComponents(): Component[] {
  const lock = JSON.parse(readFileSync(join(repository, 'deploy/toolchain/package-lock.json'), 'utf8')) as Lock;
  return Object.entries(lock.packages).flatMap(([path, { version = '', integrity = '' }]) => {
    if (!path.startsWith(ROOT)) return [];
    const [name = '', group] = path.slice(ROOT.length).split('/').toReversed();
    const content = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
    const purl = `pkg:npm/${group === undefined ? '' : `${encodeURIComponent(group)}/`}${name}@${version}`;
    const hashes = [{ alg: 'SHA-512' as const, content }];
    return [{ type: 'library', ...(group && { group }), name, version, scope: 'excluded', purl, hashes }];
  });
}

type PnpmResult = { code: number | null; stdout: string; stderr: string };

/** Runs pnpm on this checkout. Throws where there is none on the path: `./waybell` puts one there. */
export async function runPnpm(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<PnpmResult> {
  const child = spawn('pnpm', args, {
    cwd: repository,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const code = new Promise<number | null>((resolve, reject) => {
    child.once('error', () => reject(new Error('found no pnpm on the path: install it, or use ./waybell')));
    child.once('close', resolve);
  });
  const [ended, stdout, stderr] = await Promise.all([code, text(child.stdout), text(child.stderr)]);
  return { code: ended, stdout, stderr };
}
