import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { freePort } from '@waybell/stack/ports';
import { sendTo } from './testing.ts';
import { sharedFolder } from '@waybell/runtime/testing/shared';

const run = promisify(execFile);
const folder = import.meta.dirname;
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const home = sharedFolder('receiver');
let snippets: string[];

/** A project that has the package as it is published, and the frameworks of its tests. */
beforeAll(async () => {
  const installed = join(home, 'node_modules/@waybell/receiver');
  await mkdir(installed, { recursive: true });
  for (const name of await readdir(join(folder, 'node_modules')))
    if (name !== '@waybell') await symlink(join(folder, 'node_modules', name), join(home, 'node_modules', name));
  await cp(join(folder, 'package.json'), join(installed, 'package.json'));
  const tsdown = join(folder, 'node_modules/tsdown/dist/run.mjs');
  await run(process.execPath, [tsdown, '--out-dir', join(installed, 'dist')], { cwd: folder });
  const readme = await readFile(join(folder, 'README.md'), 'utf8');
  snippets = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, text = '']) => text);
});

describe('the README', () => {
  // The first, which is kept subscribed, is tried on a whole system: tests/system/kept-receiver.test.ts.
  test('has receivers in eight lines at most, of which one is given its secrets and receives', async () => {
    const [kept = '', given = ''] = snippets.filter((text) => text.includes('createServer'));
    expect([kept, given].map((text) => text.trimEnd().split('\n').length)).toEqual([6, 8]);
    const port = await freePort({ taken: new Set() });
    await writeFile(join(home, 'receiver.mjs'), given.replace('8080', `${port}, '127.0.0.1'`));
    const receiver = spawn(process.execPath, ['receiver.mjs'], { cwd: home, env: { WAYBELL_SECRETS: secret } });
    const exited = once(receiver, 'exit');
    let printed = '';
    receiver.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const url = `http://127.0.0.1:${port}`;
    const send = () => sendTo(url, { interface: 'carrier', action: 'damage.created', secret, id: 'an-id' });
    const answer = await until('it answers', send);
    expect([answer.status, (await sendTo(url, { interface: 'carrier', action: 'damage.created' })).status]).toEqual([
      200, 401,
    ]);
    receiver.kill();
    await exited;
    expect(printed).toBe('damage.created an-id\n');
  });

  test('begins as docs/receiving.md does', async () => {
    expect(await readFile(join(folder, '../../docs/receiving.md'), 'utf8')).toContain(snippets[0]);
  });

  test('compiles, as a module and with nothing but the types of Node', async () => {
    await Promise.all(snippets.map((text, index) => writeFile(join(home, `snippet-${index}.mts`), text)));
    const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
    const options = [
      '--strict',
      '--noEmit',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--types',
      'node',
      '--skipLibCheck',
      '--exactOptionalPropertyTypes',
    ];
    const compiled = run(
      process.execPath,
      [compiler, ...options, ...snippets.map((_text, index) => `snippet-${index}.mts`)],
      { cwd: home },
    );
    const { stdout } = await compiled.catch((error: { stdout: string }) => error);
    expect(stdout).toBe('');
  });
});
