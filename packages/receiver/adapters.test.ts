import { createServer, request as httpRequest, type RequestListener, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { serve } from '@hono/node-server';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { callbackHeaders } from '@waybell/notifications/callback';
import { largestNotification } from '@waybell/notifications/notification';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { createReceiver, type Receiver, readBody, type LambdaEvent } from './create-receiver.ts';
import { sendTo, signedRequest, type SignedRequest } from './testing.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const MAX_BYTES = 10_000;
const LONG_MS = 60_000;

type Stand = { url: string; close: () => unknown };
const stands: Stand[] = [];
afterEach(async () => {
  for (const { close } of stands.splice(0)) await close();
});

async function standOf(server: Server): Promise<string> {
  if (!server.listening) await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  };
  stands.push({ url: '', close });
  return `http://127.0.0.1:${port}/waybell`;
}

const listen = (listener: RequestListener) => standOf(createServer(listener).listen(0, '127.0.0.1'));

/** A route file of Next.js: `export const POST = receiver.fetch`. */
const routeFile = (receiver: Receiver) => ({ POST: receiver.fetch });

const keepRawBody = (request: object, _response: unknown, rawBody: Buffer) => void Object.assign(request, { rawBody });

// oxlint-disable-next-line typescript/no-extraneous-class -- Nest asks for one
class NestModule {}
Module({})(NestModule);

const FRAMEWORKS: Record<string, (receiver: Receiver) => Promise<string>> = {
  http: ({ node }) => listen(node),
  express: ({ node }) => listen(express().post('/waybell', node)),
  'express with express.raw before': ({ node }) =>
    listen(express().post('/waybell', express.raw({ type: 'application/json', limit: '8mb' }), node)),
  'express with express.json before that keeps rawBody': ({ node }) =>
    listen(
      express()
        .use(express.json({ limit: '8mb', verify: keepRawBody }))
        .post('/waybell', node),
    ),
  'NestJS, which parses what comes after': async ({ node }) => {
    const app = await NestFactory.create(NestModule, { logger: false });
    app.use('/waybell', node);
    await app.listen(0, '127.0.0.1');
    // It is Node's, of which Nest does not know the type.
    return standOf(app.getHttpServer() as Server);
  },
  fastify: async (receiver) => {
    const app = fastify();
    await app.register(receiver.fastify, { prefix: '/waybell' });
    app.post('/other', async ({ body }) => ({ parsed: body }));
    await app.listen({ port: 0, host: '127.0.0.1' });
    return standOf(app.server);
  },
  hono: (receiver) => {
    const app = new Hono().post('/waybell', (context) => receiver.fetch(context.req.raw));
    // Its types allow for servers of HTTP/2, which this is not.
    return standOf(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server);
  },
  'a route file of Next.js': (receiver) => {
    const app = new Hono().post('/waybell', ({ req }) => routeFile(receiver).POST(req.raw));
    return standOf(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server);
  },
};

function aReceiver(what: { maxBodyBytes?: number; bodyWithinMs?: number; handle?: () => Promise<void> } = {}) {
  const heard: unknown[] = [];
  const receiver = createReceiver({
    interface: 'carrier',
    secrets: secret,
    tokens: 'token',
    onTrouble: () => undefined,
    handle: (notification) => void heard.push(notification),
    ...what,
  });
  return { receiver, heard };
}

const about = { interface: 'carrier', action: 'order.created', secret, token: 'token' } as const;
const ofStatus = (length: number) =>
  signedRequest({ ...about, change: { data: { id: 1, status: 'x'.repeat(length) } } });
const largest = ofStatus(largestNotification(2 ** 20) - ofStatus(0).body.length);
const tooLarge = Buffer.alloc(9_000_000, 'x');

describe.each(Object.entries(FRAMEWORKS))('with %s, a receiver', (_name, start) => {
  test('handles what the deliverer signs, every digit of it', async () => {
    const { receiver, heard } = aReceiver();
    const url = await start(receiver);
    const body = Buffer.from(
      '{"action":"order.created","guid":"a","occurred_at":"x","data":{"id":12345678901234567890,"status":"Łódź 🚚"}}',
    );
    const headers = callbackHeaders({
      id: 'a',
      timestampS: Math.floor(wallClockMs() / 1_000),
      body,
      verificationToken: 'token',
      signingSecrets: [secret],
      attempt: 1,
      isTest: false,
    });
    const answer = await fetch(url, { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'handled' }]);
    expect(heard).toMatchObject([{ data: { id: 12_345_678_901_234_567_890n, status: 'Łódź 🚚' } }]);
  });

  test('refuses what another secret signed, saying why', async () => {
    const { receiver, heard } = aReceiver();
    const answer = await sendTo(await start(receiver), { ...about, secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' });
    expect([answer.status, await answer.json()]).toEqual([
      401,
      { status: 'refused', reason: 'signature_does_not_match', detail: expect.stringContaining('signing-secrets') },
    ]);
    expect(heard).toEqual([]);
  });

  test('takes the largest callback', async () => {
    const { receiver, heard } = aReceiver();
    expect((await fetch(largest.to(await start(receiver)))).status).toBe(200);
    expect(heard).toHaveLength(1);
  });

  test('refuses a body that is larger than any', async () => {
    const { receiver } = aReceiver();
    const status = await fetch(await start(receiver), { method: 'POST', body: tooLarge }).then(
      (answer) => answer.status,
      // The connection may be closed while it still sends.
      () => 'closed',
    );
    expect(['closed', 413]).toContain(status);
  });
});

describe('a receiver', () => {
  test('says what to do where Express parsed the body before', async () => {
    const { receiver } = aReceiver();
    const answer = await sendTo(await listen(express().use(express.json()).post('/waybell', receiver.node)), about);
    expect([answer.status, await answer.json()]).toEqual([
      500,
      {
        status: 'refused',
        reason: 'body_already_parsed',
        detail: expect.stringMatching(/before express\.json\(\).*limit: "8mb"/),
      },
    ]);
  });

  test('leaves the parsers of a Fastify application as they are', async () => {
    const { receiver } = aReceiver();
    const url = (await FRAMEWORKS['fastify']?.(receiver)) ?? '';
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(new URL('/other', url), { method: 'POST', headers, body: '{"a":1}' });
    expect(await answer.json()).toEqual({ parsed: { a: 1 } });
  });

  test.each(['http', 'fastify'])('answers 405 to other methods with %s', async (name) => {
    const { receiver } = aReceiver();
    const answer = await fetch((await FRAMEWORKS[name]?.(receiver)) ?? '');
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test.each(['http', 'hono'])('waits for a body only so long with %s', async (name) => {
    const { receiver } = aReceiver({ bodyWithinMs: 1 });
    const url = (await FRAMEWORKS[name]?.(receiver)) ?? '';
    const { headers } = signedRequest(about);
    const slow = httpRequest(url, { method: 'POST', headers: { ...headers, 'content-length': 100 } });
    slow.write('{');
    const [response] = await once(slow, 'response');
    expect([response.statusCode, response.headers.connection]).toEqual([408, 'close']);
    response.resume();
    slow.on('error', () => undefined).destroy();
  });

  test('waits ten seconds for a body, and a minute for what is done with it, unless it is told otherwise', async () => {
    const timers = jest.spyOn(globalThis, 'setTimeout');
    await aReceiver().receiver.fetch(signedRequest(about).to('http://receiver.example.com'));
    const limits = timers.mock.calls.flatMap(([, ms, ...args]) => (args.includes('late') ? [ms] : []));
    expect(limits).toEqual(expect.arrayContaining([10_000, 60_000]));
    timers.mockRestore();
  });

  test.each([
    ['a body that is too large', { method: 'POST', body: 'x'.repeat(MAX_BYTES + 1) }, 413],
    ['another method', { method: 'PUT', body: 'x' }, 405],
  ])('has fetch close a connection after %s, whose rest is not read', async (_what, init, status) => {
    const small = aReceiver({ maxBodyBytes: MAX_BYTES }).receiver;
    const answer = await small.fetch(new Request('http://receiver.example.com', init));
    expect([answer.status, answer.headers.get('connection')]).toEqual([status, 'close']);
    const read = await aReceiver().receiver.fetch(signedRequest(about).to('http://receiver.example.com'));
    expect([read.status, read.headers.get('connection')]).toEqual([200, null]);
  });

  test('leaves an answer that the framework gave meanwhile as it is, and lives on', async () => {
    const print = jest.spyOn(console, 'error');
    const work = Promise.withResolvers<void>();
    const { receiver } = aReceiver({ handle: () => work.promise });
    const served = Promise.withResolvers<unknown>();
    const url = await listen((request, response) => {
      served.resolve(receiver.node(request, response));
      setImmediate(() => response.writeHead(504).end());
    });
    expect((await sendTo(url, about)).status).toBe(504);
    work.resolve();
    await expect(served.promise).resolves.toBeUndefined();
    expect(print).not.toHaveBeenCalled();
    print.mockRestore();
  });

  test('reads a body in chunks of a byte, up to the last that it may have', async () => {
    async function* bytes(count: number) {
      for (let at = 0; at < count; at += 1) yield Buffer.from([at % 256]);
    }
    const limits = { maxBytes: 100_000, withinMs: LONG_MS };
    expect(await readBody(bytes(100_000), limits)).toEqual(
      Buffer.from(Array.from({ length: 100_000 }, (_each, at) => at)),
    );
    expect(await readBody(bytes(100_001), limits)).toMatchObject({ reason: 'body_too_large' });
  });

  test('refuses a body that breaks off, as the request of somebody who went', async () => {
    async function* broken() {
      yield Buffer.from('{');
      throw new Error('gone');
    }
    const limits = { maxBytes: 100, withinMs: LONG_MS };
    expect(await readBody(broken(), limits)).toMatchObject({ reason: 'body_incomplete', status: 400 });
  });

  test.each([{ maxBodyBytes: NaN }, { bodyWithinMs: 0 }, { bodyWithinMs: 2 ** 31 }])(
    'is not to be had with %o',
    (what) => {
      expect(() => aReceiver(what)).toThrow('must be a number above 0');
    },
  );

  test('says so where fetch has read the body before', async () => {
    const { receiver } = aReceiver();
    const request = signedRequest(about).to('http://receiver.example.com');
    await request.text();
    expect((await receiver.fetch(request)).status).toBe(500);
  });
});

const capitalised = (name: string) => name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
const severalOf = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [capitalised(name), [value]]));

/** Events of Lambda, by their source: https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html and the like. */
const EVENTS: Record<string, (request: Pick<SignedRequest, 'headers' | 'body'>, isBase64Encoded: boolean) => object> = {
  'API Gateway, format 1.0': ({ headers, body }, isBase64Encoded) => ({
    httpMethod: 'POST',
    path: '/waybell',
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [capitalised(name), value])),
    multiValueHeaders: severalOf(headers),
    requestContext: { httpMethod: 'POST', stage: 'prod' },
    body,
    isBase64Encoded,
  }),
  'API Gateway, format 2.0': ({ headers, body }, isBase64Encoded) => ({
    version: '2.0',
    headers,
    requestContext: { http: { method: 'POST', path: '/waybell' } },
    body,
    isBase64Encoded,
  }),
  'a load balancer': ({ headers, body }, isBase64Encoded) => ({
    requestContext: { elb: { targetGroupArn: 'arn' } },
    httpMethod: 'POST',
    headers,
    body,
    isBase64Encoded,
  }),
  'a load balancer that gives several values': ({ headers, body }, isBase64Encoded) => ({
    requestContext: { elb: { targetGroupArn: 'arn' } },
    httpMethod: 'POST',
    multiValueHeaders: severalOf(headers),
    body,
    isBase64Encoded,
  }),
};

describe.each(Object.entries(EVENTS))('behind %s, a receiver', (_name, eventOf) => {
  const inBase64 = ({ headers, body }: SignedRequest) => ({ headers, body: Buffer.from(body).toString('base64') });

  test.each([
    ['as text', (request: SignedRequest): LambdaEvent => eventOf(request, false)],
    ['in base64', (request: SignedRequest): LambdaEvent => eventOf(inBase64(request), true)],
  ])('verifies and handles what comes %s', async (_how, given) => {
    const { receiver, heard } = aReceiver();
    const { lambda } = receiver;
    const data = { id: 12_345_678_901_234_567_890n, status: 'Łódź 🚚' };
    const answer = await lambda(given(signedRequest({ ...about, change: { data } })));
    expect(answer).toMatchObject({ statusCode: 200, body: '{"status":"handled"}', isBase64Encoded: false });
    expect(heard).toMatchObject([{ data }]);
    const forged = { ...signedRequest(about), body: signedRequest({ ...about, change: { data } }).body };
    expect(await lambda(given(forged))).toMatchObject({ statusCode: 401 });
    expect(heard).toHaveLength(1);
  });

  test('answers with headers in the form in which they came', async () => {
    const event = eventOf(signedRequest(about), false);
    const { headers, multiValueHeaders } = await aReceiver().receiver.lambda(event);
    expect(headers).toEqual({ 'content-type': 'application/json' });
    expect(multiValueHeaders).toEqual(
      'multiValueHeaders' in event ? { 'content-type': ['application/json'] } : undefined,
    );
  });

  test('takes the largest callback', async () => {
    const { statusCode } = await aReceiver().receiver.lambda(eventOf(inBase64(largest), true));
    expect(statusCode).toBe(200);
  });
});

test('a receiver in Lambda answers what is no notification', async () => {
  const { lambda } = aReceiver().receiver;
  expect(await lambda({ httpMethod: 'GET', headers: null, body: null })).toMatchObject({ statusCode: 405 });
  expect(await lambda({})).toMatchObject({ statusCode: 405 });
});
