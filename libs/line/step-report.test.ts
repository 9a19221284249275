import { describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { createMetrics } from '@waybell/runtime/metrics';
import { emptyState, type Report } from './hand-over/state.ts';
import { addMember, newSource, newTurn } from './hand-over/turn.ts';
import { reject, type Message } from './messages.ts';
import { StepReport } from './step-report.ts';

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

function handled(): Report<Message> {
  const state = emptyState<Message>();
  newSource(state, 1, 1);
  const rules = { name: 's', parse: (each: Message) => each, now: () => 0 };
  const member = addMember(newTurn(state, rules), 1, 'queue', message);
  return { kind: 'handled', members: [{ ...member, parsed: message }] };
}

/** Returns the log lines of a report. */
function logged(report: Report<Message>): unknown[] {
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  const step = { name: 's', describe: () => ({ event: 'e' }) };
  new StepReport(step, { log, metrics: createMetrics('test'), held: () => 0 }).record(report, () => 1);
  return lines.map((line) => JSON.parse(line));
}

describe('a line of the log', () => {
  test.each([
    ['message.handled', handled()],
    ['message.rejected', { kind: 'rejected', message, rejection: reject('r', 'd') }],
    ['message.failed', { kind: 'failed', message, error: new Error('e') }],
    ['message.suspected', { kind: 'put aside', message }],
    ['message.given-back', { kind: 'stuck', message, error: new Error('e') }],
  ] satisfies [string, Report<Message>][])('%s has the trace that upstream gave', (msg, report) => {
    expect(logged(report)).toMatchObject([{ msg, trace_id: TRACE }]);
  });
});
