import { describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { createMetrics } from '@waybell/runtime/metrics';
import { figuresOf } from '@waybell/runtime/testing/figures-of';
import { emptyState, type Report, addMember, newSource, newTransition } from './hand-over/state.ts';
import { reject, type Message, type Outgoing } from './messages.ts';
import type { Outcome, Routed } from './outcomes.ts';
import { describeOutgoing, StepReport } from './step-report.ts';
import { end, record, to, waits } from './testing/told-step.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const message: Message = {
  queue: 'q',
  exchange: 'e',
  routingKey: 'k',
  body: Buffer.from('{}'),
  messageId: 'one',
  traceparent: `00-${TRACE}-b7ad6b7169203331-00`,
  deliveryCount: 0,
  failures: 0,
};

const of = { event: 'e', interface: 'carrier', action: 'order.created', at: 1 } as const;
const routed: Routed = {
  ...of,
  kind: 'routed',
  keys: [],
  receivers: [],
  deliveries: [],
  suppressed: [{ reason: 'duplicate' }, { reason: 'feature_off' }],
};

type Handled = { caused?: readonly Outgoing[]; isRepeat?: true };

function handled(...members: readonly Handled[]): Report<Message> {
  const state = emptyState<Message>();
  newSource(state, 1, members.length);
  const rules = { name: 's', hasLane: true, parse: (each: Message) => each, now: () => 0 };
  const turn = newTransition(state, rules);
  const member = (what: Handled) => ({ ...addMember(turn, 1, 'queue', message), parsed: message, ...what });
  return { kind: 'handled', members: members.map(member) };
}

/** Returns what a report logs, and counts. */
async function reported(report: Report<Message>) {
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  const step = { name: 's', describe: () => ({ event: 'e' }) };
  const metrics = createMetrics('test');
  new StepReport(step, { log, metrics, inHand: () => 0 }).record(report, () => 1_500);
  const figures = Object.entries(await figuresOf(metrics)).filter(([, figure]) => figure > 0);
  return { lines: lines.map((line) => JSON.parse(line)), figures: Object.fromEntries(figures) };
}

const left = (result: string) => `waybell_messages_total{step="s",result="${result}"}`;

describe('a line of the log', () => {
  test.each([
    ['message.handled', handled({})],
    ['message.rejected', { kind: 'rejected', message, rejection: reject('r', 'd') }],
    ['message.failed', { kind: 'failed', message, error: new Error('e') }],
    ['message.suspected', { kind: 'put aside', message }],
    ['message.given-back', { kind: 'stuck', message, error: new Error('e') }],
  ] satisfies [string, Report<Message>][])('%s has the trace that upstream gave', async (msg, report) => {
    expect((await reported(report)).lines).toMatchObject([{ msg, trace_id: TRACE }]);
  });

  test('says what a message caused: to those who look closely, but to all where a delivery did not arrive', async () => {
    const { lines } = await reported(
      handled({ caused: [record('d')] }, { caused: [{ kind: 'outcome', outcome: routed }] }),
    );
    expect(lines).toMatchObject([
      { level: 30, queue: 'q', event: 'e', caused: ['dropped unsubscribed'], ms: 1_500 },
      { level: 20, caused: ['routed duplicate feature_off'] },
    ]);
  });
});

describe('a message', () => {
  test.each([
    ['as it left', handled({}, {}, { isRepeat: true }), { [left('handled')]: 2, [left('repeated')]: 1 }],
    ['as rejected', { kind: 'rejected', message, rejection: reject('r', 'd') }, { [left('rejected')]: 1 }],
    ['as suspected', { kind: 'put aside', message }, { [left('suspected')]: 1 }],
    ['as given back', { kind: 'given back' }, { [left('given_back')]: 1 }],
    ['as given back that is stuck', { kind: 'stuck', message, error: new Error('e') }, { [left('given_back')]: 1 }],
    ['not yet that failed', { kind: 'failed', message, error: new Error('e') }, {}],
  ] satisfies [string, Report<Message>, object][])('is counted %s', async (_, report, counted) => {
    const { figures } = await reported(report);
    const all = Object.entries(figures).filter(([name]) => name.startsWith('waybell_messages_total'));
    expect(Object.fromEntries(all)).toEqual(counted);
  });
});

const facts = { ...of, delivery: 'd', subscription: 's', generation: 7, attempt: 1, beganAt: 1 };
const refusal = { status: 503, reason: 'http_5xx', durationMs: 1 } as const;
const rule = {
  kind: 'deactivated',
  rule: 'window',
  subscription: 's',
  generation: 1,
  account: 'a',
  client: 'c',
} as const;

const onRecord = (outcome: Outcome): Outgoing => ({ kind: 'outcome', outcome });

test.each<[Outgoing, string]>([
  [to('x'), ''],
  [{ ...to('x'), routingKey: 'k' }, 'k'],
  [waits('x'), 'waits: full'],
  [end('s'), 'told the deactivator'],
  [record('d'), 'dropped unsubscribed'],
  [onRecord(routed), 'routed duplicate feature_off'],
  [onRecord({ ...of, kind: 'rejected', keys: [], receivers: [], reason: 'no_json', detail: 'd' }), 'rejected no_json'],
  [onRecord({ ...facts, kind: 'delivered', answer: { status: 204, durationMs: 1 } }), 'delivered 204'],
  [onRecord({ ...facts, kind: 'failed', answer: refusal, retryAt: 2 }), 'failed 503 http_5xx'],
  [onRecord({ ...facts, kind: 'exhausted', reason: 'expired' }), 'exhausted expired'],
  [onRecord({ ...of, ...rule }), 'deactivated by rule window'],
])('what a message caused is described in a word or two: %#', (outgoing, words) => {
  expect(describeOutgoing(outgoing)).toBe(words);
});
