import { plainText } from './print.ts';

/** Says something to the user of the command, on stderr: stdout is for the command's answer alone. */
export function report(line: string): void {
  process.stderr.write(`waybell: ${plainText(line)}\n`);
}
