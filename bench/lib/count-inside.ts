import { connect } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import type { CountedInside, CounterName } from '../parts/counting.ts';

/** Settings of services that count what they do, each for itself, and report it on sockets in this folder. */
export function countingSettings(folder: string): Record<string, string> {
  const counting = pathToFileURL(join(import.meta.dirname, '../parts/counting.ts'));
  counting.searchParams.set('folder', folder);
  return { NODE_OPTIONS: `--import=${counting.href}` };
}

/** A running service, as its stack has it. */
export type CountedService = { spec: { name: string }; identity: { pid: number } | undefined };

/** Counts in these services while `work` is done; resolves with what each counted, by its name. */
export async function countInside<N extends CounterName>(
  { folder, services }: { folder: string; services: readonly CountedService[] },
  names: readonly N[],
  work: () => Promise<void>,
): Promise<Map<string, Pick<CountedInside, N>>> {
  const askAll = (begin: readonly N[]) =>
    Promise.all(
      services.map(async ({ spec, identity }) => {
        const socket = connect(join(folder, `${identity?.pid}.socket`));
        socket.write(JSON.stringify(begin));
        return [spec.name, await json(socket)] as const;
      }),
    );
  await askAll(names);
  await work();
  // Only started services answer.
  return new Map((await askAll([])) as [string, Pick<CountedInside, N>][]);
}
