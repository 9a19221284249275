import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { updateAccount } from '@waybell/subscription-api/accounts';
import { ask } from '../../testing/told.ts';
import { receiver, stack } from '../stand.ts';
import { waybell } from './run.ts';

type Subscription = { guid: string; action: string; is_active: boolean };

export function missedCommand(): void {
  describe('missed', () => {
    test('tells what an account missed, by its name, over all actions, and replays it', async () => {
      const carrier = await stack.client('carrier');
      const name = `acme-${randomUUID()}`;
      await updateAccount(stack.postgres, { guid: carrier.account, name });
      const path = `/${randomUUID()}`;
      receiver.answer(path, 500);
      for (const action of ['order.created', 'order.updated']) await carrier.subscribe(action, receiver.url(path));
      const subscriptions = async () =>
        (await ask<{ objects: Subscription[] }>(carrier, '/v1/subscriptions')).objects.toSorted();
      await carrier.hear('order.created');
      await until('it is off', async () => (await subscriptions()).some(({ is_active }) => !is_active));
      await carrier.hear('order.created');
      await carrier.hear('order.updated');
      await until('both are off', async () => (await subscriptions()).every(({ is_active }) => !is_active));

      // The beginning of a name is enough, in whichever case.
      const of = name.slice(0, -1).toUpperCase();
      const said = await until('all of it is told', async () => {
        const { stdout } = await waybell(`missed --account ${of} --since 1h`);
        return /order\.created.* 1 not sent[^]*order\.updated {2}1 given up/.test(stdout) && stdout;
      });
      expect(said).toMatch(/^client default {2}order\.created {2}1 given up, 0 dropped, 1 not sent {2}/);
      expect(said).toMatch(/subscription \S+ is switched off: switch it on before a replay\n/);
      const [json = ''] = (await waybell(`missed --account ${of} --since 1h --json`)).stdout.split('\n');
      expect(JSON.parse(json)).toMatchObject({
        account_guid: carrier.account,
        account_name: name,
        client_id: 'default',
        action: 'order.created',
        exhausted: 1,
        suppressed: 1,
      });

      receiver.answer(path, 200);
      for (const { guid } of await subscriptions())
        await carrier.call('PATCH', `/v1/subscriptions/${guid}`, { is_active: true });
      const before = receiver.at(path).length;
      const replay = `missed --account ${carrier.account} --client default --since 1h --replay --per-second 1000`;
      const unsure = await waybell(replay);
      expect([unsure.code, unsure.stderr]).toEqual([1, expect.stringContaining('nothing was sent: add --yes')]);
      expect(receiver.at(path)).toHaveLength(before);
      const { code, stdout } = await waybell(`${replay} --yes`);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/client default {2}replay \S+ {2}1000 a second/)]);
      await receiver.untilReceived(path, before + 3);
      await until('nothing is missed any more', async () => {
        const { stderr } = await waybell(`missed --account ${of} --since 1h`);
        return stderr.includes(`account ${carrier.account} (${name}) missed nothing`);
      });
      const { stdout: audited } = await waybell(`audit --account ${carrier.account}`);
      expect(audited).toMatch(/command line {2}from \S+ {2}replay\.created/);
      const { objects } = await ask<{ objects: object[] }>(carrier, '/v1/replays');
      expect(objects).toMatchObject([{ action: '*', total: 3, requested_by: 'operator' }]);
    });

    test('refuses what it cannot know: an account or a client that there is not, or one of several', async () => {
      const [one, other] = [await stack.client('carrier'), await stack.client('carrier')];
      const name = `twins-${randomUUID()}`;
      for (const [place, { account: guid }] of [one, other].entries())
        await updateAccount(stack.postgres, { guid, name: `${name} ${place}` });
      const failure = async (args: string) => {
        const { code, stderr } = await waybell(`missed ${args}`);
        expect(code).toBe(1);
        return stderr;
      };
      const several = await failure(`--account ${name}`);
      for (const { account } of [one, other]) expect(several).toContain(account);
      expect(await failure('--account nobody-at-all')).toContain('no account is called "nobody-at-all"');
      expect(await failure(`--account ${one.account} --client tsm`)).toContain('no client "tsm": it has default');
      expect(await failure(`--account ${one.account} --since yesterday`)).toContain('It is a day such as 2026-11-24');
      expect(await failure(`--account ${one.account} --since 2026-11-25 --until 2026-11-24`)).toContain(
        '--since has to be before --until',
      );
    });
  });
}
