import type { Cause } from './cause.ts';
import { readRunbook } from './runbook.ts';
import type { Scene } from './scene.ts';
import { notAsShown } from './show-runbook.ts';

/**
 * Brings a cause about and does what the pages of its alerts say, in their order: sees the alerts fire, looks, acts, and sees
 * them end. Resolves with what a page says and is not so.
 */
export async function proveAlerts(scene: Scene, cause: Cause): Promise<string[]> {
  try {
    return await prove(scene, cause);
  } finally {
    for (const load of scene.loads) load[Symbol.dispose]();
    scene.loads.clear();
  }
}

async function prove(scene: Scene, { alerts, begin }: Cause): Promise<string[]> {
  const { prometheus, receiver } = scene;
  const received = () => receiver.received.length;
  await prometheus.untilQuiet(undefined, received);
  const act = await begin(scene);
  const pages = alerts.map(readRunbook);
  const wrong: string[] = [];
  const show = async (heading: 'Look' | 'Do' | 'Afterwards') => {
    for (const page of pages) wrong.push(...(await notAsShown(page, heading, scene)));
  };
  try {
    await prometheus.untilFiring(alerts);
    wrong.push(...(await prometheus.unsound()));
    await show('Look');
    await show('Do');
  } finally {
    await act();
  }
  await prometheus.untilQuiet(alerts, received);
  await show('Afterwards');
  return wrong;
}
