import { createServer } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { closeServer, listen } from '@waybell/runtime/health';
import { describeAdvisory, findAdvisories } from './find-advisories.ts';

const ADVISORY = {
  id: 1,
  url: 'https://advisories.test/1',
  title: 'It was bad',
  severity: 'high',
  vulnerable_versions: '<999.0.0',
};

// Long enough that a test on a busy machine never looks like a registry that does not answer.
const PATIENT_MS = 600_000;

/** Returns the findings if the registry gives this answer to everything. */
async function findAt(status: number, body: unknown) {
  const server = createServer((_, response) => response.writeHead(status).end(JSON.stringify(body)));
  const { port } = await listen(server, { host: '127.0.0.1', port: 0 });
  try {
    return await findAdvisories({ registry: `http://127.0.0.1:${port}/`, answerLimitMs: PATIENT_MS });
  } finally {
    await closeServer(server);
  }
}

describe('findAdvisories', () => {
  test('knows of nothing where the registry does not', async () => {
    expect(await findAt(200, {})).toEqual({ kind: 'known', advisories: [] });
  });

  test('names what the registry knows against a package of the lock file', async () => {
    const found = await findAt(200, { amqplib: [ADVISORY] });
    expect(found).toMatchObject({ kind: 'known', advisories: [{ package: 'amqplib', severity: 'high' }] });
    expect(found.kind === 'known' ? found.advisories.map(describeAdvisory) : []).toEqual([
      expect.stringContaining('high: amqplib: It was bad; fixed in'),
    ]);
  });

  test('says why it does not know where the registry takes no such question', async () => {
    expect(await findAt(405, {})).toEqual({ kind: 'unknown', why: expect.stringContaining('405') });
  });
});
