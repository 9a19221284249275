import { describe, expect, test } from '@jest/globals';
import { readEnds } from '@waybell/line/outcome-batch';
import { isRejection } from '@waybell/line/messages';
import { deactivatorQueue } from '@waybell/line/topology';
import { until } from '@waybell/runtime/testing/until';
import { integrator, type Integrator, type Standing } from '../testing/integrator.ts';
import type { Received } from '../testing/receiver.ts';
import { onChannel } from '../testing/on-channel.ts';
import { logOf, replicaOf } from '../testing/replica.ts';
import { takeAll } from '../testing/take-all.ts';
import {
  CARRIER_ATTEMPTS,
  CARRIER_DELAYS_MS,
  receiver,
  runWith,
  SHIPPER_ATTEMPTS,
  settingsOf,
  stack,
} from './stand.ts';

const WINDOW_MS = 1_000;
// Times are written down by a clock that may be set right meanwhile.
const CLOCK_MS = 50;

const aCarrier = () => integrator({ stack, receiver, interfaceName: 'carrier' });
const aShipper = () => integrator({ stack, receiver, interfaceName: 'shipper' });
const wallClock = ({ at }: Received) => performance.timeOrigin + at;
const attemptOf = ({ headers }: Received) => Number(headers['x-webhook-attempt']);

const rules = (exhausted: string, window: string) => ({
  DEACTIVATE_ON_EXHAUSTED: exhausted,
  DEACTIVATE_ON_WINDOW: window,
  DEACTIVATION_WINDOW: `${WINDOW_MS}ms`,
});

/** Logs at a level that shows handled messages. */
const ALL_EXHAUSTED = { ...rules('shipper,carrier', 'none'), LOG_LEVEL: 'debug' };

/** Fails until it is off; resolves with the first request. */
async function failUntilOff(us: Integrator): Promise<Received | undefined> {
  us.answer(500);
  const before = receiver.at(us.path).length;
  await until('the subscription is off', async () => {
    await us.hear();
    return !(await us.standing()).is_active;
  });
  return receiver.at(us.path)[before];
}

/** Has its delivery fail, and resolves when the last attempt has come; it fails when that is called. */
async function lastAttemptOf(us: Integrator, last: number): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<() => void>();
  us.answer((response, received) => {
    const fail = () => response.writeHead(500).end();
    if (attemptOf(received) === last) resolve(fail);
    else fail();
  });
  await us.hear();
  return promise;
}

/** How it stands once another, which began to fail after it, is off. */
async function standingLater(us: Integrator): Promise<Standing> {
  await failUntilOff(await aCarrier());
  return us.standing();
}

export function deactivation(): void {
  describe('a carrier subscription', () => {
    test('is on until its last attempt has failed, none of them too early, then off, and hears nothing more', async () => {
      const carrier = await aCarrier();
      const fail = await lastAttemptOf(carrier, CARRIER_ATTEMPTS);
      expect(await carrier.standing()).toMatchObject({ is_active: true });
      fail();
      expect(await carrier.untilOff()).toMatchObject({ deactivation_rule: 'exhausted' });
      await carrier.hear();
      const other = await aCarrier();
      await other.hear();
      await other.untilAsked(1);
      const requests = receiver.at(carrier.path);
      expect(requests.map(attemptOf)).toEqual([1, 2, 3, 4]);
      expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
      const gapsMs = requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? 0));
      expect(gapsMs.filter((gapMs, index) => gapMs < (CARRIER_DELAYS_MS[index] ?? 0))).toEqual([]);
    });

    test('is on record as switched off by the delivery that exhausted its attempts', async () => {
      const carrier = await aCarrier();
      carrier.answer(500);
      await carrier.hear();
      const { guid } = await carrier.untilOff();
      const told = await until('the delivery log has it', async () => {
        const { rows } = await stack.postgres.query(
          'select rule, delivery from delivery_log.deactivations where subscription = $1',
          [guid],
        );
        return rows.length > 0 && rows;
      });
      const delivery = receiver.at(carrier.path)[0]?.headers['webhook-id'];
      expect(told).toMatchObject([{ rule: 'exhausted', delivery }]);
      await until('nothing of it is left to be told', async () => {
        const { rowCount } = await stack.postgres.query('select from waybell.deactivations where subscription = $1', [
          guid,
        ]);
        return rowCount === 0;
      });
    });

    test('stays on where a retry makes it good', async () => {
      const carrier = await aCarrier();
      carrier.answer((response, received) =>
        response.writeHead(attemptOf(received) === CARRIER_ATTEMPTS ? 200 : 500).end(),
      );
      await carrier.hear();
      await carrier.untilAsked(CARRIER_ATTEMPTS);
      expect(await standingLater(carrier)).toMatchObject({ is_active: true });
    });

    test('made again stays on when the last attempt for the old one fails after that', async () => {
      const carrier = await aCarrier();
      const fail = await lastAttemptOf(carrier, CARRIER_ATTEMPTS);
      const again = await carrier.subscribeAgain();
      fail();
      await failUntilOff(await aCarrier());
      await carrier.hear();
      expect(await receiver.untilReceived(again.path, 1)).toHaveLength(1);
    });
  });

  describe('a shipper subscription', () => {
    test('is never off because a delivery is exhausted', async () => {
      const shipper = await aShipper();
      shipper.answer(500);
      await shipper.hear();
      await shipper.untilAsked(SHIPPER_ATTEMPTS);
      expect(await standingLater(shipper)).toMatchObject({ is_active: true });
      expect(receiver.at(shipper.path).map(attemptOf)).toEqual([1, 2, 3, 4, 5, 6]);
    });
  });

  describe('a subscription that failed while nothing switched off', () => {
    settingsOf('deactivator', () => rules('none', 'none'));

    test('is on, and counts from its last success once the window switches off', async () => {
      const carrier = await aCarrier();
      carrier.answer(500);
      await carrier.hear();
      await carrier.untilAsked(CARRIER_ATTEMPTS);
      carrier.answer(200);
      await carrier.hear();
      const success = (await carrier.untilAsked(CARRIER_ATTEMPTS + 1)).at(-1);
      await until('the success is noted', async () => (await carrier.standing()).last_success_at !== null);
      await runWith('deactivator', rules('none', 'carrier'));
      await failUntilOff(carrier);
      const { deactivated_at } = await carrier.untilOff();
      expect(success && deactivated_at.getTime() - wallClock(success)).toBeGreaterThanOrEqual(WINDOW_MS - CLOCK_MS);
    });
  });

  describe('a subscription, while only the window switches off, and that of carriers', () => {
    settingsOf('deactivator', () => rules('none', 'carrier'));

    test('is off once all has failed for the length of the window, not before', async () => {
      const carrier = await aCarrier();
      const first = await failUntilOff(carrier);
      const { deactivation_rule, deactivated_at } = await carrier.untilOff();
      expect(deactivation_rule).toBe('window');
      expect(first && deactivated_at.getTime() - wallClock(first)).toBeGreaterThanOrEqual(WINDOW_MS - CLOCK_MS);
    });

    test('of a shipper is never off', async () => {
      const shipper = await aShipper();
      shipper.answer(500);
      await shipper.hear();
      await shipper.untilAsked(SHIPPER_ATTEMPTS);
      expect(await standingLater(shipper)).toMatchObject({ is_active: true });
    });
  });

  describe('two deactivators', () => {
    settingsOf('deactivator', () => ALL_EXHAUSTED);

    test('switch each subscription off once', async () => {
      const first = stack.stack.service('deactivator');
      const second = await replicaOf(first);
      try {
        const said = (what: string) => [first, second].map(({ spec }) => logOf(spec).filter(({ msg }) => msg === what));
        const before = said('message.handled').map(({ length }) => length);
        const carriers = await Promise.all(Array.from({ length: 20 }, aCarrier));
        for (const carrier of carriers) carrier.answer(500);
        await Promise.all(carriers.flatMap((carrier) => [carrier.hear(), carrier.hear(), carrier.hear()]));
        const off = await Promise.all(carriers.map((carrier) => carrier.untilOff()));
        await until('both have handled something', () =>
          said('message.handled').every(({ length }, place) => length > (before[place] ?? 0)),
        );
        const guids = new Set(off.map(({ guid }) => guid));
        const announced = () =>
          said('subscription.deactivated')
            .flat()
            .filter(({ subscription }) => guids.has(String(subscription)));
        await until('each is announced', () => announced().length >= carriers.length);
        expect(announced()).toHaveLength(carriers.length);
      } finally {
        await second.stop();
      }
    });
  });

  describe('a shipper subscription, while the rules are on for shippers', () => {
    settingsOf('deactivator', () => ALL_EXHAUSTED);

    test('is off when a delivery has exhausted its attempts', async () => {
      const shipper = await aShipper();
      shipper.answer(500);
      await shipper.hear();
      await shipper.untilAsked(SHIPPER_ATTEMPTS);
      expect(await shipper.untilOff()).toMatchObject({ deactivation_rule: 'exhausted' });
    });

    test('that was replaced stays on when the last attempt at its old address fails after that', async () => {
      const shipper = await aShipper();
      const fail = await lastAttemptOf(shipper, SHIPPER_ATTEMPTS);
      await shipper.subscribeAgain();
      fail();
      expect(await standingLater(shipper)).toMatchObject({ is_active: true });
    });

    test('is off when all has failed for the length of the window', async () => {
      await runWith('deactivator', rules('none', 'shipper'));
      const shipper = await aShipper();
      await failUntilOff(shipper);
      expect(await shipper.untilOff()).toMatchObject({ deactivation_rule: 'window' });
    });
  });

  describe('what the deactivator is told', () => {
    const tell = async (us: Integrator, what: string) => {
      const { guid } = await us.standing();
      await stack.postgres.query(`update waybell.subscriptions set ${what} where guid = $1`, [guid]);
      const before = receiver.at(us.path).length;
      await us.hear();
      await us.untilAsked(before + 1);
    };

    test('is a success only where it can matter', async () => {
      const deactivator = stack.stack.service('deactivator');
      await deactivator.stop();
      try {
        const [healthy, failing, silent] = [await aCarrier(), await aCarrier(), await aCarrier()];
        await tell(healthy, 'last_success_at = now()');
        await tell(failing, 'last_success_at = now(), failing_since = now(), last_failure_at = now()');
        await tell(silent, `last_success_at = now() - interval '2 hours'`);
        const told: string[] = [];
        await onChannel(stack.brokerUrl, (channel) =>
          until('both are told', async () => {
            const batches = (await takeAll(channel, deactivatorQueue)).map(({ content: body }) => readEnds({ body }));
            for (const batch of batches) if (!isRejection(batch)) told.push(...batch.map((end) => end.subscription));
            const of = async (us: Integrator) => told.includes((await us.standing()).guid);
            return (await of(failing)) && (await of(silent));
          }),
        );
        expect(told).not.toContain((await healthy.standing()).guid);
      } finally {
        await deactivator.start();
      }
    });
  });
}
