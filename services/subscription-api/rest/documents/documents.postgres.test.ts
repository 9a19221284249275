import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { startApi } from '../../testing/api.ts';
import { shared } from '@waybell/runtime/testing/shared';

const docs = join(import.meta.dirname, '../../../../docs');
const contracts = [
  'asyncapi.json',
  'schemas/shipper.order.created.notification.json',
  'schemas/carrier.damage.deleted.event.json',
];

const api = shared(() => startApi());

describe('a document', () => {
  test.each(contracts)('%s is what docs/ has, and needs no token', async (path) => {
    const { status, text, headers } = await api.ask('GET', `/${path}`);
    expect([status, text]).toEqual([200, await readFile(join(docs, path), 'utf8')]);
    expect(headers.get('content-type')).toMatch(/^application\/(schema\+)?json; charset=utf-8$/);
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });

  test.each([
    ...contracts,
    'openapi.json',
    'openapi/carrier.json',
    'docs',
    'docs/page.css',
    'docs/source-networks',
    'v1/source-networks',
  ])('%s may be kept and is told apart by its ETag', async (path) => {
    const { headers } = await api.ask('GET', `/${path}`);
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    const etag = headers.get('etag') ?? '';
    expect(await api.ask('GET', `/${path}`, { headers: { 'if-none-match': etag } })).toMatchObject({
      status: 304,
      text: '',
    });
    expect((await api.ask('GET', `/${path}`, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  test.each([...contracts, 'openapi.json', 'docs', 'docs/source-networks', 'v1/source-networks'])(
    '%s is read with GET and HEAD only',
    async (path) => {
      const plain = { headers: { 'accept-encoding': 'identity' } };
      const head = await api.ask('HEAD', `/${path}`, plain);
      const { text } = await api.ask('GET', `/${path}`, plain);
      expect([head.status, head.text, head.headers.get('content-length')]).toEqual([
        200,
        '',
        `${Buffer.byteLength(text)}`,
      ]);
      const put = await api.ask('PUT', `/${path}`);
      expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    },
  );

  test.each(['asyncapi.json', 'docs/redoc.js', 'openapi.json'])(
    '%s goes out compressed to those who can decompress it, and may be kept so',
    async (path) => {
      const ask = (encodings: string, etag = '""') =>
        api.ask('GET', `/${path}`, { headers: { 'accept-encoding': encodings, 'if-none-match': etag } });
      const plain = await ask('identity');
      expect(plain.headers.get('content-encoding')).toBeNull();
      for (const [accepted, best] of [
        ['gzip, deflate, br, zstd', 'br'],
        ['gzip, deflate', 'gzip'],
        ['br;q=0, gzip', 'gzip'],
      ] as const) {
        const { headers, text } = await ask(accepted);
        const encoding = path === 'openapi.json' ? 'gzip' : best;
        expect([headers.get('content-encoding'), headers.get('vary')?.split(', ')[0]]).toEqual([
          encoding,
          'accept-encoding',
        ]);
        expect(text).toBe(plain.text);
        // The largest is a program, and made small already.
        const share = path.endsWith('.js') ? 0.3 : 0.2;
        expect(Number(headers.get('content-length'))).toBeLessThan(Buffer.byteLength(text) * share);
        const etag = headers.get('etag') ?? '';
        expect(etag).not.toBe(plain.headers.get('etag'));
        expect((await ask(accepted, etag)).status).toBe(304);
        expect((await ask('identity', etag)).status).toBe(200);
      }
    },
  );

  test.each([
    'openapi/nope.json',
    'schemas/nope.json',
    'schemas/..%2fopenapi.json',
    'docs/..%2f..%2fpackage.json',
    'schemas/',
  ])('that is none, %s, answers 404 as a problem', async (path) => {
    expect(await api.ask('GET', `/${path}`)).toMatchObject({ status: 404, body: { status: 404 } });
  });

  test('tells of the interfaces that the process serves', async () => {
    await using carriers = await startApi({ beside: api, interfaces: ['carrier'] });
    const { body } = await carriers.ask('GET', '/openapi.json');
    expect(Object.keys(body.paths).filter((path) => path.startsWith('/v1/public'))).toEqual([]);
    expect(Object.keys(body.webhooks).filter((name) => name.startsWith('shipper'))).toEqual([]);
    expect((await carriers.ask('GET', '/openapi/shipper.json')).status).toBe(404);
  });
});

describe('an OpenAPI document', () => {
  const proxied = shared(() => startApi({ beside: api, trustedProxies: ['127.0.0.0/8'] }));
  const forwarded = {
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'api.example.com',
    'x-forwarded-prefix': '/waybell',
  };
  const where = { url: '.', description: 'Where this document is.' };

  test.each([
    ['openapi.json', 'clients'],
    ['admin-openapi.json', 'operators'],
  ] as const)('%s is what docs/ has, after the URL at which it was read as its first server', async (path, who) => {
    const { ask, port } = who === 'clients' ? api : api.admin;
    const { status, body, headers } = await ask('GET', `/${path}`, { headers: forwarded });
    const { servers, ...rest } = JSON.parse(await readFile(join(docs, path), 'utf8'));
    expect(servers).toEqual([where]);
    const read = { url: `http://127.0.0.1:${port}`, description: 'Where this document was read.' };
    expect([status, body]).toEqual([200, { ...rest, servers: [read, where] }]);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });

  test.each(['identity', 'gzip'])(
    'has the URL that a proxy of ours names, in %s too, and another ETag',
    async (encoding) => {
      const ask = async (prefix: string, etag = '""') =>
        proxied.ask('GET', '/openapi.json', {
          headers: { ...forwarded, 'x-forwarded-prefix': prefix, 'accept-encoding': encoding, 'if-none-match': etag },
        });
      const answer = await ask('/waybell');
      expect(answer.headers.get('vary')).toBe(
        'accept-encoding, host, x-forwarded-host, x-forwarded-prefix, x-forwarded-proto',
      );
      expect(answer.body.servers).toMatchObject([{ url: 'https://api.example.com/waybell' }, where]);
      const etag = answer.headers.get('etag') ?? '';
      expect((await ask('/waybell', etag)).status).toBe(304);
      expect((await ask('/other', etag)).body.servers).toMatchObject([{ url: 'https://api.example.com/other' }, where]);
    },
  );

  test('of one interface has it too', async () => {
    const { body } = await proxied.ask('GET', '/openapi/carrier.json', { headers: forwarded });
    expect(body.servers[0].url).toBe('https://api.example.com/waybell');
  });

  test('is the one in docs/ for whoever names no host', async () => {
    const { text } = await proxied.ask('GET', '/openapi.json', { headers: { 'x-forwarded-host': '<script>' } });
    expect(text).toBe(await readFile(join(docs, 'openapi.json'), 'utf8'));
  });
});

describe('the page', () => {
  test('loads nothing but what is served beside it', async () => {
    const { text, headers } = await api.ask('GET', '/docs');
    const linked = [...text.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, path]) => path ?? '');
    expect(linked).toEqual([
      'docs/page.css',
      'docs',
      'docs?document=asyncapi.json',
      'docs/source-networks',
      'openapi.json',
      'asyncapi.json',
      'openapi.json',
      'docs/start.js',
    ]);
    for (const path of linked) expect((await api.ask('GET', `/${path}`)).status).toBe(200);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self' 'sha256-/,
    );
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
    const { text: program } = await api.ask('GET', '/docs/redoc.js');
    expect(program).not.toContain('cdn.redoc.ly');
  });

  test('is where the root leads, whatever the path under which a proxy shows the API', async () => {
    const { status, headers } = await api.ask('GET', '/');
    expect([status, headers.get('location')]).toEqual([303, 'docs']);
  });

  test('is found with a trailing slash too, where its relative links hold', async () => {
    const { status, headers } = await api.ask('GET', '/docs/');
    expect([status, headers.get('location')]).toEqual([308, '../docs']);
  });
});
