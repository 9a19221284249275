import { describe, expect, test } from '@jest/globals';
import { createMetrics } from '@waybell/runtime/metrics';
import { figuresOf } from '@waybell/runtime/testing/figures-of';
import { lineMetrics, watchPublishing } from './line-metrics.ts';
import type { Attempted, Outcome, Routed } from './outcomes.ts';
import { WaitingMetrics } from './waiting-room/waiting-metrics.ts';

const facts = {
  delivery: 'd',
  subscription: 's',
  generation: 7,
  event: 'e',
  action: 'order.created',
  attempt: 1,
  at: 1,
};
const of = { ...facts, interface: 'carrier', beganAt: 1 } as const;
const failure = { status: 503, reason: 'http_5xx', durationMs: 1 } as const;

/** Returns what is shown after the outcome. */
async function shownAfter(outcome: Outcome) {
  const metrics = createMetrics('test');
  lineMetrics(metrics).ended(outcome);
  return figuresOf(metrics);
}

describe('the metrics of a step', () => {
  test('show a zero for each way out before any message has taken it, so that the first is an increase', async () => {
    const metrics = createMetrics('test');
    lineMetrics(metrics).watchInHand('router', () => 7);
    const ways = ['handled', 'repeated', 'rejected', 'suspected', 'given_back'];
    expect(await figuresOf(metrics)).toEqual({
      'waybell_messages_held{step="router"}': 7,
      ...Object.fromEntries(ways.map((way) => [`waybell_messages_total{step="router",result="${way}"}`, 0])),
    });
  });

  test('tell messages and what they took, and deliveries and the batches in which they left', async () => {
    const metrics = createMetrics('test');
    const line = lineMetrics(metrics);
    line.left('router', 'repeated', 3);
    line.took('router', 1_500);
    line.sentBatch('router', 16);
    line.sentBatch('router', 4);
    expect(await figuresOf(metrics)).toEqual({
      'waybell_messages_total{step="router",result="repeated"}': 3,
      'waybell_message_duration_seconds_sum{step="router"}': 1.5,
      'waybell_message_duration_seconds_count{step="router"}': 1,
      'waybell_delivery_batches_total{step="router"}': 2,
      'waybell_delivery_batch_members_total{step="router"}': 20,
    });
  });

  test('count the deliveries of an event, and each reason for which there is none', async () => {
    const routed: Routed = {
      ...of,
      kind: 'routed',
      keys: [],
      receivers: ['a'],
      deliveries: ['s', 't'].map((subscription) => ({ subscription, account: 'a' })),
      suppressed: [{ reason: 'duplicate' }, { reason: 'feature_off', account: 'a' }],
    };
    const suppressed = (reason: string) =>
      `waybell_outcomes_total{interface="carrier",end="suppressed",reason="${reason}",by_hand=""}`;
    expect(await shownAfter(routed)).toEqual({
      'waybell_deliveries_routed_total{interface="carrier"}': 2,
      [suppressed('duplicate')]: 1,
      [suppressed('feature_off')]: 1,
    });
  });

  test.each<[Attempted, end: string, reason: string, byHand?: string]>([
    [{ ...of, kind: 'delivered', answer: { status: 200, durationMs: 1 } }, 'delivered', ''],
    [{ ...of, kind: 'failed', answer: failure, retryAt: 2 }, 'failed', 'http_5xx'],
    [{ ...of, kind: 'exhausted', answer: failure, byHand: 'resend' }, 'exhausted', 'http_5xx', 'resend'],
    [{ ...of, kind: 'exhausted', reason: 'expired' }, 'exhausted', 'expired'],
    [{ ...of, kind: 'dropped', reason: 'gone', byHand: 'test' }, 'dropped', 'gone', 'test'],
  ])('count %j as %s', async (outcome, end, reason, byHand = '') => {
    expect(await shownAfter(outcome)).toEqual({
      [`waybell_outcomes_total{interface="carrier",end="${end}",reason="${reason}",by_hand="${byHand}"}`]: 1,
    });
  });
});

test('the metrics of publishing tell what is not confirmed, whether the broker blocks, and where nothing is taken', async () => {
  const metrics = createMetrics('test');
  const stalled = [{ exchange: 'e', routingKey: 'k' }];
  watchPublishing(() => ({ unconfirmed: 5, isBlocked: true, stalled }), metrics);
  expect(await figuresOf(metrics)).toEqual({
    waybell_unconfirmed_messages: 5,
    waybell_publishing_blocked: 1,
    'waybell_destination_stalled{exchange="e",routing_key="k"}': 1,
  });
});

test('the metrics of waiting tell endpoints from destinations, and the parts of a process together', async () => {
  const metrics = createMetrics('test');
  const waiting = new WaitingMetrics(metrics, () => 90_000);
  waiting.figures = { endpoints: { rows: 1, bytes: 2, oldestAt: 60_000 }, destinations: { rows: 3, bytes: 4 } };
  waiting.show(() => ({ claimed: 5, shut: 6, isAway: false }));
  waiting.show(() => ({ claimed: 10, shut: 20, isAway: true }));
  waiting.countPut('hung');
  waiting.countTaken('destinations', 7);
  expect(await figuresOf(metrics)).toEqual({
    'waybell_waiting_rows{of="endpoints"}': 1,
    'waybell_waiting_rows{of="destinations"}': 3,
    'waybell_waiting_bytes{of="endpoints"}': 2,
    'waybell_waiting_bytes{of="destinations"}': 4,
    'waybell_waiting_oldest_seconds{of="endpoints"}': 30,
    'waybell_waiting_oldest_seconds{of="destinations"}': 0,
    'waybell_waiting_rooms{state="claimed"}': 15,
    'waybell_waiting_rooms{state="shut"}': 26,
    waybell_waiting_away: 1,
    'waybell_waiting_put_total{why="hung"}': 1,
    'waybell_waiting_taken_total{of="destinations"}': 7,
  });
});
