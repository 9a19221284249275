import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { SentSpan } from '@waybell/runtime/testing/read-spans';
import { SpanCollector } from '@waybell/runtime/testing/span-collector';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { anEvent } from '../testing/event.ts';
import { isWhole, outlineTrace } from '../testing/outline-trace.ts';
import { receiver, settingsOf, stack } from './stand.ts';

const TRACED = ['event-router', 'deliverer', 'delivery-log'];

/** The lines of all logs that have this in them. */
function loggedAbout(text: string): Record<string, unknown>[] {
  const folder = join(stack.home, 'logs');
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'latin1').split('\n'));
  return lines.filter((line) => line.includes(text)).map((line) => JSON.parse(line));
}

export function traces(): void {
  describe('with a collector', () => {
    const collector = shared(() => SpanCollector.start());
    for (const service of TRACED) {
      settingsOf(service, () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, PASS_TRACEPARENT: 'true' }));
    }
    /** An event of upstream's trace for a carrier whose receiver fails once, and what the collector has of it. */
    async function failsOnce() {
      const [traceId, upstreamSpan] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
      const path = `/${randomUUID()}?key=${randomUUID()}`;
      const carrier = await stack.client('carrier');
      receiver.answer(path, (response) => {
        response.writeHead(receiver.at(path).length === 1 ? 500 : 200).end();
      });
      const token = await carrier.subscribe('order.created', receiver.url(path));
      const event = anEvent({ interface: 'carrier', action: 'order.created', parties: { carrier: carrier.account } });
      await stack.upstream.publish(event, { headers: { traceparent: `00-${traceId}-${upstreamSpan}-01` } });
      const isRecord = ({ name }: SentSpan) => name === 'process waybell.outcomes.log';
      const spans = await until('all is recorded', () => {
        const known = collector.of(traceId);
        return known.filter(isRecord).length === 3 && isWhole(known, upstreamSpan) && known;
      });
      return { traceId, upstreamSpan, spans, path, token, event };
    }

    test('an event, its attempts with their parts, and their records are one trace', async () => {
      const { traceId, upstreamSpan, spans, path, token, event } = await failsOnce();
      expect(outlineTrace(spans)).toEqual([
        'process waybell.events.router',
        '  process waybell.deliveries.carrier.order.created',
        '    POST !',
        ...['connect', 'read body', 'wait for status'].map((part) => `      ${part}`),
        '    process waybell.deliveries.carrier.order.created',
        '      POST',
        ...['read body', 'wait for status'].map((part) => `        ${part}`),
        '      process waybell.outcomes.log',
        '      publish',
        '    process waybell.outcomes.log',
        '    publish',
        '  process waybell.outcomes.log',
        '  publish',
      ]);
      expect(spans.find(({ name }) => name === 'process waybell.events.router')?.parent).toBe(upstreamSpan);
      const requests = spans.filter(({ name }) => name === 'POST');
      expect(requests.map(({ attributes }) => attributes['http.response.status_code'])).toEqual([500, 200]);
      // Each request carries its own span.
      const sent = receiver.at(path).map(({ headers }) => headers['traceparent']);
      expect(sent).toEqual(requests.map(({ spanId }) => `00-${traceId}-${spanId}-01`));
      const said = Buffer.concat(collector.bodies).toString('latin1');
      const secrets = [token, path.slice(path.indexOf('=') + 1), String(event.payload['status'])];
      expect(secrets.filter((secret) => secret.length > 5 && said.includes(secret))).toEqual([]);
    });

    test('lines of the log, and exemplars of the figures, have the trace', async () => {
      const { traceId, event } = await failsOnce();
      const failed = await until('it is in the log that an attempt failed', () =>
        loggedAbout(event.guid).find(
          ({ msg, caused }) => msg === 'message.handled' && String(caused).includes('failed'),
        ),
      );
      expect(failed).toMatchObject({ service: 'deliverer', trace_id: traceId });
      const { health } = stack.stack.service('deliverer').spec;
      const figures = await fetch(`${health}/metrics`, { headers: { accept: 'application/openmetrics-text' } });
      expect(await figures.text()).toMatch(
        new RegExp(`waybell_attempt_duration_seconds_bucket.* # \\{trace_id="${traceId}"\\}`),
      );
    });

    test('that is away, everything arrives, and services stay ready', async () => {
      collector.status = 503;
      const carrier = await stack.client('carrier');
      const path = `/${randomUUID()}`;
      await carrier.subscribe('order.created', receiver.url(path));
      await carrier.hear('order.created');
      await receiver.untilReceived(path, 1);
      await stack.untilReady();
    });
  });
}
