import { describe, expect, test } from '@jest/globals';
import { endpointKey, responseSpeed } from './endpoint.ts';

describe('endpointKey', () => {
  test.each([
    ['https://a.example/hooks/1', 'https://a.example'],
    ['https://a.example:8443?key=1', 'https://a.example:8443'],
    ['https://a.example/hooks?to=/b', 'https://a.example'],
    ['https://a.example', 'https://a.example'],
  ])('of %s has the host %s', (callbackUrl, host) => {
    const key = endpointKey({ account: 'one', callbackUrl });
    const endpoint: unknown = expect.stringMatching(/^[0-9a-f]{32}$/);
    expect(key).toEqual({ account: 'one', host, endpoint });
  });

  test('tells accounts and paths apart, and not what is asked of a path', () => {
    const of = (account: string, callbackUrl: string) => endpointKey({ account, callbackUrl }).endpoint;
    const hooks = of('one', 'https://shared.example/hooks');
    expect(of('two', 'https://shared.example/hooks')).not.toBe(hooks);
    expect(of('one', 'https://shared.example/others')).not.toBe(hooks);
    expect(of('one', 'https://shared.example/hooks?key=1')).toBe(hooks);
  });
});

describe('endingOf', () => {
  test.each([
    ['a quick success', { durationMs: 20, status: 200 }, 'quick'],
    ['a slow success', { durationMs: 2_000, status: 200 }, 'slow'],
    ['a quick failure', { durationMs: 20, status: 500, reason: 'status' }, 'quick'],
    ['a slow failure', { durationMs: 20_000, status: 500, reason: 'status' }, 'slow'],
    ['a refused connection', { durationMs: 1, reason: 'connection_refused' }, 'quick'],
    ['a timeout', { durationMs: 3_000, reason: 'response_timeout' }, 'hung'],
  ] as const)('of %s', (_, answer, speed) => {
    expect(responseSpeed(answer as Parameters<typeof responseSpeed>[0], 1_000)).toBe(speed);
  });
});
