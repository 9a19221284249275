import type { Postgres } from '@waybell/runtime/postgres';
import { asking } from './ask.ts';
import { leasesIn } from './leases.ts';
import { headsIn } from './parked-heads.ts';
import { rowsIn } from './parked-rows.ts';
import { takeIn } from './take-parked.ts';
import type { ParkingStore } from './parking-store.ts';
import { sumsIn } from './parked-sums.ts';

/**
 * What its connections are to be opened with. A row must outlive a crash of Postgres before its message is acknowledged.
 * And each look goes to rows by their key, also while Postgres has not counted how many a table holds that was empty a minute ago:
 * a plan that was good then would sort everything that is parked.
 */
export const PARKING_SETTINGS = {
  synchronous_commit: 'on',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
};

/** What is parked, in Postgres, over connections that were opened with `PARKING_SETTINGS`; `actions`: those that this process delivers. */
export function parkInPostgres(postgres: Postgres, actions: readonly string[]): ParkingStore {
  const ask = asking(postgres);
  return {
    ...rowsIn(ask),
    ...takeIn(ask),
    ...headsIn(postgres, ask),
    ...leasesIn(postgres, actions),
    ...sumsIn(postgres, ask),
  };
}
