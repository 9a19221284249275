import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { actionKey, actions } from '@waybell/catalog/actions';
import { exampleCloudEvent, exampleEvent } from '@waybell/contracts/example-event';
import { readEvent } from '@waybell/events/read-event';
import { repository } from '@waybell/stack/stack-folder';
import { makeFiles } from './make-files.ts';
import { generated } from './make-generated.ts';
import { pages } from './pages.ts';

describe('pages', () => {
  test.each(Object.entries(pages))('%s says what the code says: ./waybell docs', async (path, page) => {
    expect(await readFile(join(repository, path), 'utf8')).toBe(await page());
  });

  test.each(['docs/schemas', 'docs/reference', 'docs/languages'])('are all that %s holds', async (folder) => {
    const names = await readdir(join(repository, folder));
    expect(names.map((name) => `${folder}/${name}`).filter((path) => !(path in pages))).toEqual([]);
  });
});

test('generated code is not in git, which ignores it', async () => {
  const paths = Object.keys(await generated());
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).trim();
  expect(git('ls-files', '--', ...paths)).toBe('');
  expect(git('check-ignore', '--', ...paths).split('\n')).toEqual(paths);
});

describe('a file of generated code', () => {
  const root = mkdtempSync(join(tmpdir(), 'waybell-generated-'));
  afterAll(() => rmSync(root, { recursive: true }));
  const file = join(root, 'file.ts');
  let made = 0;
  const makeFrom = (madeFrom: string) =>
    makeFiles(root, {
      'file.ts': {
        madeFrom,
        make: async () => {
          made += 1;
          return `made from ${madeFrom};`;
        },
      },
    });
  const expectMade = async (times: number, madeFrom: string) => {
    made = 0;
    await makeFrom(madeFrom);
    expect([made, readFileSync(file, 'utf8').split('\n')[0]]).toEqual([times, `made from ${madeFrom};`]);
  };

  test('is made where it is missing, and not again', async () => {
    await expectMade(1, 'one');
    await expectMade(0, 'one');
  });

  test('is made again from other data, also where that is what it was made from before', async () => {
    await expectMade(1, 'two');
    await expectMade(1, 'one');
  });

  test.each([
    ['edited', (text: string) => text.replace('made', 'Made')],
    ['cut off', (text: string) => text.slice(0, 20)],
    ['emptied', () => ''],
    ['as git once kept it', () => 'made from one;\n'],
  ])('is made again where it was %s', async (_how, change) => {
    writeFileSync(file, change(readFileSync(file, 'utf8')));
    await expectMade(1, 'one');
  });

  test('is whole whoever makes it at the same time, and leaves no draft', async () => {
    rmSync(file);
    await Promise.all(Array.from({ length: 10 }, () => makeFrom('one')));
    await expectMade(0, 'one');
    expect(readdirSync(join(root, '.waybell'))).toEqual([]);
  });
});

const limits = { maxBytes: 1_048_576, maxDepth: 32 };

describe('the example event', () => {
  test.each(actions.map((action) => [actionKey(action), action] as const))(
    'of %s reads the same as a CloudEvent',
    (routingKey, action) => {
      const plain = readEvent({ body: Buffer.from(JSON.stringify(exampleEvent(action))), routingKey }, limits);
      const body = Buffer.from(JSON.stringify(exampleCloudEvent(action)));
      const other = readEvent({ body, routingKey, contentType: 'application/cloudevents+json' }, limits);
      if (plain.kind === 'invalid' || other.kind === 'invalid') throw new Error(`${routingKey} is invalid`);
      expect(other.event).toEqual({
        ...plain.event,
        fingerprint: other.event.fingerprint,
        unknownMembers: { count: 0, places: [] },
      });
    },
  );
});
