import { expect, test } from '@jest/globals';
import pg from 'pg';
import { leadTo } from './writable-host.ts';

test('a client that is led to an address checks the name, and keeps its certificate and key', () => {
  const ssl = { ca: 'an authority', cert: 'a certificate', key: 'a key' };
  const client = new pg.Client({ ssl: { ...ssl } });
  leadTo({ address: '192.0.2.1', port: 5432, name: 'postgres-1' }, client);
  expect(client).toMatchObject({ host: '192.0.2.1', port: 5432 });
  expect(client.connection).toMatchObject({ ssl: { ...ssl, servername: 'postgres-1' } });
});
