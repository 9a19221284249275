import { runPnpm, type PnpmResult } from './run-pnpm.ts';
import { toolchainComponents } from './toolchain.ts';

/** All that is known against the versions in use, and why it is not known of others; a line for each. */
export type Findings = { found: string[]; unknown: string[] };

type AdvisoriesAnswer = {
  advisories: Record<
    string,
    { module_name: string; severity: string; title: string; url: string; patched_versions: string }
  >;
};

// Without this, pnpm asks a registry that does not answer for minutes.
const ANSWER_LIMIT_MS = 5_000;

type AskedRegistry = { registry?: string | undefined; answerLimitMs?: number };

/**
 * Asks the registry for advisories about the packages of the lock file, and whether Node.js, as deploy/toolchain pins it and as it
 * runs this, is the newest of its line: the machine's own registry, unless another is named. What a registry that is away, or
 * does not take the question, leaves open is `unknown`.
 */
export async function findAdvisories(asked: AskedRegistry = {}): Promise<Findings> {
  const all = await Promise.all([ofPackages(asked), ...nodesInUse().map((node) => ofNode(node, asked))]);
  return { found: all.flatMap(({ found }) => found), unknown: all.flatMap(({ unknown }) => unknown) };
}

async function ofPackages(asked: AskedRegistry): Promise<Findings> {
  const { stdout, stderr } = await ask(['audit', '--json'], asked);
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

async function ofNode({ name, version }: PinnedNode, asked: AskedRegistry): Promise<Findings> {
  const { stdout, stderr } = await ask(['view', name, 'versions', '--json'], asked);
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

const ask = (args: string[], { registry, answerLimitMs = ANSWER_LIMIT_MS }: AskedRegistry): Promise<PnpmResult> =>
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
function firstSentence(text: string): string {
  const words = (/"message": "(.*)"/.exec(text)?.[1] ?? text).replaceAll(/[×│╰─▶]/g, ' ').replaceAll(/\s+/g, ' ');
  return words.trim() || 'pnpm said nothing';
}
