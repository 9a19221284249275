import type { Publication } from '../messages.ts';

/** Writes all but the body as JSON, which can escape NUL; Postgres' text cannot hold it. */
export function writeProperties(publication: Publication): string {
  return JSON.stringify({ ...publication, body: undefined });
}

export function readProperties(written: string): Omit<Publication, 'body'> {
  // Only `writeProperties` writes this. Members that a later version added are ignored.
  return JSON.parse(written) as Omit<Publication, 'body'>;
}
