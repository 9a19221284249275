import { alertOf, type Instead } from './alert-rules.ts';
import { readRunbook, type Runbook } from './runbook.ts';
import type { Scene } from './scene.ts';

/** Something that goes wrong, or that an operator does on purpose; the rules that tell of it, and the pages that say what to do. */
export type Cause<S extends Scene = Scene> = {
  /** A sentence without its end: what is so. */
  name: string;
  /** Rules, such as `WaybellLate/backlog`. */
  alerts: readonly string[];
  /** Where these are not the pages of the alerts, one each; of a page for several causes, the one that is meant: `WaybellLate/backlog`. */
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

/** The pages that are followed for a cause, and which of their blocks: those for all, and those for these causes. */
export function pagesFor({
  alerts,
  pages = alerts,
}: Pick<Cause, 'alerts' | 'pages'>): { page: Runbook; causes: string[] }[] {
  const names = [...new Set(pages.map(alertOf))];
  return names.map((name) => ({
    page: readRunbook(name),
    causes: pages.filter((each) => alertOf(each) === name).flatMap((each) => each.split('/').slice(1)),
  }));
}
