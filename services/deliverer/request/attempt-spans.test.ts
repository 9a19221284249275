import { beforeEach, describe, expect, test } from '@jest/globals';
import { UnresolvedHost } from '@waybell/runtime/names/name-servers';
import { SpanCollector } from '@waybell/runtime/testing/span-collector';
import { traceTo } from '@waybell/runtime/testing/trace-to';
import { settled } from '@waybell/runtime/turned-clock';
import { aSelfSignedCertificate } from '@waybell/runtime/testing/certificate';
import { openedByEach } from '@waybell/runtime/testing/shared';
import { aDelivery } from '../testing/delivery.ts';
import {
  httpServer,
  NOBODY_PORT,
  sayingServer,
  tcpServer,
  tlsServer,
  type TestServer,
} from '@waybell/runtime/testing/server';
import type { EndpointOptions } from './call-endpoint.ts';
import { openCaller } from '../testing/caller.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SAMPLED = `00-${TRACE}-b7ad6b7169203331-01`;

let collector: SpanCollector;
const opened = openedByEach();
beforeEach(async () => void (collector = await opened.use(SpanCollector.start())));

const serve = (starting: Promise<TestServer>) => opened.use(starting);

/** Returns the spans of this many requests, in order: `!` for a failed one. Each phase lies within its request. */
async function spansOf(url: string, { requests = 1, traceparent = SAMPLED, ...what }: Asked = {}) {
  const tracing = await traceTo(collector);
  const caller = openCaller({
    resolveHost: async () => [{ address: '127.0.0.1', family: 4 }],
    tracer: tracing.tracer,
    ...what,
  });
  opened.push(caller);
  for (let count = 0; count < requests; count += 1) {
    await caller.call(url, { delivery: aDelivery({ traceparent }), verificationToken: 't' });
    // undici reuses a connection only after a turn of the event loop.
    await settled();
  }
  await tracing[Symbol.asyncDispose]();
  const spans = collector.of(TRACE);
  for (const part of spans) {
    const whole = spans.find(({ spanId }) => spanId === part.parent) ?? part;
    expect([part.name, part.startMs >= whole.startMs, part.endMs <= whole.endMs]).toEqual([part.name, true, true]);
  }
  return spans.map(({ name, isError }) => (isError ? `${name} !` : name));
}
type Asked = Partial<EndpointOptions> & { requests?: number; traceparent?: string };

describe('a request that is traced', () => {
  test('has a span of each of its parts, and none of a connection that was there before', async () => {
    const { url } = await serve(httpServer((request, response) => request.resume().once('end', () => response.end())));
    expect((await spansOf(url, { requests: 2 })).toSorted()).toEqual(
      ['POST', 'POST', 'connect', 'dns', 'read body', 'read body', 'wait for status', 'wait for status'].toSorted(),
    );
  });

  test('ends with the part that failed: the name', async () => {
    const resolveHost = async () => {
      throw new UnresolvedHost('nobody.invalid', undefined);
    };
    expect((await spansOf('http://nobody.invalid', { resolveHost })).toSorted()).toEqual(['POST !', 'dns !']);
    expect(collector.of(TRACE)).toMatchObject([
      { attributes: { 'error.type': 'dns' } },
      { attributes: { 'error.type': 'dns' } },
    ]);
  });

  test.each([
    ['the connection', ['POST !', 'dns', 'connect !'], async () => `http://localhost:${NOBODY_PORT}`],
    [
      'TLS',
      ['POST !', 'dns', 'connect', 'tls !'],
      async () => (await serve(tlsServer(aSelfSignedCertificate({ name: 'localhost' }), () => undefined))).url,
    ],
    [
      'the wait',
      ['POST !', 'dns', 'connect', 'wait for status !'],
      async () => (await serve(tcpServer((socket) => socket.once('data', () => socket.end())))).url,
    ],
    [
      'what is no answer',
      ['POST !', 'dns', 'connect', 'wait for status !'],
      async () => (await serve(sayingServer('nonsense\r\n\r\n'))).url,
    ],
  ])('ends with the part that failed: %s', async (_, parts, urlOf) => {
    expect((await spansOf(await urlOf())).toSorted()).toEqual(parts.toSorted());
  });

  test('has none where its trace is not sampled', async () => {
    const { url } = await serve(httpServer((_, response) => response.end()));
    expect(await spansOf(url, { traceparent: SAMPLED.replace(/1$/, '0') })).toEqual([]);
  });
});
