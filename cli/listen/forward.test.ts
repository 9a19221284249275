import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, test } from '@jest/globals';
import { aSelfSignedCertificate } from '@waybell/runtime/testing/certificate';
import { httpServer, tlsServer } from '@waybell/runtime/testing/server';
import { PATIENT_MS } from '@waybell/runtime/testing/patience';
import { trustAlso } from '../http/certificates.ts';
import { describeForwarded, forwardedCallback, forward, type Callback } from './forward.ts';

const callback: Callback = {
  headers: { 'content-type': 'application/json; charset=utf-8', 'webhook-id': 'a', 'x-webhook-attempt': '2' },
  body: Buffer.from('{ "action": "order.created", "n": 1.0, "ä": 1 }'),
};

type Handler = (request: IncomingMessage & { body: Buffer }, response: ServerResponse) => void;

/** Forwards to a server that answers so. */
async function forwardTo(handler: Handler, limitMs = PATIENT_MS) {
  await using server = await httpServer(async (request, response) =>
    handler(Object.assign(request, { body: await buffer(request) }), response),
  );
  return await forward(callback, new URL(`${server.url}/hook?a=b`), limitMs);
}

describe('forward', () => {
  test('sends the body to the byte, with the headers, to path and query', async () => {
    const seen: (IncomingMessage & { body: Buffer })[] = [];
    const forwarded = await forwardTo((request, response) => {
      seen.push(request);
      response.writeHead(202).end('taken');
    });
    expect(forwarded).toMatchObject({ status: 202, body: 'taken' });
    expect(forwarded).not.toHaveProperty('trouble');
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/hook?a=b', body: callback.body });
    expect(seen[0]?.headers).toMatchObject({ ...callback.headers, 'content-length': String(callback.body.length) });
  });

  test('follows no redirect', async () => {
    const forwarded = await forwardTo((_request, response) => response.writeHead(307, { location: '/other' }).end());
    expect(forwarded.status).toBe(307);
  });

  test('takes the beginning of an answer that is long', async () => {
    const forwarded = await forwardTo((_request, response) => response.end('é'.repeat(1_000_000)));
    expect(forwarded.body).toBe('é'.repeat(16_384));
  });

  test('takes what is no text for one that the API takes', async () => {
    const bytes = Buffer.from([0, 0xff, 0x61]);
    expect((await forwardTo((_request, response) => response.end(bytes))).body).toBe('\uFFFD\uFFFDa');
  });

  test('is 504 where there is no answer in time', async () => {
    expect(await forwardTo(() => undefined, 1)).toMatchObject({ status: 504, trouble: 'no answer within 0.001 s' });
  });

  test('is 502 where the connection is cut, or refused', async () => {
    const cut = await forwardTo((request) => request.socket.destroy());
    expect(cut).toMatchObject({ status: 502, trouble: expect.stringContaining('failed: ') });
    const refused = await forward(callback, new URL('http://127.0.0.1:1/'), PATIENT_MS);
    expect(refused).toMatchObject({ status: 502, trouble: 'refused: nothing listens at 127.0.0.1:1' });
  });
});

describe('forward to a receiver that signed its certificate itself', () => {
  const certificate = aSelfSignedCertificate({ name: 'localhost' });
  const start = () => tlsServer(certificate, (_request, response) => response.end('taken'));
  const to = (host: string, port: number) => forward(callback, new URL(`https://${host}:${port}/hook`), PATIENT_MS);

  test('says how it comes to be trusted, and then is', async () => {
    await using receiver = await start();
    expect(await to('localhost', receiver.port)).toMatchObject({
      status: 502,
      trouble: expect.stringMatching(/^failed: self-signed certificate: --ca <file> with its certificate/),
    });
    const folder = mkdtempSync(join(tmpdir(), 'waybell-forward-'));
    const trusted = getCACertificates('default');
    writeFileSync(join(folder, 'own.pem'), certificate.cert);
    trustAlso(join(folder, 'own.pem'));
    try {
      expect(await to('localhost', receiver.port)).toMatchObject({ status: 200, body: 'taken' });
      expect(await to('127.0.0.1', receiver.port)).toMatchObject({
        trouble: expect.stringMatching(/: call it by a name that its certificate is for$/),
      });
    } finally {
      setDefaultCACertificates(trusted);
      rmSync(folder, { recursive: true });
    }
  });

  test('says so where it speaks no TLS', async () => {
    await using receiver = await httpServer((_request, response) => response.end());
    expect(await to('127.0.0.1', receiver.port)).toMatchObject({ trouble: expect.stringMatching(/try http:\/\/$/) });
  });
});

describe('what is told of it', () => {
  const at = new Date('2026-11-20T09:30:00.123Z');
  const to = new URL('http://localhost:3000/hook');

  test('is one line', () => {
    const told = forwardedCallback(callback, to, { status: 200, body: '', tookMs: 12 }, at);
    expect(describeForwarded(told)).toBe(
      '09:30:00  order.created  a  → POST http://localhost:3000/hook  200 in 12 ms  (attempt 2)',
    );
  });

  test('says why nobody answered, and that it is a test', () => {
    const headers = { ...callback.headers, 'x-webhook-attempt': '1', 'x-webhook-test': 'true' };
    const told = forwardedCallback(
      { ...callback, headers },
      to,
      { status: 502, body: '', tookMs: 1, trouble: 'refused: x' },
      at,
    );
    expect(describeForwarded(told)).toBe(
      '09:30:00  order.created  a  → POST http://localhost:3000/hook  refused: x  (test)',
    );
  });
});
