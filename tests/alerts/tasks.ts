import { subscribed } from '../testing/subscribers.ts';
import type { Cause } from './cause.ts';
import { flow } from './load.ts';
import type { ServersScene } from './servers-scene.ts';
import { until } from '@waybell/runtime/testing/until';
import { hungParty } from '../faults/hung-party.ts';
import { backUpPostgres } from '../faults/postgres-backup.ts';
import { withConstants } from '@waybell/runtime/gone-settings';
import type { Scene } from './scene.ts';
import { randomBytes } from 'node:crypto';

const NEW = { delays: '2s,4s,8s,16s,32s', firstMs: 2_000 };

export const changedDelays: Cause = {
  name: 'the delays between retries are changed',
  alerts: [],
  pages: ['changed-delays'],
  inWords: {
    "rabbitmqctl -q list_queues name messages | grep '^waybell.retry.shipper.order.paid' | sort": (scene) =>
      restartWith(scene, ['subscription-api', 'deliverer'], { SHIPPER_RETRY_DELAYS: NEW.delays }),
  },
  async begin(scene) {
    const { stack, receiver } = scene;
    const wanted = { interface: 'shipper', action: 'order.paid', folder: '/delays', answers: [500, 200] } as const;
    const party = await subscribed(scene, wanted);
    return async () => {
      await stack.upstream.publish(party.anEvent());
      const [first, second] = await receiver.untilReceived(party.addresses[0]?.path ?? '', 2);
      const waitedMs = (second?.at ?? 0) - (first?.at ?? 0);
      if (waitedMs < NEW.firstMs) throw new Error(`the first retry came after ${waitedMs} ms`);
    };
  },
};

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

/** Starts services again with other values of settings, one after the other. */
async function restartWith(
  { stack: { stack } }: Scene,
  services: readonly string[],
  settings: Record<string, string>,
): Promise<void> {
  for (const name of services) {
    const service = stack.service(name);
    Object.assign(service.spec.env, withConstants(settings));
    await service.restart();
  }
}

const newKey = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;

/** The key that the scene of tasks begins with, the one that takes its place, and one that nobody has any more. */
export const OLD_KEY = newKey('2026a');
const NEW_KEY = newKey('2027a');
const LOST_KEY = newKey('2026b');

export const keyRotation: Cause = {
  name: 'a key is missing, then another takes its place, then one is lost for good',
  alerts: [],
  pages: ['key-rotation'],
  inWords: {
    './waybell secrets rotate': (scene) => useKeys(scene, NEW_KEY, OLD_KEY),
    './waybell secrets replace': async (scene) => {
      await useKeys(scene, LOST_KEY, NEW_KEY);
      await lackKey(scene, '/lost');
    },
  },
  async begin(scene) {
    await lackKey(scene, '/missing');
    return async () => {
      const came = (folder: string) => scene.receiver.received.some(({ path }) => path.startsWith(folder));
      await until('what waited for a key is sent', () => came('/missing/') && came('/lost/'));
    };
  },
};

/** Both services that open secrets are given them, the first to seal with. */
async function useKeys(scene: Scene, ...keys: string[]): Promise<void> {
  await restartWith(scene, ['subscription-api', 'deliverer'], { SECRET_KEYS: keys.join(',') });
}

/** Has a party subscribe under the first key that the API has, and an event of it meet services without that key. */
async function lackKey(scene: Scene, folder: string): Promise<void> {
  const { stack } = scene;
  const party = await subscribed(scene, { interface: 'shipper', action: 'order.paid', folder, answers: [200] });
  await useKeys(scene, NEW_KEY);
  await stack.upstream.publish(party.anEvent());
  const { spec } = stack.stack.service('deliverer');
  await until('the deliverer waits for a key', async () => (await spec.waitsFor())?.includes('SECRET_KEYS'));
}
