import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import type { AttemptEntry, DeliveryEntry } from '@waybell/delivery-log/read/entries';
import { asCurl, sentRequest } from './sent-request.ts';

const START = Date.parse('2026-11-20T09:30:00Z');

const anAttempt = (what: Partial<AttemptEntry> = {}): AttemptEntry => ({
  attempt: 1,
  at: START + 1_500,
  kind: 'failed',
  subscription: 'b6f6a1c2-6f5e-4a3f-9a55-0c8f2f0f7d11',
  durationMs: 600,
  url: 'https://a.test/hook?key=***&***',
  ...what,
});

const aDelivery = (attempts: AttemptEntry[]): DeliveryEntry => ({
  delivery: '1f0c9a52-6f5e-4a3f-9a55-0c8f2f0f7d11',
  event: '2f0c9a52-6f5e-4a3f-9a55-0c8f2f0f7d11',
  interface: 'carrier',
  action: 'order.created',
  keys: [],
  at: START,
  subscription: 'b6f6a1c2-6f5e-4a3f-9a55-0c8f2f0f7d11',
  account: 'c6f6a1c2-6f5e-4a3f-9a55-0c8f2f0f7d11',
  client: 'default',
  status: 'retrying',
  attempts,
});

/** The words that a shell hands to curl. */
function wordsOf(command: string | null, env: Record<string, string>): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
  return execFileSync('sh', ['-c', script], { env, encoding: 'utf8' }).split('\0').slice(0, -1);
}

describe('sentRequest', () => {
  test('is that of the last attempt, with secrets masked', () => {
    const second = anAttempt({ attempt: 2, at: START + 4_999, durationMs: 1_000 });
    expect(sentRequest(aDelivery([anAttempt(), second]), '{}')).toEqual({
      method: 'POST',
      url: 'https://a.test/hook?key=***&***',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'accept-encoding': 'identity',
        'x-service-verification-token': '***',
        'x-webhook-attempt': '2',
        'webhook-id': '1f0c9a52-6f5e-4a3f-9a55-0c8f2f0f7d11',
        'webhook-timestamp': String(START / 1_000 + 3),
        'webhook-signature': '***',
      },
      body: '{}',
      body_state: 'kept',
    });
  });

  test('says of a test that it is one', () => {
    expect(sentRequest(aDelivery([anAttempt({ byHand: 'test' })]), '{}').headers).toHaveProperty('x-webhook-test');
    expect(sentRequest(aDelivery([anAttempt({ byHand: 'resend' })]), '{}').headers).not.toHaveProperty(
      'x-webhook-test',
    );
  });

  test('leaves out the end that came instead of an attempt', () => {
    const why = { reason: 'expired', meaning: '', remedy: '' };
    const expired = anAttempt({ attempt: 2, kind: 'exhausted', durationMs: 0, why });
    expect(sentRequest(aDelivery([anAttempt(), expired]), '{}').headers).toMatchObject({ 'x-webhook-attempt': '1' });
    const dropped: AttemptEntry = { attempt: 1, at: START, kind: 'dropped', subscription: '' };
    expect(sentRequest(aDelivery([dropped]), '{}')).toMatchObject({ url: null, body: '{}' });
  });

  test('says why there is no body', () => {
    expect(sentRequest(aDelivery([]), undefined)).toMatchObject({ body: null, body_state: 'not_sent' });
    expect(sentRequest(aDelivery([anAttempt()]), undefined)).toMatchObject({
      body: null,
      body_state: 'no_longer_kept',
    });
  });
});

describe('asCurl', () => {
  test('asks for secrets by variables', () => {
    const command = asCurl(sentRequest(aDelivery([anAttempt()]), '{"a":1}'));
    const env = { VERIFICATION_TOKEN: 'to ken', WEBHOOK_SIGNATURE: 'v1,a= v1,b=', QUERY_1: 'k', QUERY_2: '$x' };
    const headers = [
      'content-type: application/json; charset=utf-8',
      'accept-encoding: identity',
      'x-service-verification-token: to ken',
      'x-webhook-attempt: 1',
      'webhook-id: 1f0c9a52-6f5e-4a3f-9a55-0c8f2f0f7d11',
      `webhook-timestamp: ${START / 1_000}`,
      'webhook-signature: v1,a= v1,b=',
    ].flatMap((header) => ['--header', header]);
    const start = ['--globoff', '--request', 'POST', 'https://a.test/hook?key=k&$x'];
    expect(wordsOf(command, env)).toEqual([...start, ...headers, '--data-raw', '{"a":1}']);
  });

  test.each(["it's", '$(rm x) `rm x` $HOME "', 'a\\\nb\n\n', "'", '!$&*;|<>(){}[]~#', 'ü€😀'])(
    'sends %j to the byte',
    (body) => {
      expect(wordsOf(asCurl(sentRequest(aDelivery([anAttempt()]), body)), {}).at(-1)).toBe(body);
    },
  );

  test('keeps a path from the shell', () => {
    const url = "https://a.test/it's/$HOME/***";
    const words = wordsOf(asCurl(sentRequest(aDelivery([anAttempt({ url })]), '{}')), {});
    expect(words[3]).toBe(url);
  });

  test('has a variable where the address is not known, and is null where the body is not', () => {
    const dropped: AttemptEntry = { attempt: 1, at: START, kind: 'dropped', subscription: '' };
    const command = asCurl(sentRequest(aDelivery([dropped]), '{}'));
    expect(wordsOf(command, { CALLBACK_URL: 'https://b.test/' })[3]).toBe('https://b.test/');
    expect(asCurl(sentRequest(aDelivery([anAttempt()]), undefined))).toBeNull();
  });
});
