/**
 * Loaded before a service (`node --import`): its clock is off by as many milliseconds as the file named by CLOCK_FILE
 * says, and right while there is none, from one moment to the next. Timers and the monotonic clock are right, as on a
 * machine whose time is set.
 */
import { existsSync, readFileSync } from 'node:fs';

const file = process.env['CLOCK_FILE'] ?? '';
const now = Date.now;

/** Read each time: a test that sets the clock need not wait until it is set. */
function offsetMs(): number {
  if (!existsSync(file)) return 0;
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    // Removed this very moment.
    return 0;
  }
}

class ShiftedDate extends Date {
  constructor(...given: ConstructorParameters<typeof Date> | []) {
    if (given.length === 0) super(now() + offsetMs());
    else super(...given);
  }

  static override now(): number {
    return now() + offsetMs();
  }
}
globalThis.Date = ShiftedDate as DateConstructor;
