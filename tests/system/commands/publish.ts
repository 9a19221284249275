import { describe, expect, test } from '@jest/globals';
import { Detour } from '@waybell/runtime/testing/detour';
import { receiver, stack } from '../stand.ts';
import { created, lines, waybell } from './run.ts';

/** Every line number that the command's three lists name, in order: each once, if it told the truth. */
function linesNamed(stderr: string): number[] {
  const ranges = [...stderr.matchAll(/^ {2}(?:confirmed|not confirmed, perhaps published|not sent), lines: (.*)$/gm)];
  return ranges
    .flatMap(([, text = '']) => text.split(/, ?/))
    .filter((range) => /^\d/.test(range))
    .flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_each, index) => first + index);
    })
    .toSorted((one, other) => one - other);
}

/** More than the broker gets to see before it goes away. */
const EVENTS = 600;

export function publish(): void {
  describe('publish', () => {
    test('publishes each line, so that each is delivered', async () => {
      const carrier = await stack.client('carrier');
      await carrier.subscribe('order.created', receiver.url('/published'));
      const { code, stdout } = await waybell('publish', {
        input: lines(created(carrier.account), created(carrier.account)),
      });
      expect([code, stdout]).toEqual([0, 'published 2 events\n']);
      await receiver.untilReceived('/published', 2);
    });

    test('publishes events over several lines and in an array digit for digit, and the same file again to no effect', async () => {
      const carrier = await stack.client('carrier');
      await carrier.subscribe('order.created', receiver.url('/laid-out'));
      const [one, two] = [created(carrier.account), created(carrier.account)];
      const number = '12345678901234567890';
      const pretty = (event: unknown) => JSON.stringify(event, null, 2).replace(/"id": \d+/, `"id": ${number}`);
      for (const input of [pretty(one), `[${pretty(one)},\n${pretty(two)}]`]) {
        const { code, stderr } = await waybell('publish', { input });
        expect([code, stderr]).toEqual([0, '']);
      }
      await receiver.untilReceived('/laid-out', 2);
      expect(receiver.at('/laid-out').map(({ body }) => body.includes(`"id":${number}`))).toEqual([true, true]);
    });

    test('publishes what it does not know all of, and says what no notification has', async () => {
      const carrier = await stack.client('carrier');
      const event = created(carrier.account);
      const { code, stdout, stderr } = await waybell('publish', {
        input: lines({ ...event, payload: { ...event.payload, driver: 'Ann' } }),
      });
      expect([code, stdout]).toEqual([0, 'published 1 event\n']);
      expect(stderr).toMatch(/warning: line 1: \/payload\/driver: is not known to carrier\.order\.created/);
    });

    test('publishes nothing while one line is bad, and says what is wrong with each', async () => {
      const carrier = await stack.client('carrier');
      await carrier.subscribe('order.created', receiver.url('/half-published'));
      const bad = { ...created(carrier.account), action: 'order.createt' };
      const good = created(carrier.account);
      const { code, stdout, stderr } = await waybell('publish --file -', { input: `${lines(good, bad)}{"guid":\n` });
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(
        /line 2: unknown_action: \/action: .*\n.*line 3: not_json: .*\n.*nothing was published: 2 of 3/,
      );
      await waybell('publish', { input: lines(created(carrier.account)) });
      const [only] = await receiver.untilReceived('/half-published', 1);
      expect(receiver.at('/half-published')).toEqual([only]);
    });

    test('says which lines the broker confirmed when it goes away, and may then be repeated without a second callback', async () => {
      const carrier = await stack.client('carrier');
      await carrier.subscribe('order.created', receiver.url('/cut'));
      // Some of them, and by no means all.
      await using proxy = await Detour.to(stack.brokerUrl, { passedBytes: 64 * 1_024 });
      const events = Array.from({ length: EVENTS }, () => created(carrier.account));
      const publishing = waybell('publish', { input: lines(...events), env: { AMQP_URL: proxy.url } });
      await receiver.untilReceived('/cut', 1);
      await proxy.shut();
      const { code, stderr } = await publishing;
      expect(code).toBe(1);
      expect(linesNamed(stderr)).toEqual(events.map((_event, index) => index + 1));
      expect((await waybell('publish', { input: lines(...events) })).stdout).toBe(`published ${EVENTS} events\n`);
      await receiver.untilReceived('/cut', events.length);
      expect(new Set(receiver.at('/cut').map(({ headers }) => headers['webhook-id'])).size).toBe(events.length);
      expect(receiver.at('/cut')).toHaveLength(events.length);
    });
  });
}
