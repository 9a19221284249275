import { StartFailed } from './supervised-process.ts';

/** Starts it again, once, where a process did not start: a port may have been taken meanwhile. `note` hears of it. */
export async function onceMore<T>(note: (line: string) => unknown, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof StartFailed)) throw error;
    await note(error.message);
    return start();
  }
}
