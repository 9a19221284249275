import { runPnpm } from './run-pnpm.ts';

/** An advisory about a version in the lock file. */
export type Advisory = { package: string; severity: string; title: string; url: string; patched: string };

/** `unknown`: the registry did not say. */
export type Findings = { kind: 'known'; advisories: Advisory[] } | { kind: 'unknown'; why: string };

type AdvisoriesAnswer = {
  advisories: Record<
    string,
    { module_name: string; severity: string; title: string; url: string; patched_versions: string }
  >;
};

// Without this, pnpm asks a registry that does not answer for minutes.
const ANSWER_LIMIT_MS = 5_000;

/**
 * Asks the registry for advisories about the packages of the lock file: the machine's own registry, unless another is named. A
 * registry that is away, or does not support this, is no failure.
 */
export async function findAdvisories({
  registry,
  answerLimitMs = ANSWER_LIMIT_MS,
}: { registry?: string; answerLimitMs?: number } = {}): Promise<Findings> {
  const named = registry === undefined ? [] : ['--registry', registry];
  const { stdout, stderr } = await runPnpm(['audit', '--json', ...named], {
    PNPM_CONFIG_FETCH_TIMEOUT: String(answerLimitMs),
    PNPM_CONFIG_FETCH_RETRIES: '0',
  });
  const answer = readAnswer(stdout);
  if (answer === undefined) return { kind: 'unknown', why: firstSentence(stderr) };
  const advisories = Object.values(answer.advisories).map(
    ({ module_name: name, severity, title, url, patched_versions: patched }) => ({
      package: name,
      severity,
      title,
      url,
      patched,
    }),
  );
  return { kind: 'known', advisories };
}

export const describeAdvisory = ({ package: name, severity, title, url, patched }: Advisory): string =>
  `${severity}: ${name}: ${title}; fixed in ${patched} (${url})`;

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

/** pnpm draws its errors over several lines. */
function firstSentence(stderr: string): string {
  const words = stderr.replaceAll(/[×│╰─▶]/g, ' ').replaceAll(/\s+/g, ' ');
  return words.trim() || 'pnpm said nothing';
}
