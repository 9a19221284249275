import { execFileSync } from 'node:child_process';

/** The words that a shell hands to curl for these commands, a list for each call; nothing is called. */
export function curlWords(commands: string, env: Record<string, string>): string[][] {
  const script = `curl() { printf '%s\\0' "$@"; printf '\\0'; }\n${commands}`;
  const calls = execFileSync('sh', ['-c', script], { env, encoding: 'utf8' }).split('\0\0');
  return calls.slice(0, -1).map((call) => call.split('\0'));
}
