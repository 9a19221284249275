import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { logQueue } from '@waybell/line/topology';
import { SpanCollector } from '@waybell/runtime/testing/span-collector';
import { traceTo } from '@waybell/runtime/testing/trace-to';
import type { Tracing } from '@waybell/runtime/export-spans';
import { outlineTrace } from '../testing/outline-trace.ts';
import { aLine } from './a-line.ts';

const DELIVERY = 'process waybell.deliveries.carrier.order.created';
const [UPSTREAM, NEVER_SAMPLED] = ['01', '00'].map((flags) => {
  return `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-${flags}`;
}) as [string, string];
const traceOf = (traceparent = '') => traceparent.slice(3, 35);
const HUNG = { status: 'none', afterMs: 3_000 } as const;

let collector: SpanCollector;
let tracing: Tracing | undefined;
beforeEach(async () => {
  collector = await SpanCollector.start();
});
afterEach(async () => {
  await tracing?.[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
});

/** A line on which spans are made. */
async function aTracedLine({ env = {}, ...what }: Parameters<typeof aLine>[0] & { env?: Record<string, string> } = {}) {
  tracing = await traceTo(collector, env);
  return aLine({ ...what, tracer: tracing.tracer });
}

/** The spans of a trace, all of which have ended. */
async function spansOf(traceparent: string | undefined) {
  await tracing?.[Symbol.asyncDispose]();
  return collector.of(traceOf(traceparent));
}

describe('the trace of an event', () => {
  test('goes on with each attempt as a child of the one before', async () => {
    const { line, event } = await aTracedLine({ receiver: ({ attempt }) => ({ status: attempt < 3 ? 500 : 200 }) });
    line.publish(event(), { traceparent: UPSTREAM });
    await line.run();
    expect(outlineTrace(await spansOf(UPSTREAM))).toEqual([
      'process waybell.events.router',
      `  ${DELIVERY}`,
      `    ${DELIVERY}`,
      `      ${DELIVERY}`,
      '        process waybell.ends.deactivator',
      '        publish',
      '      publish',
      '    publish',
      '  publish',
    ]);
  });

  test('goes through a delivery that waited in a room', async () => {
    const settings = { DELIVER_SLOTS: '20' };
    const { line, event } = await aTracedLine({ receiver: () => HUNG, settings });
    for (let count = 0; count < 200; count += 1) line.publish(event(), { traceparent: UPSTREAM });
    await line.run();
    const spans = await spansOf(UPSTREAM);
    const taken = spans.filter(({ attributes }) => attributes['waybell.waited'] !== undefined);
    const parents = taken.map(({ parent }) => spans.find(({ spanId }) => spanId === parent));
    expect(taken).not.toEqual([]);
    expect(parents.filter((parent) => !String(parent?.attributes['waybell.caused']).includes('wait'))).toEqual([]);
  });

  test('is never lost, whichever of its processes die', async () => {
    let count = 0;
    const diesAt = () => (count += 1) % 5 === 0 && count < 100;
    const { line, event } = await aTracedLine({ receiver: () => ({ status: 500 }), diesAt });
    line.publish(event(), { traceparent: UPSTREAM });
    await line.run();
    expect(line.requests.length).toBeGreaterThanOrEqual(4);
    expect(new Set(line.requests.map(({ traceparent }) => traceOf(traceparent)))).toEqual(new Set([traceOf(UPSTREAM)]));
  });

  test('goes to the record of each attempt', async () => {
    const { line, event } = await aTracedLine({ receiver: () => ({ status: 500 }) });
    line.publish(event(), { traceparent: UPSTREAM });
    await line.run();
    const batches = line.broker.kept(logQueue).map(({ publication: { headers } }) => String(headers?.['traceparents']));
    const traces = batches.flatMap((batch) => batch.split(',').map(traceOf));
    expect(traces).toEqual(Array.from({ length: 5 }, () => traceOf(UPSTREAM)));
  });

  test('begins with the router where upstream gave none', async () => {
    const { line, event } = await aTracedLine();
    line.publish(event());
    await line.run();
    const spans = await spansOf(line.requests[0]?.traceparent);
    expect(spans.find(({ parent }) => parent === '')?.name).toBe('process waybell.events.router');
  });

  test.each([
    ['upstream did not sample', NEVER_SAMPLED, {}, NEVER_SAMPLED],
    ['the sampler leaves out', undefined, { OTEL_TRACES_SAMPLER: 'always_off' }, undefined],
  ])('that %s is passed on as it came, and nothing is said of it', async (_, traceparent, env, passed) => {
    const { line, event } = await aTracedLine({ env });
    line.publish(event(), traceparent === undefined ? {} : { traceparent });
    await line.run();
    await spansOf(undefined);
    expect([line.requests.map((request) => request.traceparent), collector.spans]).toEqual([[passed], []]);
    expect(line.broker.kept(logQueue).filter(({ publication: { headers } }) => headers !== undefined)).toEqual([]);
  });

  test('that cannot be one is none', async () => {
    const { line, event } = await aTracedLine({ env: { OTEL_TRACES_SAMPLER: 'parentbased_always_off' } });
    line.publish(event(), { traceparent: '00-none', traceparents: UPSTREAM });
    await line.run();
    await spansOf(undefined);
    expect([line.requests.map(({ traceparent }) => traceparent), collector.spans]).toEqual([[undefined], []]);
  });

  test('says that it failed where the event breaks the contract', async () => {
    const { line } = await aTracedLine();
    line.publishBytes('carrier.order.created', Buffer.from('nonsense'), { traceparent: UPSTREAM });
    await line.run();
    expect(await spansOf(UPSTREAM)).toMatchObject([
      { isError: true, attributes: { 'error.type': expect.stringMatching(/^rejected: /) } },
    ]);
  });

  test('without a collector is passed on as it came', async () => {
    const { line, event } = aLine({ receiver: ({ attempt }) => ({ status: attempt < 3 ? 500 : 200 }) });
    line.publish(event(), { traceparent: UPSTREAM });
    await line.run();
    expect(line.requests.map(({ traceparent }) => traceparent)).toEqual([UPSTREAM, UPSTREAM, UPSTREAM]);
  });
});
