import { describe, expect, test } from '@jest/globals';
import { writeCredentials, type ReceiverCredentials } from '@waybell/notifications/receiver-credentials';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { masked } from '../request/mask.ts';
import { OpenedCredentials } from './credentials.ts';

const PAIR = btoa('us:two words').replaceAll('=', '');
const SEALED = { keyId: 'one', sealed: '' };

function opened(credentials: ReceiverCredentials, clock = new TurnedClock()) {
  const known = new OpenedCredentials({ openAfresh: () => writeCredentials(credentials) }, clock);
  return { known, credentials: known.open('guid', SEALED) };
}

const KEY = 'sk_live.4711+abc';
const withHeader = (name: string, value: string): ReceiverCredentials => ({ headers: { [name]: value } });

describe('credentials that were opened', () => {
  test.each<[what: string, credentials: ReceiverCredentials, answer: string, shown: string]>([
    ['the value of a header', withHeader('X-Api-Key', KEY), `no ${KEY}`, 'no ***'],
    ['a token of Bearer, without its scheme', withHeader('Authorization', `Bearer ${KEY}`), `no ${KEY}`, 'no ***'],
    ['a token of a scheme that quotes it', withHeader('Authorization', `Key key="${KEY}"`), `no ${KEY}`, 'no ***'],
    ['a value of a cookie', withHeader('Cookie', `a=b; sid=${KEY}`), `no sid ${KEY}`, 'no sid ***'],
    ['the pair of Basic', { basic: { username: 'us', password: 'two words' } }, `no ${PAIR}.`, 'no ***.'],
    ['the password of Basic', { basic: { username: 'us', password: 'two words' } }, 'two words?', '***?'],
    [
      'the password of a header Basic',
      withHeader('Authorization', `Basic ${btoa(`us:${KEY}`)}`),
      `us, ${KEY}`,
      'us, ***',
    ],
    [
      'a client secret, by a receiver that gives tokens',
      { oauth2: { tokenUrl: 'https://a.test/', clientId: 'us', clientSecret: KEY, secretIn: 'body' } },
      `us, ${KEY}`,
      'us, ***',
    ],
  ])('have %s masked', (_what, written, answer, shown) => {
    expect(masked(answer, opened(written).credentials.secrets)).toBe(shown);
  });

  test('leave the words of an answer that are also in a header', () => {
    const { secrets } = opened(withHeader('Authorization', `Bearer ${KEY}`)).credentials;
    expect(masked('Bearer expected', secrets)).toBe('Bearer expected');
  });

  test('are looked for by a bounded number of parts', () => {
    const { secrets } = opened(withHeader('X-Many', 'a-secret-part '.repeat(290).trim())).credentials;
    expect(secrets.length).toBeLessThan(10);
  });

  test('are not remembered once they are not used', () => {
    const clock = new TurnedClock();
    const { known, credentials } = opened(withHeader('X-Api-Key', KEY), clock);
    expect(known.get('guid')).toBe(credentials);
    clock.skipTo(599_000);
    expect(known.get('guid')).toBe(credentials);
    clock.skipTo(1_200_000);
    expect(known.get('guid')).toBeUndefined();
  });

  test('are remembered up to a number of characters, the last used ones', () => {
    const { known, credentials } = opened(withHeader('X-Long', 'k'.repeat(20_000)));
    for (let more = 0; more < 2_000; more += 1) known.open(`guid ${more}`, SEALED);
    expect(known.get(credentials.guid)).toBeUndefined();
    expect(known.get('guid 1999')).toBeDefined();
  });
});
