import { readable } from '@waybell/line/outcome-batch';

/** Returns a batch of records as text; any other body, or a broken one, unchanged. */
export function plainOf(body: Buffer): Buffer {
  try {
    return readable(body);
  } catch {
    return body;
  }
}
