import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { SupervisedProcess } from '@waybell/stack/supervised-process';
import { until } from '@waybell/runtime/testing/until';

/** Throws where a process still runs that has one of these words in its command line or its environment. */
export async function nothingLeftBehind(words: readonly string[]): Promise<void> {
  // Nothing can be looked up without such a folder; the continuous builds have it.
  if (!existsSync('/proc/self/environ')) return;
  const dying = () => processesWith(words).length === 0;
  await until('every process of the stack is gone', dying).catch(() => {
    throw new Error(`left behind:\n${processesWith(words).join('\n')}`);
  });
}

/** Stops these processes one after the other, frozen or not, and removes their home. Throws where one of them is left. */
export async function stopAll(processes: Iterable<SupervisedProcess>, home: string): Promise<void> {
  for (const each of processes) {
    if (each.identity !== undefined) process.kill(each.identity.pid, 'SIGCONT');
    await each.stop();
  }
  await nothingLeftBehind([home]);
  await rm(home, { recursive: true, force: true });
}

function processesWith(words: readonly string[]): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      const command = read(`/proc/${pid}/cmdline`);
      const text = `${command}\n${read(`/proc/${pid}/environ`)}`;
      return words.some((word) => text.includes(word)) ? [`${pid} ${command}`] : [];
    });
}

/** Empty where the process is gone, or belongs to another user. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
