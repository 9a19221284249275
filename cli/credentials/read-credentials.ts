import { readFileSync } from 'node:fs';

/** Files that hold credentials; `file`, which may be `-` for the standard input, holds JSON as the API takes it. */
export type CredentialFiles = { file?: string; certificate?: string; key?: string };

/**
 * Reads credentials, as the API takes them, from all files together. Throws an Error, without the content of the files, if that
 * is none.
 */
export function readCredentials({ file, certificate, key }: CredentialFiles): string {
  if ((certificate === undefined) !== (key === undefined)) throw new Error('give both: --certificate and --key');
  if (file === undefined && certificate === undefined)
    throw new Error('say what to put in: --file, or --certificate and --key, or all three');
  return JSON.stringify({
    ...(file !== undefined && jsonIn(file)),
    ...(certificate !== undefined && {
      certificate: { chain: readFileSync(certificate, 'utf8'), key: readFileSync(key ?? '', 'utf8') },
    }),
  });
}

function jsonIn(file: string): object {
  const parsed = parsedOf(readFileSync(file === '-' ? 0 : file, 'utf8'));
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed;
  throw new Error(`${file}: it must be a JSON object, such as {"headers":{"X-Api-Key":"…"}}`);
}

/** Returns undefined for a text that is no JSON: the error of Node.js would quote it. */
function parsedOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
