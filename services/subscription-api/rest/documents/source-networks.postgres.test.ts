import { describe, expect, test } from '@jest/globals';
import { callbackTerms, startApi } from '../../testing/api.ts';
import { sourceNetworksHtml, sourceNetworks } from './source-networks.ts';
import { shared } from '@waybell/runtime/testing/shared';

const api = shared(() => startApi({ limits: { requestsPerMinute: 1, failuresPerMinute: 2 } }));

describe('GET /v1/source-networks', () => {
  test('tells from where callbacks come and what they look like, without a token', async () => {
    const { status, body } = await api.ask('GET', '/v1/source-networks');
    expect([status, body]).toEqual([
      200,
      {
        networks: ['203.0.113.0/28', '2001:db8:9::/48'],
        user_agent: expect.stringMatching(/^Waybell\/\d+\.\d+\.\d+$/),
        method: 'POST',
        schemes: ['https'],
        denied_ports: ['1-79', '6379'],
        least_tls: '1.2',
        largest_body_bytes: expect.any(Number),
        follows_redirects: false,
        headers: [
          'Accept-Encoding',
          'Content-Type',
          'User-Agent',
          'X-Service-Verification-Token',
          'X-Webhook-Attempt',
          'X-Webhook-Test',
          'webhook-id',
          'webhook-signature',
          'webhook-timestamp',
        ],
        signature: { standard: 'https://www.standardwebhooks.com', version: 'v1', algorithm: 'HMAC-SHA256' },
        authentication: ['headers', 'basic', 'oauth2', 'certificate'],
        limits: {
          shipper: { handover_ms: 10_000, response_ms: 60_000 },
          carrier: { handover_ms: null, response_ms: 3_000 },
        },
      },
    ]);
  });

  test('tells of the interfaces that the process serves', async () => {
    await using carriers = await startApi({ beside: api, interfaces: ['carrier'] });
    const { body } = await carriers.ask('GET', '/v1/source-networks');
    expect(Object.keys(body.limits)).toEqual(['carrier']);
  });

  test('is answered to an address that guesses tokens, and any token makes no difference', async () => {
    for (let guess = 0; guess < 3; guess += 1) await api.ask('GET', '/v1/subscriptions', { token: `guess-${guess}` });
    expect((await api.ask('GET', '/v1/subscriptions', { token: 'guess' })).status).toBe(429);
    expect((await api.ask('GET', '/v1/source-networks/', { token: 'guess' })).status).toBe(200);
  });
});

describe('the page', () => {
  test('tells the same without a script, and loads nothing but what is served beside it', async () => {
    const { status, text, headers } = await api.ask('GET', '/docs/source-networks');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain('<dd><code>203.0.113.0/28</code>, <code>2001:db8:9::/48</code></dd>');
    expect(text).not.toContain('<script');
    const links = [...text.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, path]) => path ?? '');
    expect(links).toEqual(['source-networks.css', '../v1/source-networks', '../docs']);
    for (const link of links) {
      const { pathname } = new URL(link, 'http://api/docs/source-networks');
      expect((await api.ask('GET', pathname)).status).toBe(200);
    }
  });

  test('is found with a trailing slash too, where its relative links hold', async () => {
    const { status, headers } = await api.ask('GET', '/docs/source-networks/');
    expect([status, headers.get('location')]).toEqual([308, '../source-networks']);
  });
});

describe('what settings say', () => {
  const told = (terms: Partial<typeof callbackTerms>) => sourceNetworks({ ...callbackTerms, ...terms }, ['carrier']);

  test('of networks is null where there are none, and the page says whom to ask', () => {
    expect(told({ networks: [] }).networks).toBeNull();
    expect(sourceNetworksHtml(told({ networks: [] }))).toContain('not told here: ask the operator');
  });

  test('of plain http is told where it is allowed', () => {
    expect(told({ isHttpAllowed: true }).schemes).toEqual(['https', 'http']);
    expect(sourceNetworksHtml(told({ isHttpAllowed: true }))).toContain('<code>http</code>: port 443 or 80');
    expect(sourceNetworksHtml(told({}))).not.toContain('80');
  });
});
