import { describe, expect, test } from '@jest/globals';
import { TooLarge, type OnSettled } from './broker/publish-errors.ts';
import { publishEnds, readEnds, type DeliveryEnd } from './delivery-ends.ts';
import type { Publication } from './messages.ts';
import { publishOutcomes, readOutcomes } from './outcome-batch.ts';
import type { Outcome } from './outcomes.ts';
import { sendFitting } from './send-fitting.ts';

/** A broker that takes so many bytes at most; a service that does not know this yet learns it. */
function aBroker(bytes: number, isKnown: boolean) {
  let largest = isKnown ? bytes : 2 ** 24;
  const taken: Publication[] = [];
  let asked = 0;
  const send = (publication: Publication, onSettled: OnSettled) => {
    asked += 1;
    const { length } = publication.body;
    if (length > bytes) {
      largest = bytes;
      return onSettled(new TooLarge(length, bytes));
    }
    taken.push(publication);
    onSettled(undefined);
  };
  return { broker: { send, largest: () => largest }, taken, asked: () => asked };
}

function sent(publication: Publication, bytes: number, isKnown = true) {
  const { broker, taken, asked } = aBroker(bytes, isKnown);
  const settled: string[] = [];
  sendFitting(broker, publication, (error) => settled.push(error?.name ?? 'confirmed'));
  return { taken, settled, asked: asked() };
}

const of = { event: 'e', interface: 'carrier', action: 'order.created', at: 2 } as const;
const facts = { ...of, delivery: 'd', subscription: 's', generation: 1 };
/** Not to be compressed. */
const noise = (length: number) =>
  Array.from({ length }, (_, at) => ((at * 7_919) % 9_973).toString(36))
    .join('')
    .slice(0, length);
const failed = (attempt: number, body: string, answered = 'oops'): Outcome => ({
  kind: 'failed',
  ...facts,
  attempt,
  body,
  beganAt: 1,
  retryAt: 9,
  answer: { durationMs: 1, status: 500, body: answered },
});
const outcomesOf = (taken: readonly Publication[]) => taken.flatMap(({ body }) => readOutcomes(body));

describe('a batch that is larger than the broker takes', () => {
  test.each([
    ['known beforehand', true],
    ['told by the broker', false],
  ])('goes in as many messages as it takes, where that is %s', (_, isKnown) => {
    const outcomes = Array.from({ length: 9 }, (_each, attempt) => failed(attempt, noise(300)));
    const { taken, settled } = sent(publishOutcomes(outcomes), 1_500, isKnown);
    expect(outcomesOf(taken)).toEqual(outcomes);
    expect(taken.length).toBeGreaterThan(1);
    expect(taken.every(({ body }) => body.length <= 1_500)).toBe(true);
    expect(settled).toEqual(['confirmed']);
  });

  test('of ends is taken apart as well', () => {
    const ends = Array.from({ length: 50 }, (_, at): DeliveryEnd => ({
      subscription: 's',
      generation: 1,
      delivery: 'd',
      isDelivered: false,
      at,
    }));
    const { taken } = sent(publishEnds(ends), 300);
    expect(taken.map((each) => readEnds(each)).flat()).toEqual(ends);
  });

  test('and has one record that fits nowhere leaves out what was sent and answered, of that one', () => {
    const { taken, settled } = sent(
      publishOutcomes([failed(1, noise(5_000), noise(5_000)), failed(2, 'short')]),
      2_000,
    );
    const [first, second] = outcomesOf(taken);
    expect(first).toMatchObject({ kind: 'failed', attempt: 1, answer: { durationMs: 1, status: 500 } });
    expect(JSON.stringify(first)).not.toContain('body');
    expect(second).toEqual(failed(2, 'short'));
    expect(settled).toEqual(['confirmed']);
  });

  test('and tells of many deliveries tells of them in several records of the same event', () => {
    const deliveries = Array.from({ length: 100 }, (_, at) => ({
      delivery: noise(at + 20).slice(-20),
      subscription: `s${at}`,
      account: 'a',
      client: 'c',
    }));
    const suppressed = [{ reason: 'feature_off', client: 'c' } as const];
    const routed: Outcome = {
      kind: 'routed',
      ...of,
      keys: [{ kind: 'vin', key: 'x' }],
      receivers: ['a'],
      deliveries,
      suppressed,
      unknownMembers: 0,
    };
    const { taken } = sent(publishOutcomes([routed]), 1_000);
    const records = outcomesOf(taken).map((outcome) => (outcome.kind === 'routed' ? outcome : undefined));
    expect(records.flatMap((record) => record?.deliveries)).toEqual(deliveries);
    expect(records.flatMap((record) => record?.suppressed)).toEqual(suppressed);
    expect(records.every((record) => record?.event === 'e' && record.keys[0]?.key === 'x')).toBe(true);
  });

  test('is refused where nothing is left to leave out', () => {
    const { settled, taken } = sent(publishOutcomes([failed(1, '', '')]), 10);
    expect(settled).toEqual(['TooLarge']);
    expect(taken).toEqual([]);
  });
});

test('a batch that goes in parts is settled with the last of them', () => {
  const open: OnSettled[] = [];
  const broker = { send: (_: Publication, onSettled: OnSettled) => void open.push(onSettled), largest: () => 1_500 };
  let settled = 0;
  const outcomes = Array.from({ length: 9 }, (_, attempt) => failed(attempt, noise(300)));
  sendFitting(broker, publishOutcomes(outcomes), () => void (settled += 1));
  const [first, ...others] = open;
  first?.(undefined);
  expect(others).not.toHaveLength(0);
  expect(settled).toBe(0);
  for (const each of others) each(undefined);
  expect(settled).toBe(1);
});

describe('what is no batch', () => {
  test('is sent as it is, though it may be too large, and settled with what the broker says', () => {
    const publication: Publication = {
      kind: 'publish',
      exchange: 'waybell.deliveries',
      routingKey: 'k',
      body: Buffer.alloc(100),
    };
    expect(sent(publication, 50)).toMatchObject({ settled: ['TooLarge'], asked: 1 });
    expect(sent(publication, 100)).toMatchObject({ settled: ['confirmed'], asked: 1 });
  });
});
