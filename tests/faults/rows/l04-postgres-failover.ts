import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresPair } from '../../testing/postgres-pair.ts';
import type { Fault } from '../fault.ts';
import { shippedDatabaseTimeout } from '../fault-settings.ts';
import { freeze } from '../freeze.ts';
import { buildPlainStage, partOf, type Scale, type Settings } from '../stage.ts';
import { underLoad } from '../under-load.ts';

const HOLDS_MS = { short: 8_000, release: 30_000 };

/** With a standby that is synchronous nothing is lost: what a service was told is committed is on both. */
export const postgresFailover: Fault[] = [
  failover('killed', ({ primary }) => primary.kill()),
  failover('made read-only', async (pair) => {
    await pair.makeReadOnly();
    return () => pair.untilLeft();
  }),
  failover('frozen', async ({ primary }) => {
    const goOn = freeze(primary);
    return async () => {
      // It would take writes again.
      await primary.kill();
      goOn();
    };
  }),
];

/** `lose` takes the primary away; what it resolves with sees to it that it is no second one when it is back. */
function failover(how: string, lose: (pair: PostgresPair) => Promise<(() => Promise<void>) | void>): Fault {
  return {
    row: 'L4',
    name: `the primary of two Postgres ${how}, the standby promoted`,
    settings: shippedDatabaseTimeout,
    buildStage: buildPairStage,
    bars: { duplicates: 0, movingAgainSeconds: 30, megabytes: 300 },
    run: underLoad(async (stage) => {
      const pair = partOf(stage, PostgresPair);
      const fence = await lose(pair);
      await pair.promote();
      // It stays away until the load has gone on for a while.
      await sleep(HOLDS_MS[stage.scale]);
      await fence?.();
      await pair.rejoin();
    }),
  };
}

async function buildPairStage(settings: Settings, scale: Scale) {
  const pair = await PostgresPair.start();
  return { ...(await buildPlainStage({ ...settings, DATABASE_URL: pair.url }, scale, { beneath: pair })), pair };
}
