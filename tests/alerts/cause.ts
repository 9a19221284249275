import type { Instead } from './alert-rules.ts';
import type { Scene } from './scene.ts';

/** Something that goes wrong, or that an operator does on purpose; the alerts that tell of it, and the pages that say what to do. */
export type Cause<S extends Scene = Scene> = {
  /** A sentence without its end: what is so. */
  name: string;
  alerts: readonly string[];
  /** Where these are not the pages of the alerts, one each. */
  pages?: readonly string[];
  /** Limits that would take too long to reach. */
  instead?: Instead;
  /** What a page says in words only, to be done before the command that it shows next. */
  inWords?: Readonly<Record<string, (scene: S) => Promise<unknown>>>;
  /** Brings it about. What it resolves with does the rest of what the pages say; it may resolve before that has had its effect. */
  begin: (scene: S) => Promise<() => Promise<unknown>>;
};

/** The limits of all of them. */
export function insteadOf(causes: readonly Pick<Cause, 'instead'>[]): Instead {
  return Object.assign({}, ...causes.map(({ instead = {} }) => instead));
}
