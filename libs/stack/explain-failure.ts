import { existsSync, readFileSync } from 'node:fs';
import { StartFailed } from './supervised-process.ts';

const SHOWN_LINES = 15;

/** Explains a failure to a person: the message and, if a process did not start, the end of its log. */
export function explainFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof StartFailed)) return message;
  const lines = lastLines(error.logFile);
  const end = lines.length === 0 ? 'It is empty.' : `It ends:\n${lines.map((line) => `  | ${line}`).join('\n')}`;
  return `${message}. Read ${error.logFile}. ${end}`;
}

function lastLines(file: string): string[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, 'utf8').trim();
  return text === '' ? [] : text.split('\n').slice(-SHOWN_LINES);
}
