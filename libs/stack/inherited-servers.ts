import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SERVER_NAMES, SERVERS } from './choose-sources.ts';
import { repository, type StackFolder } from './stack-folder.ts';
import { stackAt } from './stack-record.ts';

/** A server in place of one of the stack's own, by the variable that names it. */
export type InheritedServer = { variable: string; url: string };

/** The servers that the caller's environment names, and the environment without the stack's own addresses. */
export type Inherited = { servers: InheritedServer[]; env: NodeJS.ProcessEnv };

/**
 * Distinguishes servers that the environment names from those that `./waybell env` left in it: the stack's own addresses count as
 * not set. Throws if it names another checkout's stack, or the servers of another stack.
 */
export function readInherited(folder: StackFolder, given: NodeJS.ProcessEnv): Inherited {
  const env = { ...given };
  const servers: InheritedServer[] = [];
  const others = new Map<string, string[]>();
  if (isOfAnotherCheckout(folder)) others.set(folder.home, [HOME]);
  for (const variable of SERVER_NAMES.map((name) => SERVERS[name])) {
    const url = env[variable] ?? '';
    const at = stackAt(url)?.home;
    if (at !== undefined && (at !== folder.home || others.has(at)))
      others.set(at, [...(others.get(at) ?? []), variable]);
    else if (at !== undefined) delete env[variable];
    else if (url !== '') servers.push({ variable, url });
  }
  if (others.size > 0) throw new Error([...others].map(([home, names]) => refusal(home, names)).join('\n'));
  return { servers, env };
}

const HOME = 'WAYBELL_HOME';

/** Throws where the folder is another checkout's own: its stack is not this checkout's to start or stop. */
export function requireOwnFolder(folder: StackFolder): void {
  if (isOfAnotherCheckout(folder)) throw new Error(refusal(folder.home, [HOME]));
}

/** A folder of another name belongs to no checkout. */
function isOfAnotherCheckout({ home }: StackFolder): boolean {
  const checkout = dirname(home);
  return basename(home) === '.waybell' && checkout !== repository && existsSync(join(checkout, 'waybell'));
}

function refusal(home: string, names: string[]): string {
  const [name, verb] = names.length === 1 ? [names[0], 'names'] : [names.join(', '), 'name'];
  return `${name} ${verb} another stack, the one in ${home}: for one of this checkout, first run "unset ${names.join(' ')}"`;
}
