import { execFileSync } from 'node:child_process';

/** The words that a shell hands to a program for these commands, a list for each call; nothing is called. */
export function wordsFor(program: string, commands: string, env: Record<string, string>): string[][] {
  const script = `${program}() { printf '%s\\0' "$@"; printf '\\0'; }\n${commands}`;
  const calls = execFileSync('sh', ['-c', script], { env, encoding: 'utf8' }).split('\0\0');
  return calls.slice(0, -1).map((call) => call.split('\0'));
}

/** Makes the request that curl would make, by the words of its command. */
export async function curl(words: readonly string[]): Promise<Response> {
  const after = (...options: string[]) => words.filter((_, at) => options.includes(words[at - 1] ?? ''));
  const headers = after('-H', '--header').map((header): [string, string] => {
    const [name = '', value = ''] = header.split(/: (.*)/s);
    return [name, value];
  });
  const [method = 'GET'] = after('-X', '--request');
  const [body = null] = after('-d', '--data-raw');
  return fetch(words.find((word) => word.startsWith('http')) ?? '', { method, headers, body });
}
