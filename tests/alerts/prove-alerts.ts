import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Instead } from './alert-rules.ts';
import { insteadOf, pagesFor, type Cause } from './cause.ts';
import { HEADINGS, type Heading } from './runbook.ts';
import type { Scene } from './scene.ts';
import { notAsShown } from './show-runbook.ts';

/** Has a test for each cause, on one scene. */
export function proveEach<S extends Scene>(
  causes: readonly Cause<S>[],
  setScene: (ended: AsyncDisposableStack, instead: Instead) => Promise<S>,
): void {
  const ended = new AsyncDisposableStack();
  let scene: S;
  beforeAll(async () => void (scene = await setScene(ended, insteadOf(causes))));
  afterAll(() => ended.disposeAsync());
  test.each(causes)('$name', async (cause) => {
    expect(await proveAlerts(scene, cause)).toEqual([]);
  });
}

/**
 * Brings a cause about and does what its pages say, in their order: sees the alerts fire, looks, acts, and sees them end.
 * Resolves with what a page says and is not so.
 */
async function proveAlerts<S extends Scene>(scene: S, cause: Cause<S>): Promise<string[]> {
  try {
    return await prove(scene, cause);
  } finally {
    for (const load of scene.loads) load[Symbol.dispose]();
    scene.loads.clear();
  }
}

async function prove<S extends Scene>(scene: S, cause: Cause<S>): Promise<string[]> {
  const { alerts, inWords = {}, begin } = cause;
  const { prometheus, receiver } = scene;
  const received = () => receiver.received.length;
  const pages = pagesFor(cause);
  const commands = pages.flatMap(({ page, causes }) => HEADINGS.flatMap((heading) => page.shown(heading, causes)));
  const wrong = Object.keys(inWords)
    .filter((each) => !commands.some(({ command }) => command === each))
    .map((each) => `no page shows ${each}`);
  const show = async (heading: Heading) => {
    for (const { page, causes } of pages) {
      const shown = page.shown(heading, causes);
      wrong.push(...(await notAsShown(page.name, shown, scene, async (command) => inWords[command]?.(scene))));
    }
  };
  await prometheus.untilQuiet(undefined, received);
  const act = await begin(scene);
  try {
    await prometheus.untilFiring(alerts);
    await show('Look');
    await show('Do');
  } finally {
    await act();
  }
  await prometheus.untilQuiet(alerts, received);
  wrong.push(...(await prometheus.unsound()));
  await show('Afterwards');
  return wrong;
}
