import { describe, expect, test } from '@jest/globals';
import { anAuthority } from '@waybell/runtime/testing/certificate';
import { readCredentials } from '@waybell/notifications/receiver-credentials';
import { shared } from '@waybell/runtime/testing/shared';
import { keyRing, signUp, startApi } from '../../testing/api.ts';

const path = '/v1/credentials/hooks.test';
const authority = anAuthority('Test authority');

const api = shared(() => startApi());

/** A certificate as it is put in. */
function aCertificate(name: string): { chain: string; key: string } {
  const { cert, key } = authority.issue({ name });
  return { chain: cert + authority.cert, key };
}

describe('a certificate for a receiver', () => {
  test('is put in, told by its names and times alone, and renewed', async () => {
    const { guid, token } = await signUp(api, { interface: 'carrier' });
    const rows = async () =>
      (await api.store.postgres.query('select * from waybell.credentials where account_guid = $1', [guid])).rows;
    const [first, second] = [aCertificate('first.example'), aCertificate('second.example')];
    const made = await api.ask('PUT', path, { token, body: { certificate: first } });
    expect([made.status, made.body.certificate.subject, made.body.certificate.issuer]).toEqual([
      201,
      'CN=first.example',
      'CN=Test authority',
    ]);
    await api.store.postgres.query('update waybell.credentials set ending_told = certificate_ends_at');
    const renewed = await api.ask('PUT', path, { token, body: { certificate: second, headers: { a: 'b' } } });
    expect([renewed.status, renewed.body.certificate.subject]).toEqual([200, 'CN=second.example']);
    const [row, ...others] = await rows();
    expect(others).toEqual([]);
    expect(row.kinds).toEqual(['headers', 'certificate']);
    expect(row.certificate_ends_at.toISOString()).toBe(renewed.body.certificate.not_after);
    // The platform's notices: an unchanged certificate causes no second one.
    expect(row.ending_told.toISOString()).toBe(made.body.certificate.not_after);
    const written = keyRing.open({ sealed: row.sealed, keyId: row.key_id }, row.guid);
    expect(readCredentials(written)).toEqual({ headers: { a: 'b' }, certificate: second });
    const told = [made.text, renewed.text, (await api.ask('GET', path, { token })).text].join('\n');
    const lines = `${first.key}${second.key}`.split('\n').filter((line) => !line.startsWith('---') && line !== '');
    for (const line of lines) expect(told).not.toContain(line);
  });

  test('is refused with nothing of its key in the answer', async () => {
    const { token } = await signUp(api, { interface: 'shipper' });
    const [{ chain }, { key }] = [aCertificate('first.example'), aCertificate('second.example')];
    const { status, text, body } = await api.ask('PUT', path, { token, body: { certificate: { chain, key } } });
    expect([status, body.errors]).toEqual([
      422,
      [{ pointer: '#/certificate/key', detail: expect.stringContaining('is not the key') }],
    ]);
    for (const line of key.split('\n').filter((each) => each.length > 5 && !each.startsWith('---')))
      expect(text).not.toContain(line);
  });

  test('with a chain that is large is answered as one that is small', async () => {
    const { token } = await signUp(api, { interface: 'carrier' });
    const { chain, key } = aCertificate('first.example');
    const put = (more: object) => api.ask('PUT', path, { token, body: { certificate: { chain, key, ...more } } });
    expect((await put({ chain: chain.padEnd(32_768, '\n') })).status).toBe(201);
    expect((await put({ chain: chain.padEnd(32_769, '\n') })).body.errors).toEqual([
      { pointer: '#/certificate/chain', detail: 'must be a string of at most 32768 characters' },
    ]);
    expect((await put({ chain: '-----BEGIN CERTIFICATE-----'.repeat(1_200) })).status).toBe(422);
  });
});
