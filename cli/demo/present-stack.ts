import { report } from '../report.ts';
import { describeStack } from '@waybell/stack/describe-stack';
import type { StackFolder } from '@waybell/stack/stack-folder';
import { requireRunning } from '@waybell/stack/stack-state';
import { showDemo } from './show-demo.ts';

/** Shows the demo on a stack that has just become ready, unless unwanted, then its addresses and what to try next. */
export async function presentStack(folder: StackFolder, options: { demo: boolean; staysUp: boolean }): Promise<void> {
  const halt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => halt.abort());
  const tryNext = options.demo ? await demoOn(folder, { ...options, signal: halt.signal }) : '';
  if (!halt.signal.aborted) console.log([describeStack(folder), tryNext].join('\n').trimEnd());
}

/** Returns a text that suggests what to try next; empty if the demo failed, which is reported and stops nothing. */
async function demoOn(folder: StackFolder, demo: { staysUp: boolean; signal: AbortSignal }): Promise<string> {
  try {
    return await showDemo({
      ...demo,
      env: { ...process.env, ...requireRunning(folder).addresses },
      print: (line) => console.log(line),
      isColoured: process.stdout.isTTY && !process.env['NO_COLOR'],
    });
  } catch (error) {
    if (!demo.signal.aborted) report(`the demo ends here: ${error instanceof Error ? error.message : String(error)}`);
    return '';
  }
}
