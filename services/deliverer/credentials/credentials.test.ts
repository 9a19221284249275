import { expect, test } from '@jest/globals';
import { writeCredentials, type ReceiverCredentials } from '@waybell/notifications/receiver-credentials';
import { masked } from '../request/mask.ts';
import { OpenedCredentials } from './credentials.ts';

const opened = (credentials: ReceiverCredentials) =>
  new OpenedCredentials({ openAfresh: () => writeCredentials(credentials) }).open('a guid', { sealed: '', keyId: '' });

const PAIR = btoa('waybell:two words').replaceAll('=', '');

test.each<[string, ReceiverCredentials, string, string]>([
  ['the whole value', { headers: { 'X-Api-Key': 'key 4711' } }, 'no key 4711 here', 'no *** here'],
  ['a token without its scheme', { headers: { Authorization: 'Bearer 4711' } }, 'unknown: 4711.', 'unknown: ***.'],
  ['of Basic the pair', { basic: { username: 'waybell', password: 'two words' } }, `no ${PAIR}.`, 'no ***.'],
  ['of Basic the password', { basic: { username: 'waybell', password: 'two words' } }, 'two words?', '***?'],
  ['of a header Basic', { headers: { authorization: `basic ${PAIR}` } }, `${PAIR} is two words.`, '*** is ***.'],
])('a receiver that sends back %s has it masked', (_, credentials, answer, shown) => {
  expect(masked(answer, opened(credentials).secrets)).toBe(shown);
});
