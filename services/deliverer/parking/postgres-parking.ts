import type { Postgres } from '@waybell/runtime/postgres';
import { queryRowsIn } from './query-rows.ts';
import { leasesIn } from './leases.ts';
import { headsIn } from './parked-heads.ts';
import { rowsIn } from './parked-rows.ts';
import { takeIn } from './take-parked.ts';
import type { ParkingStore } from './parking-store.ts';
import { sumsIn } from './parked-sums.ts';

/**
 * Session settings of its connections. A row must survive a crash of Postgres before its message is acknowledged. Statements must
 * find rows by their key even while Postgres' statistics say that the table is empty: the plan for that would sort everything
 * that is parked.
 */
export const PARKING_SETTINGS = {
  synchronous_commit: 'on',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
};

/**
 * Stores parked deliveries in Postgres, over connections with `PARKING_SETTINGS`. `actions`: the ones that this process delivers.
 */
export function parkInPostgres(postgres: Postgres, actions: readonly string[]): ParkingStore {
  const queryRows = queryRowsIn(postgres);
  return {
    ...rowsIn(queryRows),
    ...takeIn(queryRows),
    ...headsIn(postgres, queryRows),
    ...leasesIn(postgres, actions),
    ...sumsIn(postgres, queryRows),
  };
}
