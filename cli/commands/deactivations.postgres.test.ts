import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { noteEndsIn } from '@waybell/deactivator/deactivate';
import { switchOffIn, type SwitchOffRules } from '@waybell/deactivator/switch-off';
import { connectPostgres } from '@waybell/runtime/postgres';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { createTestDatabase } from '@waybell/runtime/testing/database';
import { runWaybellOn } from '../testing/run-waybell.ts';
import { subscribeTo } from '@waybell/line/waiting-room/testing/waiting-deliveries';
import { shared } from '@waybell/runtime/testing/shared';
import { silentLog } from '@waybell/runtime/testing/patience';

const RULES: SwitchOffRules = {
  offOnExhausted: ['carrier'],
  offOnWindow: ['carrier'],
  windowMs: 86_400_000,
  surge: { many: 20, few: 4 },
};

let guids: string[];

const store = shared(() => createTestDatabase());
const postgres = shared(() =>
  connectPostgres({ url: store.url, role: '', poolSize: 2, timeoutMs: 60_000, log: silentLog }),
);

/** Six carriers, each at a host of its own, that a rule would switch off. */
beforeEach(async () => {
  await store.postgres.query('delete from waybell.subscriptions; delete from waybell.due_deactivations');
  guids = [];
  for (const host of 'abcdef') guids.push(await subscribeTo(store.postgres, `https://${host}.test/hook`, randomUUID()));
});

const waybell = (args: string) =>
  runWaybellOn({ AMQP_URL: '', DATABASE_URL: store.url }, `deactivations ${args}`.split(' '));

const fail = (some: readonly string[]) =>
  noteEndsIn(
    postgres,
    RULES,
  )(
    some.map((subscription) => ({
      delivery: randomUUID(),
      subscription,
      generation: 1,
      isDelivered: false,
      at: wallClockMs(),
    })),
  );

/** Lets this much time pass, and then applies the rules. */
async function judgeIn(seconds: number) {
  await store.postgres.query(
    `update waybell.due_deactivations set due_at = due_at - make_interval(secs => $1), surge_at = surge_at - make_interval(secs => $1)`,
    [seconds],
  );
  await store.postgres.query(
    'update waybell.subscriptions set deactivated_at = deactivated_at - make_interval(secs => $1)',
    [seconds],
  );
  return switchOffIn(postgres, RULES)();
}

describe('./waybell deactivations', () => {
  test('lists what is held, and has it switched off, though it goes on failing, and for good', async () => {
    await fail(guids);
    expect(await judgeIn(1)).toEqual({ off: 0, held: 6 });
    const { stdout } = await waybell('list');
    expect(stdout.trim().split('\n')).toHaveLength(6);
    expect(stdout).toMatch(
      /^\S+Z {2}account \S+ {2}subscription \S+ {2}https:\/\/[a-f]\.test\/hook {2}\S+ {2}exhausted {2}/,
    );

    const [one = ''] = guids;
    expect((await waybell(`release --subscription ${one}`)).stderr).toContain('1 subscription to be switched off');
    await fail(guids);
    expect(await judgeIn(1)).toEqual({ off: 1, held: 5 });
    expect((await waybell('release --all')).stderr).toContain('5 subscriptions to be switched off');
    // The deactivator was away meanwhile.
    expect(await judgeIn(120)).toEqual({ off: 5, held: 0 });
    expect(await judgeIn(1)).toEqual({ off: 0, held: 0 });
    expect((await waybell('list')).stderr).toContain('no subscription is held');
  });

  test('leaves on what is discarded, whichever rule it was', async () => {
    await fail(guids);
    await store.postgres.query(`update waybell.subscriptions set failing_since = now() - interval '2 days'`);
    expect(await judgeIn(1)).toEqual({ off: 0, held: 6 });
    expect((await waybell(`discard --subscription ${guids[0]}`)).stderr).toContain('1 subscription left on');
    expect(await judgeIn(100)).toEqual({ off: 0, held: 5 });
    await waybell('discard --all');
    expect(await judgeIn(100)).toEqual({ off: 0, held: 0 });
  });

  test('says of what had gone off first from when to when', async () => {
    for (const guid of guids.slice(0, 3)) {
      await fail([guid]);
      await judgeIn(1);
    }
    await fail(guids.slice(3));
    expect(await judgeIn(1)).toEqual({ off: 0, held: 6 });
    expect((await waybell('list')).stdout.match(/ off from \S+Z until then: replay/g)).toHaveLength(3);
  });

  test.each([
    ['release', 'say which: one of --account, --subscription and --all'],
    ['discard --all --subscription x', 'say which'],
    ['release --subscription mine', 'not a guid'],
    ['discard --all', 'no such subscription is held'],
  ])('%s: %s', async (args, said) => {
    const { code, stderr } = await waybell(args);
    expect([code, stderr]).toEqual([1, expect.stringContaining(said)]);
  });
});
