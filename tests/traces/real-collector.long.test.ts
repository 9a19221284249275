import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anAuthority } from '@waybell/runtime/testing/certificate';
import type { SentSpan } from '@waybell/runtime/testing/read-spans';
import { until } from '@waybell/runtime/testing/until';
import { hang } from '../testing/hang.ts';
import { anEvent } from '../testing/event.ts';
import { isWhole, outlineTrace } from '../testing/outline-trace.ts';
import { PATIENT } from '../testing/patience.ts';
import { Receiver } from '../testing/receiver.ts';
import { TestStack, type Client } from '../testing/test-stack.ts';
import { RealCollector } from './real-collector.ts';

const DELIVERY = 'process waybell.deliveries.carrier.order.created';
const RECORD = 'process waybell.outcomes.log';
const END = 'process waybell.ends.deactivator';
/** More than are under way at once. */
const HEARD = 40;

let folder: string;
let collector: RealCollector;
let stack: TestStack;
let receiver: Receiver;
const authority = anAuthority('of a receiver');
const secure = createServer(authority.issue({ name: 'localhost' }), (_request, response) => response.end('thanks'));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waybell-traces-'));
  const ca = join(folder, 'ca.pem');
  writeFileSync(ca, authority.cert);
  collector = await RealCollector.start(join(folder, 'spans.jsonl'));
  stack = await TestStack.start({
    ...PATIENT,
    CARRIER_RETRY_DELAYS: '200ms,200ms,200ms',
    DELIVER_SLOW: '1s',
    NODE_EXTRA_CA_CERTS: ca,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  });
  receiver = await Receiver.start();
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
}, 900_000);

afterAll(async () => {
  secure.closeAllConnections();
  secure.close();
  await receiver?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
  await collector?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

type Heard = { traceId: string; upstreamSpan: string };

/** Publishes an event for a carrier in a trace of upstream's, and resolves with that. */
async function hear({ account }: Client): Promise<Heard> {
  const [traceId, upstreamSpan] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const event = anEvent({ interface: 'carrier', action: 'order.created', parties: { carrier: account } });
  await stack.upstream.publish(event, { headers: { traceparent: `00-${traceId}-${upstreamSpan}-01` } });
  return { traceId, upstreamSpan };
}

/** The spans of a trace once all are there, with the records of so many attempts, beside the router's, and the end. */
function untilRecorded({ traceId, upstreamSpan }: Heard, { attempts = 1, ends = 0 } = {}): Promise<SentSpan[]> {
  return until(`${attempts} attempts are recorded in ${traceId}`, () => {
    const spans = collector.spans.filter((span) => span.traceId === traceId);
    const named = (wanted: string) => spans.filter(({ name }) => name === wanted).length;
    return named(RECORD) === attempts + 1 && named(END) >= ends && isWhole(spans, upstreamSpan) && spans;
  });
}

async function aCarrier(callbackUrl: string): Promise<Client> {
  const client = await stack.client('carrier');
  await client.subscribe('order.created', callbackUrl);
  return client;
}

function loggedIn(traceId: string): { service: string; msg: string }[] {
  const logs = join(stack.home, 'logs');
  const lines = readdirSync(logs).flatMap((name) => readFileSync(join(logs, name), 'latin1').split('\n'));
  return lines.filter((line) => line.includes(`"trace_id":"${traceId}"`)).map((line) => JSON.parse(line));
}

describe('in a real collector', () => {
  test('a delivery that fails and is made again is one trace, which the log names too', async () => {
    const path = `/${randomUUID()}`;
    receiver.answer(path, (response) => void response.writeHead(receiver.at(path).length < 3 ? 503 : 200).end());
    const heard = await hear(await aCarrier(receiver.url(path)));
    const spans = await untilRecorded(heard, { attempts: 3, ends: 1 });
    expect(outlineTrace(spans).filter((line) => /process|POST/.test(line))).toEqual([
      'process waybell.events.router',
      `  ${DELIVERY}`,
      '    POST !',
      `    ${DELIVERY}`,
      '      POST !',
      `      ${DELIVERY}`,
      '        POST',
      `        ${END}`,
      `        ${RECORD}`,
      `      ${RECORD}`,
      `    ${RECORD}`,
      `  ${RECORD}`,
    ]);
    expect(spans.find(({ name }) => name === 'process waybell.events.router')).toMatchObject({
      parent: heard.upstreamSpan,
      service: 'waybell-event-router',
    });
    expect(new Set(spans.map(({ service }) => service))).toEqual(
      new Set(['waybell-event-router', 'waybell-deliverer', 'waybell-delivery-log', 'waybell-deactivator']),
    );
    const failed = await until('the failures are in the log', () => {
      const lines = loggedIn(heard.traceId);
      return lines.length >= 2 && lines;
    });
    expect(failed.map(({ service, msg }) => `${service} ${msg}`)).toEqual(
      Array.from({ length: 2 }, () => 'deliverer message.handled'),
    );
  });

  test('a request by TLS shows each part of it, in order and within its own time', async () => {
    // It listens on a port.
    const { port } = secure.address() as AddressInfo;
    const heard = await hear(await aCarrier(`https://localhost:${port}/hook?key=${randomUUID()}`));
    const spans = await untilRecorded(heard);
    const request = spans.find(({ name }) => name === 'POST');
    const parts = spans.filter(({ parent }) => parent === request?.spanId);
    const inOrder = parts.toSorted((one, other) => one.startMs - other.startMs || one.endMs - other.endMs);
    expect(inOrder.map(({ name }) => name)).toEqual(['dns', 'connect', 'tls', 'wait for status', 'read body']);
    expect(request?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'server.address': 'localhost',
      'server.port': port,
      'url.full': `https://localhost:${port}/hook?key=***`,
    });
    expect(request?.endMs).toBeGreaterThanOrEqual(Math.max(...parts.map(({ endMs }) => endMs)) - 1);
    expect(request?.startMs).toBeLessThanOrEqual(Math.min(...parts.map(({ startMs }) => startMs)) + 1);
  });

  test('what waited and was taken again is one trace', async () => {
    const hung = hang(receiver, `/${randomUUID()}`);
    const client = await aCarrier(receiver.url(hung.path));
    const heard: Heard[] = [];
    for (let count = 0; count < HEARD; count += 1) heard.push(await hear(client));
    await until('some wait', async () => {
      const { rows } = await stack.postgres.query('select from waybell.deliverer_waiting limit 1');
      return rows.length > 0;
    });
    hung.answer(200);
    for (const each of heard) await untilRecorded(each);
    const traces = heard.map(({ traceId }) => traceId);
    const taken = collector.spans.filter(
      (span) => traces.includes(span.traceId) && span.attributes['waybell.waited'] !== undefined,
    );
    const [first] = taken;
    if (first === undefined) throw new Error('none waited');
    const spans = collector.spans.filter(({ traceId }) => traceId === first.traceId);
    const putFrom = spans.find(({ spanId }) => spanId === first.parent);
    expect(putFrom).toMatchObject({
      name: DELIVERY,
      attributes: { 'waybell.caused': [expect.stringMatching(/^waits: /)] },
    });
    expect(
      outlineTrace(spans)
        .filter((line) => line.startsWith(' '.repeat(4)))
        .join('\n'),
    ).toContain('POST');
  });

  test('that is killed, everything is delivered, services stay ready, and spans come again once it is back', async () => {
    const path = `/${randomUUID()}`;
    const client = await aCarrier(receiver.url(path));
    await collector.kill();
    for (let count = 0; count < HEARD; count += 1) await hear(client);
    const requests = await receiver.untilReceived(path, HEARD);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(HEARD);
    await stack.untilReady();
    await collector.start();
    await untilRecorded(await hear(client));
  });
});
