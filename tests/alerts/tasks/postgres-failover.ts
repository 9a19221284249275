import type { Cause } from '../cause.ts';
import { flow } from '../load.ts';
import type { ServersScene } from '../servers-scene.ts';

export const postgresFailover: Cause<ServersScene> = {
  name: 'the primary of two Postgres is killed',
  alerts: ['WaybellNotWorking/not_ready'],
  pages: ['postgres-failover'],
  inWords: {
    [`psql "$DATABASE_URL" -Atc "select pg_is_in_recovery(), current_setting('transaction_read_only')"`]: ({ pair }) =>
      pair.promote(),
  },
  async begin(scene) {
    const load = await flow(scene);
    await scene.pair.primary.kill();
    return async () => {
      await scene.pair.rejoin();
      await load.stop();
    };
  },
};
