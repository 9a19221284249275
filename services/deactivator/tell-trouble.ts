import type { Log } from '@waybell/runtime/log';
import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import { runEvery } from '@waybell/runtime/run-every';

/** A notice about an endpoint is published once deliveries have waited there for longer than this, … */
const LATE = "interval '5 minutes'";
/** … and repeated at this interval, like notices of failed deliveries. */
const EVERY = "interval '1 hour'";
const KEPT = "interval '7 days'";
const PRUNED_AT_ONCE = 10_000;

const STATEMENTS = [
  { name: 'tell-exhausted', text: `select waybell.tell_exhausted(${EVERY})` },
  {
    name: 'prune-notices',
    text: `delete from waybell.notices where guid in (
      select guid from waybell.notices where at < now() - ${KEPT} order by at limit ${PRUNED_AT_ONCE})`,
  },
  { name: 'tell-late-endpoints', text: `select waybell.tell_late_endpoints(${LATE}, ${EVERY})` },
];

/** Writes notices of waiting and failing, at each interval, and deletes old ones. */
export function startTellingTrouble(
  postgres: Postgres,
  { intervalMs, log }: { intervalMs: number; log: Log },
): AsyncDisposable {
  async function tell(): Promise<void> {
    for (const statement of STATEMENTS) await whenAvailable(postgres, () => postgres.query(statement));
  }
  return runEvery(tell, { intervalMs, warning: 'trouble.not-told', log });
}
