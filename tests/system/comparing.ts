import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Interface } from '@waybell/catalog/action';
import { repository } from '@waybell/stack/stack-folder';
import { until } from '@waybell/runtime/testing/until';
import type { Client } from '../testing/test-stack.ts';
import { receiver, settingsOf, stack } from './stand.ts';

const run = promisify(execFile);
const ACTIONS = { shipper: 'order.paid', carrier: 'order.created' } as const;

type Page = { objects: { guid: string; status: string; body?: string }[]; next: string; more: boolean };

const apiUrl = () => stack.stack.addresses['API_URL'] ?? '';

/** Returns the answer to curl. */
async function curl({ token }: Client, query: string): Promise<Page> {
  const words = ['-fsS', '-H', `Authorization: Bearer ${token}`, `${apiUrl()}/v1/deliveries?${query}`];
  const answer = JSON.parse((await run('curl', words)).stdout);
  return answer.data ?? answer;
}

async function integrator(interfaceName: Interface) {
  const client = await stack.client(interfaceName);
  const path = `/${randomUUID()}`;
  receiver.answer(path, 200);
  const action = ACTIONS[interfaceName];
  await client.subscribe(action, receiver.url(path));
  const ids = () => receiver.at(path).map(({ headers }) => String(headers['webhook-id']));
  return { client, path, ids, hear: () => client.hear(action) };
}

/** Resolves once so many deliveries of a client have ended, with these. */
const ended = async (client: Client, count: number) =>
  until('they have ended', async () => {
    const { objects } = await curl(client, 'after=oldest&limit=200&include=body');
    return objects.length >= count && objects;
  });

export function comparing(): void {
  describe('what was sent, read on', () => {
    settingsOf('deactivator', () => ({ DEACTIVATE_ON_EXHAUSTED: 'none' }));
    let folder: string;
    beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'waybell-comparing-'))));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    test.each(['shipper', 'carrier'] as const)(
      'is what a receiver of the %s interface got, to the byte',
      async (name) => {
        const { client, path, hear } = await integrator(name);
        for (let made = 0; made < 3; made += 1) await hear();
        const told = await ended(client, 3);
        const sent = receiver.at(path).map(({ headers, body }) => `${String(headers['webhook-id'])} ${body}`);
        expect(told.map(({ guid, body }) => `${guid} ${body}`).toSorted()).toEqual(sent.toSorted());

        const { next } = await curl(client, 'after=oldest&limit=200');
        const waiting = curl(client, `after=${next}&wait=20s&include=body`);
        receiver.answer(path, 500);
        await hear();
        const [given] = (await waiting).objects;
        expect(given).toMatchObject({ status: 'exhausted', body: receiver.at(path).at(-1)?.body });
      },
    );

    test.each(['shipper', 'carrier'] as const)('is compared on the %s interface as the docs say', async (name) => {
      const { client, path, ids, hear } = await integrator(name);
      for (let made = 0; made < 3; made += 1) await hear();
      await ended(client, 3);
      const page = readFileSync(join(repository, 'docs', 'receiving-compare.md'), 'utf8');
      const [, script = ''] = /```bash\n(set -euo pipefail.*?)```/s.exec(page) ?? [];
      expect(script.trimEnd().split('\n').length).toBeLessThanOrEqual(15);
      const own = mkdtempSync(join(folder, `${name}-`));
      const compare = async (taken: string[]) => {
        writeFileSync(join(own, 'received'), `#!/bin/sh\nprintf '%s\\n' ${taken.join(' ')}`, { mode: 0o755 });
        const env = { PATH: `${own}:${process.env['PATH']}`, TOKEN: client.token, API_URL: apiUrl() };
        const { stdout } = await run('bash', ['-c', script], { cwd: own, env });
        const [, missing = '', strange = ''] = /^Sent.*?:\n(.*)With.*?:\n(.*)$/s.exec(stdout) ?? [];
        return { missing: missing.split('\n').slice(0, -1), strange: strange.split('\n').slice(0, -1) };
      };

      expect(await compare(ids())).toEqual({ missing: [], strange: [] });
      const [lost = '', ...others] = ids();
      const added = randomUUID();
      const { missing, strange } = await compare([...others, added]);
      const body = receiver.at(path).find(({ headers }) => headers['webhook-id'] === lost)?.body;
      expect(missing.map((line) => line.split('\t'))).toEqual([[lost, expect.any(String), 'delivered', body]]);
      expect(strange).toEqual([added]);

      receiver.answer(path, 500);
      await hear();
      await ended(client, 4);
      const last = await compare(ids().slice(0, 3));
      expect(last.missing.map((line) => line.split('\t')[2])).toEqual(['exhausted']);
    });
  });
}
