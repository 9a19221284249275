import { readable } from '@waybell/line/outcome-batch';

/** A batch of records as text; any other body, or one that is broken, as it is. */
export function plainOf(body: Buffer): Buffer {
  try {
    return readable(body);
  } catch {
    return body;
  }
}
