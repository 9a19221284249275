import { describe, expect, test } from '@jest/globals';
import { endpointKey } from './endpoint.ts';

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
