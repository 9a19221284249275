import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '@waybell/stack/ports';
import { repository } from '@waybell/stack/stack-folder';
import { shared } from '@waybell/runtime/testing/shared';
import { TestStack } from '../testing/test-stack.ts';
import { EmptyProject, pack } from './empty-project.ts';

const stack = shared(() => TestStack.start());
const project = shared(() => EmptyProject.make());
beforeAll(async () => {
  const archives = [await pack('publisher', project.folder), await pack('receiver', project.folder)];
  await project.install(...archives, '@types/node');
  const uses = ['publisher.mts', 'publisher.cts', 'receiver.mts', 'receiver.cts', 'round-trip.mts', 'turns.mts'];
  const faults = await project.compile(...uses.map((file) => join(repository, 'tests/packages/uses', file)));
  if (faults !== '') throw new Error(faults);
});

describe.each([20, 22, 24, 26])('on Node %d', (version) => {
  let node: string;
  beforeAll(async () => {
    const name = `node-${platform()}-${arch()}`;
    await project.install(`node-${version}@npm:${name}@^${version}`);
    node = join(project.folder, 'node_modules', `node-${version}`, 'bin/node');
  });

  test.each(['publisher', 'receiver'])('the %s is used from both kinds of modules', async (name) => {
    const inModule = await project.run(`${name}.mjs`, node);
    expect(inModule).toMatch(/^used /);
    expect(await project.run(`${name}.cjs`, node)).toBe(inModule);
  });

  test('nothing stays of a hundred thousand turns of a loop that asks with one signal whether it may publish', async () => {
    const printed = await project.run('turns.mjs', node, { AMQP_URL: stack.brokerUrl });
    const [, grew] = /^grew (-?\d+)$/m.exec(printed) ?? [];
    // Ten bytes for each turn: a composite signal is hundreds.
    expect(Number(grew)).toBeLessThan(1_000_000);
  });

  test('an event that the one publishes comes to the other, to the digit', async () => {
    const client = await stack.client('carrier');
    const port = await freePort({ taken: new Set() });
    const secrets = await client.signingSecrets();
    await client.subscribe('order.updated', `http://127.0.0.1:${port}/`);
    const printed = await project.run('round-trip.mjs', node, {
      AMQP_URL: stack.brokerUrl,
      ACCOUNT: client.account,
      SIGNING_SECRETS: secrets.join(','),
      PORT: String(port),
    });
    expect(printed).toMatch(/^received \S+ 9007199254740993 0\.10000000000000000001$/m);
    expect(printed).toMatch(/^published /m);
  });
});
