import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { aSelfSignedCertificate } from '@waybell/runtime/testing/certificate';
import { tlsServer } from '@waybell/runtime/testing/server';
import { until } from '@waybell/runtime/testing/until';
import { runWaybell } from '@waybell/cli/testing/run-waybell';
import { startWaybell, type Running } from '../../testing/start-waybell.ts';
import type { Client } from '../../testing/test-stack.ts';
import { receiver, stack } from '../stand.ts';

const environmentOf = ({ token }: Client) => ({
  API_URL: stack.stack.addresses['API_URL'] ?? '',
  WAYBELL_TOKEN: token,
});

const untilSaid = (listener: Running, what: RegExp) =>
  until(`it says ${what}`, () => what.exec(listener.stderr()) ?? undefined);

/** A program that forwards to a path of the receiver. */
async function listening(client: Client, path: string, ...more: string[]): Promise<Running> {
  const args = ['listen', '--forward-to', receiver.url(path), '--json', ...more];
  const listener = startWaybell(args, environmentOf(client));
  await untilSaid(listener, /to try it/);
  return listener;
}

const trigger = (client: Client, ...args: string[]) =>
  runWaybell(stack, ['trigger', ...args], { env: environmentOf(client) });

const toldBy = (listener: Running) =>
  listener
    .stdout()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

async function currentOf({ account }: Client): Promise<string[]> {
  const { rows } = await stack.postgres.query(
    'select action from waybell.subscriptions where account_guid = $1 and ended_at is null order by action',
    [account],
  );
  return rows.map(({ action }) => action);
}

export function listen(): void {
  describe('./waybell listen', () => {
    test('forwards what ./waybell trigger has sent, is tried again after a 500, and the log has both answers', async () => {
      const client = await stack.client('carrier');
      const path = `/${randomUUID()}`;
      receiver.answer(path, (response) => {
        const isFirst = receiver.at(path).length === 1;
        response.writeHead(isFirst ? 500 : 200).end(isFirst ? 'not yet' : 'thanks');
      });
      await using listener = await listening(client, path, '--action', 'order.*');
      const set = ['--set', 'payload.price=12.50', '--set', 'payload.stops.0.city=Austin'];
      const triggered = await trigger(client, 'order.updated', ...set);
      expect(triggered).toMatchObject({ code: 0, stdout: expect.stringContaining('→ listener') });

      const [first, second] = await receiver.untilReceived(path, 2);
      expect(first?.headers).toMatchObject({ 'x-webhook-test': 'true', 'x-webhook-attempt': '1' });
      expect(second?.headers).toMatchObject({ 'x-webhook-test': 'true', 'x-webhook-attempt': '2' });
      expect(second?.body).toBe(first?.body);
      expect(first?.body).toContain('"price":12.50');
      expect(first?.body).toContain('"stops":[{"city":"Austin"}]');
      const [, secret = ''] = await untilSaid(listener, /signing secret is (\S+)/);
      // The oracle of the standard.
      new Webhook(secret).verify(second?.body ?? '', second?.headers as Record<string, string>);
      const [, token] = await untilSaid(listener, /Verification-Token is (\S+)/);
      expect(second?.headers['x-service-verification-token']).toBe(token);

      const delivery = String(first?.headers['webhook-id']);
      const { attempts } = await until('it is delivered', async () => {
        const { body } = await client.call('GET', `/v1/deliveries/${delivery}`);
        const entry = body as { status: string; attempts: unknown[] };
        return entry.status === 'delivered' && entry;
      });
      expect(attempts).toMatchObject([
        { http_status: 500, answer: 'not yet', by_hand: 'test' },
        { http_status: 200, answer: 'thanks', by_hand: 'test' },
      ]);
      expect(toldBy(listener)).toMatchObject([
        { action: 'order.updated', delivery_guid: delivery, attempt: 1, status: 500, is_test: true },
        { action: 'order.updated', delivery_guid: delivery, attempt: 2, status: 200, is_test: true },
      ]);
      expect(await listener.stop('SIGINT')).toBe(0);
      expect(await currentOf(client)).toEqual([]);
    });

    test('calls this machine through no proxy, and a receiver whose certificate it was given', async () => {
      const client = await stack.client('carrier');
      const certificate = aSelfSignedCertificate({ name: 'localhost' });
      await using secure = await tlsServer(certificate, (_request, response) => response.end('thanks'));
      const folder = await mkdtemp(join(tmpdir(), 'waybell-listen-'));
      const ca = join(folder, 'own.pem');
      await writeFile(ca, certificate.cert);
      const nobody = 'http://127.0.0.1:1';
      // oxlint-disable-next-line fixtures/no-like-values -- neither is to be called
      const env = { ...environmentOf(client), HTTP_PROXY: nobody, HTTPS_PROXY: nobody, NODE_USE_ENV_PROXY: '1' };
      const to = ['--forward-to', `https://localhost:${secure.port}/hook`, '--ca', ca];
      await using listener = startWaybell(['listen', ...to, '--json', '--action', 'order.created'], env);
      await untilSaid(listener, /to try it/);
      expect(await runWaybell(stack, ['trigger', 'order.created'], { env })).toMatchObject({ code: 0 });
      const [told] = await until('it is forwarded', () => toldBy(listener).length > 0 && toldBy(listener));
      expect(told).toMatchObject({ action: 'order.created', status: 200 });
      expect(await listener.stop('SIGINT')).toBe(0);
      await rm(folder, { recursive: true });
    });

    test('gets what really happens beside the subscriptions of its client, and what is triggered alone', async () => {
      const client = await stack.client('shipper');
      const [own, path] = [`/${randomUUID()}`, `/${randomUUID()}`];
      await client.subscribe('order.paid', receiver.url(own));
      await using listener = await listening(client, path, '--action', 'order.paid');
      await client.hear('order.paid');
      const [[real], [forwarded]] = await Promise.all([
        receiver.untilReceived(own, 1),
        receiver.untilReceived(path, 1),
      ]);
      expect(forwarded?.body).toBe(real?.body);
      expect(forwarded?.headers).not.toHaveProperty('x-webhook-test');
      expect(forwarded?.headers['webhook-id']).not.toBe(real?.headers['webhook-id']);
      const isTest = { headers: expect.objectContaining({ 'x-webhook-test': 'true' }) };
      expect((await trigger(client, 'order.paid')).stdout).toMatch(/^order\.paid {2}\S+ {2}→ listener \S+\n$/);
      expect((await receiver.untilReceived(path, 2)).at(-1)).toMatchObject(isTest);
      expect(receiver.at(own)).toHaveLength(1);
      expect((await trigger(client, 'order.paid', '--everywhere')).stdout).toContain('→ subscription');
      expect((await receiver.untilReceived(own, 2)).at(-1)).toMatchObject(isTest);
      expect(await listener.stop('SIGTERM')).toBe(0);
      expect(await currentOf(client)).toEqual(['order.paid']);
    });

    test('takes its stream up again when the API was away, or listens again', async () => {
      const client = await stack.client('carrier');
      const path = `/${randomUUID()}`;
      await using listener = await listening(client, path, '--action', 'order.created');
      await stack.stack.service('subscription-api').restart();
      await untilSaid(listener, /connected again|takes its place/);
      await until('an event comes through', async () => {
        await client.hear('order.created');
        return receiver.at(path).length > 0;
      });
    });

    test('has a failure logged and retried where no receiver is there', async () => {
      const client = await stack.client('carrier');
      const args = ['listen', '--forward-to', 'http://127.0.0.1:1/', '--json', '--action', 'order.created'];
      await using listener = startWaybell(args, environmentOf(client));
      await untilSaid(listener, /to try it/);
      await trigger(client, 'order.created');
      await until('it is tried twice', () => toldBy(listener).length >= 2);
      expect(toldBy(listener)[0]).toMatchObject({ status: 502, trouble: 'refused: nothing listens at 127.0.0.1:1' });
    });

    test('says what to do, and ends with 1, where it cannot begin', async () => {
      const client = await stack.client('carrier');
      const run = (env: object, ...more: string[]) =>
        runWaybell(stack, ['listen', '--forward-to', 'localhost:1', ...more], {
          env: { ...environmentOf(client), ...env },
        });
      await using _first = await listening(client, `/${randomUUID()}`, '--action', 'order.created');
      const elsewhere = ['--reached-at', 'https://10.0.0.1', '--name', 'other'];
      const ended = await Promise.all([
        run({}),
        run({ WAYBELL_TOKEN: '' }),
        run({ WAYBELL_TOKEN: 'wbl_x' }),
        run({ API_URL: 'x' }),
        run({}, ...elsewhere),
      ]);
      const said = ['choose another name', './waybell token create', 'unknown', '--api', 'public addresses only'];
      expect(ended).toMatchObject(said.map((part) => ({ code: 1, stderr: expect.stringContaining(part) })));
    });
  });

  describe('./waybell trigger', () => {
    test('says what to do where nobody is subscribed, there is no such action, or the event would be refused', async () => {
      const client = await stack.client('carrier');
      const refused = (said: string) => ({ code: 1, stderr: expect.stringContaining(said) });
      const ended = await Promise.all(['order.created', 'order.create'].map((action) => trigger(client, action)));
      expect(ended).toMatchObject([refused('./waybell listen'), refused('order.created')]);
      await client.subscribe('order.created', receiver.url(`/${randomUUID()}`));
      const wrong = await trigger(client, 'order.created', '--set', 'payload.id=x');
      expect(wrong).toMatchObject(refused('/payload/id: must be integer'));
    });
  });
}
