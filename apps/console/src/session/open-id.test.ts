import { afterEach, describe, expect, test } from '@jest/globals';
import { consumeAnswer } from './open-id.ts';

const PAGE = 'https://api.test/console/';

/** The answer that a page at that address takes, and the address that it has then. */
function takenAt(address: string) {
  const here = { location: new URL(address), history: { replaceState: goTo } };
  function goTo(_state: unknown, _title: string, url: string) {
    here.location.href = url;
  }
  Object.assign(globalThis, here);
  const taken = consumeAnswer();
  return { taken: taken && Object.fromEntries(taken), address: here.location.href };
}

afterEach(() => {
  for (const name of ['location', 'history']) Reflect.deleteProperty(globalThis, name);
});

describe('consumeAnswer', () => {
  test.each([
    ['a code', { code: 'c', state: 's' }],
    ['a refusal', { error: 'access_denied', state: 's' }],
    ['both', { code: 'c', error: 'access_denied' }],
  ])('takes %s out of the address, of which the page alone stays', (_what, answer) => {
    expect(takenAt(`${PAGE}?${new URLSearchParams(answer)}#/live`)).toEqual({ taken: answer, address: PAGE });
  });

  test.each(['', '#/catalog?action=order.created', '?state=s#/live?code=c'])(
    'leaves an address with %j as it is',
    (rest) => {
      expect(takenAt(PAGE + rest)).toEqual({ taken: undefined, address: PAGE + rest });
    },
  );
});
