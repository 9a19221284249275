import { until } from '@waybell/runtime/testing/until';
import { hungParty } from '../../faults/hung-party.ts';
import { backUpPostgres } from '../../faults/postgres-backup.ts';
import type { Cause } from '../cause.ts';
import { flow } from '../load.ts';

const WAITING = 20;
const WANTED = { interface: 'shipper', action: 'order.booked', folder: '/restore' } as const;

export const restore: Cause = {
  name: 'Postgres is restored from a backup',
  alerts: [],
  pages: ['restore'],
  async begin(scene) {
    const hung = await hungParty(scene, { owe: () => undefined }, WANTED);
    await hung.put(WAITING);
    const before = await flow(scene);
    const putBack = await backUpPostgres(scene);
    // What the backup does not know.
    const since = await flow(scene);
    await scene.receiver.untilReceived(since.party.addresses[0]?.path ?? '', 1);
    await since.stop();
    await putBack();
    await scene.stack.untilReady();
    return async () => {
      hung.answer(200);
      await until('nothing waits any more', async () => (await hung.waiting()) === 0, hung.served);
      await before.stop();
    };
  },
};
