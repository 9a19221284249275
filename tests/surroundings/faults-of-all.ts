import { describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { runWaybell } from '@waybell/cli/testing/run-waybell';
import { shared } from '@waybell/runtime/testing/shared';
import { carriers, expectOn, hear, stack, untilServed, type Carrier } from './stand.ts';

/** More than a tenth of the subscriptions of all tests here. */
const MANY = 24;

/** Returns the output of `./waybell …`. */
async function told(...args: string[]): Promise<string> {
  const { stdout, stderr } = await runWaybell(stack, args);
  return stdout + stderr;
}

/** Carriers that were well, and whose receivers all refuse what comes next: they are held. */
async function held(): Promise<Carrier[]> {
  const all = await carriers(MANY);
  await hear(all);
  await untilServed(all, 1);
  for (const { answer } of all) answer(401);
  await hear(all);
  const guids = await Promise.all(all.map(async (each) => (await each.standing()).guid));
  await until('they are held', async () => {
    const listed = await told('deactivations', 'list');
    return guids.every((guid) => listed.includes(guid));
  });
  await expectOn(all);
  return all;
}

export function faultsOfAll(): void {
  describe('a fault that nothing else knows, of all receivers at once,', () => {
    shared(() => stack.withSettings('deactivator', { DEACTIVATION_SURGE_FEW: '4', DEACTIVATION_SURGE_MANY: '20' }));

    test('switches none off, and status says so, until an operator says that it was ours', async () => {
      const all = await held();
      expect(await told('status')).toMatch(/deactivations|held/);
      await told('deactivations', 'discard', '--all');
      for (const { answer } of all) answer(200);
      await hear(all);
      await untilServed(all, 2);
      await expectOn(all);
      expect(await told('deactivations', 'list')).toContain('no subscription is held');
    });

    test('switches them off once an operator says that it was theirs', async () => {
      const all = await held();
      await told('deactivations', 'release', '--all');
      await Promise.all(all.map((each) => each.untilOff()));
    });

    test('lets off those that are well again', async () => {
      const all = await held();
      for (const { answer } of all) answer(200);
      await hear(all);
      await untilServed(all, 2);
      await until('none is held', async () =>
        (await told('deactivations', 'list')).includes('no subscription is held'),
      );
      await expectOn(all);
    });
  });
}
