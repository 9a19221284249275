import { expect, test } from '@jest/globals';
import { harmfulPolicies } from '@waybell/line/broker/policies';
import { BreakableBroker } from '@waybell/line/testing/test-broker';
import { policiesBy } from './stack-policies.ts';

const erlang = (text: string) => `<<${[...Buffer.from(text)].join()}>>`;

test('what RabbitMQ makes of policies and operator policies is read from the node, and the harmful ones are named', async () => {
  await using broker = await BreakableBroker.start();
  const vhost = decodeURIComponent(new URL(broker.url).pathname.slice(1));
  const harmful = async () =>
    harmfulPolicies(await policiesBy((expression) => broker.evaluate(expression), vhost), vhost).map(
      ({ text }) => text,
    );
  expect(await harmful()).toEqual([]);
  const user = erlang('test');
  const set = (how: string, name: string, pattern: string, definition: string) =>
    broker.evaluate(
      `rabbit_policy:${how}(${erlang(vhost)}, ${erlang(name)}, ${erlang(pattern)}, [${definition}], 0, <<"all">>, ${user})`,
    );
  await set('set', 'harmless', '.*', `{<<"max-in-memory-length">>, 10}`);
  await set('set_op', 'ops', '^waybell\\.retry\\.', `{<<"expires">>, 3600000}`);
  expect(await harmful()).toEqual([
    expect.stringMatching(
      /^policy "harmless" or operator policy "ops": expires=3600000 for 2 of ours, such as waybell\.retry\./,
    ),
  ]);
  await set('set', 'harmless', '.*', `{<<"alternate-exchange">>, ${erlang('elsewhere')}}`);
  expect(await harmful()).toContainEqual(expect.stringContaining('alternate-exchange="elsewhere"'));
  for (const [how, name] of [
    ['delete', 'harmless'],
    ['delete_op', 'ops'],
  ] as const)
    await broker.evaluate(`rabbit_policy:${how}(${erlang(vhost)}, ${erlang(name)}, ${user})`);
  expect(await harmful()).toEqual([]);
});
