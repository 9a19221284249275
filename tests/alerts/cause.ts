import type { Instead } from './alert-rules.ts';
import type { Scene } from './scene.ts';

/** Something that goes wrong, and the alerts that tell of it. */
export type Cause = {
  /** A sentence without its end: what is so. */
  name: string;
  alerts: readonly string[];
  /** Limits that would take too long to reach. */
  instead?: Instead;
  /** Brings it about. What it resolves with does what the pages say; it may resolve before that has had its effect. */
  begin: (scene: Scene) => Promise<() => Promise<unknown>>;
};
