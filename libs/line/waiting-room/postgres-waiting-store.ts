import { movesIn } from './move-rows.ts';
import { SumChanges } from './sum-changes.ts';
import { claimsIn } from './waiting-claims.ts';
import { connectionOf, type WaitingPostgres, type WaitingService } from './waiting-connection.ts';
import { rowsIn } from './waiting-rows.ts';
import type { WaitingStore } from './waiting-store.ts';
import { sumsIn } from './waiting-sums.ts';

export { WAITING_SETTINGS } from './waiting-connection.ts';

/**
 * Stores waiting rows in Postgres, over connections with `WAITING_SETTINGS`. `process`: the guid of this one, new at each start.
 */
export function waitingIn(postgres: WaitingPostgres, of: { service: WaitingService; process: string }): WaitingStore {
  const connection = connectionOf(postgres, { ...of, sums: new SumChanges() });
  return { ...rowsIn(connection), ...claimsIn(connection), ...movesIn(connection), ...sumsIn(connection) };
}
