import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { findSecrets } from './secret-forms.ts';

const text = 'S3cr+t/påss?';
const secret = { name: 'password', bytes: Buffer.from(text, 'latin1') };
const bytes = secret.bytes;
const user = Buffer.concat([Buffer.from('waybell:'), bytes]);

describe('findSecrets', () => {
  test.each([
    ['plain', `the password is ${text}.`],
    ['base64', `Basic ${user.toString('base64')}`],
    ['base64', `Basic ${user.subarray(1).toString('base64url')}`],
    ['base64', `Basic ${user.subarray(2).toString('base64')}`],
    ['percent', `amqp://waybell:${encodeURIComponent(text)}@rabbitmq`],
    ['hex', `\\x${bytes.toString('hex')}`],
    ['hex', inspect(bytes)],
    ['decimal', JSON.stringify({ key: bytes })],
    ['decimal', JSON.stringify({ key: [...bytes] }).replaceAll(',', ', ')],
  ])('finds a secret that is %s in %s', (encoding, where) => {
    expect(findSecrets(where, [{ name: 'token', bytes: Buffer.from('another') }, secret])).toMatchObject([
      { secret: 'password', encoding },
    ]);
  });

  test('finds nothing where there is none', () => {
    expect(findSecrets('S3cr t/pass? UzNjcit0L3Bhc3M', [secret])).toEqual([]);
  });
});
