import { Counter } from 'prom-client';
import type { ClaimedRows } from '@waybell/line/outbox/claimed-rows';
import { publishOutcomes } from '@waybell/line/outcome-batch';
import type { Deactivated, DeactivationRule } from '@waybell/line/outcomes';
import type { Log } from '@waybell/runtime/log';
import type { Metrics } from '@waybell/runtime/metrics';
import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';

type DeactivatedRow = Omit<Deactivated, 'kind' | 'delivery'> & { delivery: string | null };

const AT_ONCE = 100;

const COLUMNS = `subscription, generation, account, client, interface, action, rule, delivery,
  round(extract(epoch from at) * 1000)::float8 as at`;

const CLAIM = {
  name: 'claim-deactivations',
  text: `
    update waybell.deactivations set claimed_until = now() + make_interval(secs => $1::float8 / 1000)
    where (subscription, generation) in (
      select subscription, generation from waybell.deactivations where claimed_until is null or claimed_until < now()
      order by at limit ${AT_ONCE} for update skip locked)
    returning ${COLUMNS}`,
};

const DELETE = {
  name: 'settle-deactivations',
  text: `
    delete from waybell.deactivations
    where (subscription, generation) in (select * from unnest($1::uuid[], $2::int[]))
    returning ${COLUMNS}`,
};

/**
 * Deactivations to publish to the delivery log: rows that `switch_off` stores together with the change. `onPublished` is called once for
 * each, unless the process dies in between.
 */
export function deactivationsIn(
  postgres: Postgres,
  { claimMs, onPublished }: { claimMs: number; onPublished: (deactivated: Deactivated) => void },
): ClaimedRows<Deactivated> {
  async function ask(statement: { name: string; text: string }, values: unknown[]): Promise<Deactivated[]> {
    const { rows } = await whenAvailable(postgres, () => postgres.query<DeactivatedRow>({ ...statement, values }));
    return rows.map(({ delivery, ...row }) => ({
      kind: 'deactivated',
      ...row,
      ...(delivery !== null && { delivery }),
    }));
  }
  return {
    claimMs,
    claim: () => ask(CLAIM, [claimMs]),
    async settle(published) {
      const keys = [published.map(({ subscription }) => subscription), published.map(({ generation }) => generation)];
      (await ask(DELETE, keys)).forEach(onPublished);
    },
    publicationOf: (deactivated) => publishOutcomes([deactivated]),
  };
}

const RULES = ['exhausted', 'window'] as const satisfies DeactivationRule[];

/** Logs and counts deactivations for operators: subscribers are not notified (carrier-webhooks, States). */
export function announceDeactivations({ log, metrics }: { log: Log; metrics: Metrics }): (off: Deactivated) => void {
  const deactivations = countDeactivations(metrics);
  // Prometheus misses the first increase of a counter that did not exist before.
  for (const name of ['shipper', 'carrier'] as const)
    for (const rule of RULES) deactivations.inc({ interface: name, rule }, 0);
  return ({ subscription, interface: interfaceName, action, rule, delivery }) => {
    deactivations.inc({ interface: interfaceName, rule });
    log.info({ subscription, interface: interfaceName, action, rule, delivery }, 'subscription.deactivated');
  };
}

export function countDeactivations(metrics: Metrics): Counter<'interface' | 'rule'> {
  return new Counter({
    name: 'waybell_deactivations_total',
    help: 'Subscriptions switched off, by rule',
    labelNames: ['interface', 'rule'],
    registers: [metrics],
  });
}
