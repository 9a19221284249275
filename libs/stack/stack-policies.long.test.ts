import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { prepareBroker } from './prepare.ts';
import { rabbitmqctl } from './rabbitmqctl.ts';
import { startServers } from './servers.ts';
import { harmfulPoliciesAt } from './stack-policies.ts';

test('policies and operator policies of a stack’s RabbitMQ are seen at once, and the harmful ones are named', async () => {
  const home = mkdtempSync(join(tmpdir(), 'waybell-policies-'));
  await using servers = await startServers({ home, only: ['rabbitmq'] });
  const address = { url: servers.url('rabbitmq') };
  const { spec } = servers.process('rabbitmq');
  const harmful = async () => (await harmfulPoliciesAt(address, {}))?.map(({ text }) => text);
  await prepareBroker(address, {});
  expect(await harmful()).toEqual([]);
  await rabbitmqctl(spec, 'set_policy', 'all', '.*', '{"max-in-memory-length":10,"alternate-exchange":"x"}');
  await rabbitmqctl(spec, 'set_operator_policy', 'ops', String.raw`^waybell\.retry\.`, '{"expires":3600000}');
  expect(await harmful()).toEqual([
    expect.stringMatching(/^policy "all" or operator policy "ops": expires=3600000 .* such as waybell\.retry\./),
    expect.stringMatching(/^policy "all": alternate-exchange="x" .* such as waybell\./),
  ]);
  await rabbitmqctl(spec, 'clear_policy', 'all');
  await rabbitmqctl(spec, 'clear_operator_policy', 'ops');
  expect(await harmful()).toEqual([]);
  rmSync(home, { recursive: true, force: true });
});
