import { randomBytes } from 'node:crypto';
import { until } from '@waybell/runtime/testing/until';
import { subscribed } from '../../testing/subscribers.ts';
import type { Cause } from '../cause.ts';
import type { Scene } from '../scene.ts';
import { restartWith } from './restart-with.ts';

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
