import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { repository } from '@waybell/stack/stack-folder';
import { requireProgram, type ProcessSpec } from '@waybell/stack/supervised-process';
import { plainEnvironment } from '@waybell/cli/testing/plain-environment';
import type { TestStack } from '../testing/test-stack.ts';
import type { Shown } from './runbook.ts';

/** Where the commands of a page are run. */
export type Place = {
  stack: TestStack;
  /** The node that RabbitMQ's own tools speak to, where they are not told of another. */
  node: ProcessSpec;
  /** The server that has Postgres' own tools beside it. */
  postgres: ProcessSpec;
  /** What pages call differently. */
  names?: Readonly<Record<string, string>>;
};

/** Runs what a page shows, `before` each command that, and resolves with what it says and this system does not. */
export async function notAsShown(
  page: string,
  all: readonly Shown[],
  place: Place,
  before: (command: string) => Promise<unknown>,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const shown of all) {
    await before(shown.command);
    const printed = await runAsOperator(shown.command, place);
    const missing = missingFrom(printed.split('\n'), shown);
    if (missing !== undefined)
      wrong.push(`${page}: ${shown.command}\nshould print: ${missing}\nand printed:\n${printed}`);
  }
  return wrong;
}

/** The first line that does not come after the one before, whatever numbers and names they have. */
function missingFrom(printed: string[], { output }: Shown): string | undefined {
  const left = printed.map(withoutNames);
  for (const line of output.filter((each) => each !== '…')) {
    const place = left.indexOf(withoutNames(line));
    if (place < 0) return line;
    left.splice(0, place + 1);
  }
  return undefined;
}

/** What differs from one system to the next is the same here: numbers, guids, nodes, folders, the width of a column. */
function withoutNames(line: string): string {
  return line
    .replaceAll(/[\w-]+@[\w.-]+/g, '<node>')
    .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<guid>')
    .replaceAll(/\d+(\.\d+)? (bytes|KiB|MiB)\b/g, '<size>')
    .replaceAll(/\d+\.\d+(e[+-]\d+)?/g, '<number>')
    .replaceAll(/\b[0-9a-f]{8,}\b/g, '<hex>')
    .replaceAll(/\d+(e[+-]\d+)?/g, '<number>')
    .replaceAll(/-{2,}/g, '--')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Resolves with all that it prints, however it ends: a page may show a refusal. */
export async function runAsOperator(command: string, { stack, node, postgres, names = {} }: Place): Promise<string> {
  const { servers, services } = stack.stack;
  for (const spec of [node, postgres]) requireProgram(spec);
  const folders = [node, postgres].map((spec) => dirname(spec.command));
  const env = {
    ...node.env,
    ...plainEnvironment(),
    PATH: [...folders, process.env['PATH']].join(':'),
    AMQP_URL: stack.brokerUrl,
    DATABASE_URL: servers.url('postgres'),
    SECRET_KEYS: stack.stack.service('deliverer').spec.env['SECRET_KEYS'],
    METRICS_URLS: services.map(({ spec }) => `${spec.health}/metrics#${spec.name}`).join(','),
    WAYBELL_HOME: stack.home,
    HOME: node.env['HOME'],
  };
  const known = {
    ...names,
    ...Object.fromEntries(services.map(({ spec }) => [`http://${spec.name}:9464`, spec.health])),
  };
  const here = Object.entries(known).reduce((text, [name, is = '']) => text.replaceAll(name, is), command);
  // The servers that the environment names are those of no running stack, which would be asked instead.
  const elsewhere = here.replaceAll('./waybell status', `WAYBELL_HOME='${stack.home}/none' ./waybell status`);
  const line = elsewhere.replaceAll('./waybell', `'${process.execPath}' '${join(repository, 'cli', 'main.ts')}'`);
  return new Promise((resolve) => {
    execFile('sh', ['-c', `{ ${line}\n} 2>&1`], { cwd: repository, env, maxBuffer: 2 ** 26 }, (_error, stdout) =>
      resolve(stdout),
    );
  });
}
