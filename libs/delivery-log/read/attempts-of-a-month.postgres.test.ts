import { beforeAll, describe, expect, test } from '@jest/globals';
import { deliveryHistory, timelineOf } from './history.ts';
import type { Attempted, DeliveryFacts } from '@waybell/line/outcomes';
import { aDelivered, aFailed, anExhausted, DAY_MS, LogStand, START } from '../testing/log-stand.ts';
import { watchPlans } from '@waybell/runtime/testing/watch-plans';
import { shared } from '@waybell/runtime/testing/shared';

const DAYS = 20;
const LONG_AGO = START - DAYS * DAY_MS;

const stand = shared(() => LogStand.start());
beforeAll(async () => {
  await stand.partitions.ensure(Array.from({ length: DAYS + 1 }, (_, day) => START - day * DAY_MS));
});

type MakeAttempt = (what: Pick<DeliveryFacts, 'attempt' | 'at'>) => Attempted;

/** A delivery of the first day that came to this, `after` so many milliseconds. */
const made = (...attempts: { after: number; of: MakeAttempt }[]) =>
  stand.log(
    attempts.map(({ after, of }, index) => of({ attempt: index + 1, at: LONG_AGO + after })),
    { at: LONG_AGO },
  );

const toldOf = async (subject: string) => {
  const { entries } = await timelineOf(stand.store.postgres, {
    about: { key: subject },
    reader: 'operator',
    limit: 10,
  });
  return entries.flatMap(({ verdicts }) =>
    verdicts.flatMap((verdict) => (verdict.kind === 'delivery' ? verdict.delivery : [])),
  );
};

describe('of a delivery that is weeks old, timelineOf', () => {
  test('looks for attempts around its day alone, where it got through', async () => {
    const { subject } = await made({ after: 20, of: aFailed }, { after: 1_040, of: aDelivered });
    const plans = watchPlans(stand.store.postgres);
    const { entries } = await timelineOf(plans, { about: { key: subject }, reader: 'operator', limit: 10 });
    expect(entries).toMatchObject([{ verdicts: [{ delivery: { status: 'delivered', attempts: [{}, {}] } }] }]);
    expect(plans.looksInto('attempts')).toBeLessThanOrEqual(2);
    expect(plans.looksInto('events')).toBe(1);
  });

  test.each([
    ['was away for days', aDelivered, 'delivered'],
    ['never came back', anExhausted, 'exhausted'],
  ])('tells of attempts days later, where its receiver %s', async (_, of, status) => {
    const { subject } = await made(
      { after: 20, of: aFailed },
      { after: 3 * DAY_MS, of: aFailed },
      { after: 9 * DAY_MS, of },
    );
    expect(await toldOf(subject)).toMatchObject([{ status, attempts: [{}, {}, { attempt: 3 }] }]);
  });

  test('tells that it was sent again by hand, though it had got through', async () => {
    const whole = await made({ after: 20, of: aDelivered }, { after: 12 * DAY_MS, of: aDelivered });
    await sentByHand(whole);
    expect(await toldOf(whole.subject)).toMatchObject([
      { status: 'delivered', attempts: [{ attempt: 1 }, { attempt: 2 }] },
    ]);
  });

  test('tells that its event was routed again', async () => {
    const again = await made({ after: 20, of: aDelivered }, { after: 5 * DAY_MS, of: aDelivered });
    await stand.log([], { ...again, at: LONG_AGO + 5 * DAY_MS });
    const { delivery, subject } = again;
    const both = { delivery, attempts: [{ attempt: 1 }, { attempt: 2 }] };
    expect(await toldOf(subject)).toMatchObject([both, both]);
    expect(await deliveryHistory(stand.store.postgres, { delivery }, 'operator')).toMatchObject({
      ...both,
      at: LONG_AGO,
    });
  });
});

async function sentByHand({ delivery, event, subscription, account }: Awaited<ReturnType<typeof made>>): Promise<void> {
  await stand.rows(
    `insert into delivery_log.sendings (guid, why, delivery, event, interface, action, account, client, subscription,
       generation, from_attempt, requested_by, due_at, published_at)
     values (gen_random_uuid(), 'resend', $1, $2, 'carrier', 'order.created', $3, 'default', $4, 1, 2, 'a test', now(), now())`,
    [delivery, event, account, subscription],
  );
}
