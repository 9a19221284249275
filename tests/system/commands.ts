import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { connect, type ConfirmChannel } from 'amqplib';
import { publishRejected } from '@waybell/line/hand-over/aside';
import { RejectedQueue } from '@waybell/line/broker/rejected-queue';
import { publishDelivery } from '@waybell/line/delivery';
import type { Publication } from '@waybell/line/messages';
import { rejectedQueue } from '@waybell/line/topology';
import { cuttableProxy } from '@waybell/subscription-api/testing/cuttable-proxy';
import { anEvent, type PublishedEvent } from '../testing/event.ts';
import { aLocationReport } from '../testing/location-report.ts';
import { runWaybell } from '../testing/run-waybell.ts';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { adminPort, newerKey, olderKey, receiver, stack } from './stand.ts';

const waybell = (args: string, start: Parameters<typeof runWaybell>[2] = {}) =>
  runWaybell(stack, args.split(' '), start);

/** Every line number that the command's three lists name, in order: each once, if it told the truth. */
function linesNamed(stderr: string): number[] {
  const ranges = [...stderr.matchAll(/^ {2}(?:confirmed|not confirmed, perhaps published|not sent), lines: (.*)$/gm)];
  return ranges
    .flatMap(([, text = '']) => text.split(/, ?/))
    .filter((range) => /^\d/.test(range))
    .flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_each, index) => first + index);
    })
    .toSorted((one, other) => one - other);
}

const lines = (...events: unknown[]) => events.map((event) => `${JSON.stringify(event)}\n`).join('');

const created = (account: string): PublishedEvent =>
  anEvent({ interface: 'carrier', action: 'order.created', parties: { carrier: account } });

export function commands(): void {
  describe('up', () => {
    test('has each service log in as itself, with the rights that it needs', async () => {
      const roles = ['waybell_deactivator', 'waybell_deliverer', 'waybell_log', 'waybell_router', 'waybell_tracker'];
      const shipper = await stack.client('shipper');
      await shipper.subscribe('order.paid', receiver.url('/logged-in'));
      const parties = { shipper: shipper.account };
      const seen = new Set<string>();
      await until('each was seen', async () => {
        // Connections without work are closed: everybody is given some.
        await shipper.hear('order.paid');
        const place = { latitude: 1, longitude: 2, recordedAt: wallClockMs() };
        const vehicles = { [randomUUID()]: true };
        await stack.upstream.publish(aLocationReport({ ...parties, ...place, vehicles }));
        const { rows } = await stack.postgres.query<{ usename: string }>(
          `select distinct usename from pg_stat_activity
         where datname = current_database() and backend_type = 'client backend'`,
        );
        for (const { usename } of rows) seen.add(usename);
        return roles.every((role) => seen.has(role));
      });
      expect([...seen].toSorted()).toEqual(['waybell', ...roles]);
      const users = stack.stack.services.flatMap(({ spec }) => URL.parse(spec.env['AMQP_URL'] ?? '')?.username ?? []);
      expect(new Set(users).size).toBe(5);
      expect(users).not.toContain(new URL(stack.brokerUrl).username);
    });
  });

  describe('account and token', () => {
    test('make an account whose token the API takes until it is revoked', async () => {
      const account = (await waybell('account create --interface carrier')).stdout.trim();
      const { stdout } = await waybell(`token create --account ${account} --client tms --expires 90d`);
      const token = stdout.trim();
      expect(stdout).toBe(`${token}\n`);
      const call = async () =>
        (
          await fetch(`${stack.stack.addresses['API_URL']}/v1/webhooks`, {
            headers: { authorization: `Bearer ${token}` },
          })
        ).status;
      expect(await call()).toBe(200);
      const { stdout: listed } = await waybell(`token list --account ${account}`);
      expect(listed).toContain('tms');
      expect(listed).not.toContain(token);
      expect((await waybell('token revoke -', { input: `${token}\n` })).code).toBe(0);
      expect(await call()).toBe(401);
    });

    test('are made over HTTP too by a token for operators, where ADMIN_PORT is set', async () => {
      const operators = (await waybell('account create --interface shipper')).stdout.trim();
      const { stdout: token } = await waybell(`token create --account ${operators} --scope admin`);
      const response = await fetch(`http://127.0.0.1:${adminPort}/v1/admin/accounts`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token.trim()}`, 'content-type': 'application/json' },
        body: JSON.stringify({ interface: 'carrier', features: [] }),
      });
      expect(response.status).toBe(201);
      // The operators' document says so.
      const { guid } = (await response.json()) as { guid: string };
      expect((await waybell('account list')).stdout).toContain(`${guid}  carrier  none\n`);
      const { stdout: audited } = await waybell(`audit --account ${guid} --since 1h`);
      expect(audited).toMatch(
        /^\S+Z {2}token \S+ {2}from 127\.0\.0\.1 {2}account\.created \S+ {2}\{.*\} {2}request \S+\n$/,
      );
      const { stdout: latest } = await waybell(`audit --account ${operators} --limit 1 --json`);
      expect(JSON.parse(latest)).toMatchObject({ who: 'command line', what: 'token.created' });
    });

    test('switch features on and off', async () => {
      const guid = randomUUID();
      await waybell(`account create --interface shipper --guid ${guid} --feature insurance --feature servicepay`);
      const { stderr } = await waybell(`account update --guid ${guid} --remove-feature insurance`);
      expect(stderr).toContain('(features: servicepay)');
    });

    test.each([
      ['account create --interface truck', 'shipper or carrier'],
      ['account create --interface carrier --feature gps', 'insurance and servicepay'],
      [`account update --guid ${randomUUID()}`, '--add-feature'],
      [`account update --guid ${randomUUID()} --add-feature insurance`, 'create it first'],
      [`token create --account ${randomUUID()}`, 'create it first'],
      [`token create --account ${randomUUID()} --expires 90`, '90d'],
      [`token revoke ${randomUUID()}`, 'no such token'],
      [`token list --account ${randomUUID()}`, 'create it first'],
      ['audit --account me', 'not a guid'],
      ['audit --limit 0', 'whole number'],
    ])('answer "%s" with what to do, on stderr, and exit code 1', async (args, advice) => {
      const { code, stdout, stderr } = await waybell(args);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain(advice);
    });
  });

  describe('secrets rotate', () => {
    const folder = mkdtempSync(join(tmpdir(), 'waybell-secrets-'));
    afterAll(() => rmSync(folder, { recursive: true }));
    const fileWith = (name: string, content: string) => {
      writeFileSync(join(folder, name), `${content}\n`);
      return join(folder, name);
    };

    test('takes keys and address from files, says what is in use, and receivers know the line by the same token', async () => {
      const carrier = await stack.client('carrier');
      const token = await carrier.subscribe('order.created', receiver.url('/rotated'));
      const env = {
        SECRET_KEYS_FILE: fileWith('keys', `${newerKey},${olderKey}`),
        DATABASE_URL: '',
        DATABASE_URL_FILE: fileWith('database', stack.stack.servers.url('postgres')),
      };
      const { code, stdout, stderr } = await waybell('secrets rotate', { env });
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^newer {2}\d+ secrets\nolder {2}0 secrets\n$/)]);
      expect(stderr).toContain('may leave SECRET_KEYS: older');
      expect(stderr + stdout).not.toContain(newerKey);
      await waybell('publish', { input: lines(created(carrier.account)) });
      const [received] = await receiver.untilReceived('/rotated', 1);
      expect(received?.headers['x-service-verification-token']).toBe(token);
    });

    test('fails while a key is in use that is not the newest, and says what to do', async () => {
      const carrier = await stack.client('carrier');
      await carrier.subscribe('order.created', receiver.url('/not-rotated'));
      const { code, stderr } = await waybell('secrets rotate', { env: { SECRET_KEYS: newerKey ?? '' } });
      expect([code, stderr]).toEqual([1, expect.stringContaining('SECRET_KEYS lacks the key "older": put it back')]);
    });
  });

  describe('publish', () => {
    test('publishes each line, so that each is delivered', async () => {
      const carrier = await stack.client('carrier');
      await carrier.subscribe('order.created', receiver.url('/published'));
      const { code, stdout } = await waybell('publish', {
        input: lines(created(carrier.account), created(carrier.account)),
      });
      expect([code, stdout]).toEqual([0, 'published 2 events\n']);
      await receiver.untilReceived('/published', 2);
    });

    test('publishes what it does not know all of, and says what no notification has', async () => {
      const carrier = await stack.client('carrier');
      const event = created(carrier.account);
      const { code, stdout, stderr } = await waybell('publish', {
        input: lines({ ...event, payload: { ...event.payload, driver: 'Ann' } }),
      });
      expect([code, stdout]).toEqual([0, 'published 1 event\n']);
      expect(stderr).toMatch(/warning: line 1: \/payload\/driver: is not known to carrier\.order\.created/);
    });

    test('publishes nothing while one line is bad, and says what is wrong with each', async () => {
      const carrier = await stack.client('carrier');
      await carrier.subscribe('order.created', receiver.url('/half-published'));
      const bad = { ...created(carrier.account), action: 'order.createt' };
      const good = created(carrier.account);
      const { code, stdout, stderr } = await waybell('publish --file -', { input: `${lines(good, bad)}{"guid":\n` });
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(
        /line 2: unknown_action: \/action: .*\n.*line 3: not_json: .*\n.*nothing was published: 2 of 3/,
      );
      await waybell('publish', { input: lines(created(carrier.account)) });
      const [only] = await receiver.untilReceived('/half-published', 1);
      expect(receiver.at('/half-published')).toEqual([only]);
    });

    test('says which lines the broker confirmed when it goes away, and may then be repeated without a second callback', async () => {
      const carrier = await stack.client('carrier');
      await carrier.subscribe('order.created', receiver.url('/cut'));
      // Some of them, and by no means all.
      await using proxy = await cuttableProxy(stack.brokerUrl, { passedBytes: 256 * 1_024 });
      const events = Array.from({ length: 3_000 }, () => created(carrier.account));
      const publishing = waybell('publish', { input: lines(...events), env: { AMQP_URL: proxy.url } });
      await receiver.untilReceived('/cut', 1);
      await proxy.cut();
      const { code, stderr } = await publishing;
      expect(code).toBe(1);
      expect(linesNamed(stderr)).toEqual(events.map((_event, index) => index + 1));
      expect((await waybell('publish', { input: lines(...events) })).stdout).toBe('published 3000 events\n');
      await receiver.untilReceived('/cut', events.length);
      expect(new Set(receiver.at('/cut').map(({ headers }) => headers['webhook-id'])).size).toBe(events.length);
      expect(receiver.at('/cut')).toHaveLength(events.length);
    });
  });

  describe('rejected', () => {
    // The broker may still take the queue for that of the command before, which has ended.
    const succeeded = (args: string) =>
      until(`"${args}" succeeds`, async () => {
        const ended = await waybell(args);
        return ended.code === 0 && ended;
      });

    /** Does something that no command is needed for, each of which takes its time to start. */
    async function onBroker<T>(work: (channel: ConfirmChannel) => Promise<T>): Promise<T> {
      const connection = await connect(stack.brokerUrl);
      try {
        return await work(await connection.createConfirmChannel());
      } finally {
        await connection.close();
      }
    }
    const untilWaiting = (count: number) =>
      until(`${count} messages are rejected`, () =>
        onBroker(async (channel) => (await channel.checkQueue(rejectedQueue)).messageCount === count),
      );

    beforeEach(async () => {
      await onBroker((channel) => channel.purgeQueue(rejectedQueue));
      await untilWaiting(0);
    });

    const list = async (): Promise<Record<string, string>[]> =>
      (await succeeded('rejected list --json')).stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line): Record<string, string> => JSON.parse(line));
    const untilListed = async (count: number) => {
      await untilWaiting(count);
      const listed = await list();
      expect(listed).toHaveLength(count);
      return listed;
    };

    /** Puts a message where the line would put one whose handler failed five times. */
    async function failed(from: { queue: string; exchange: string }, { body, routingKey, ...properties }: Publication) {
      const message = { ...properties, ...from, body, routingKey, deliveryCount: 0, failures: 5 };
      const rejection = { kind: 'reject', reason: 'handler_failed', detail: 'TypeError: x' } as const;
      const { messageId, type, note, contentType, headers } = publishRejected(message, rejection, wallClockMs());
      // Without what it has none of: the shapes are those of amqplib, where none is no member.
      const described = JSON.parse(
        JSON.stringify({ messageId, type, correlationId: note, contentType, headers }),
      ) as object;
      await onBroker(async (channel) => {
        channel.publish('waybell.rejected', '', body, { persistent: true, ...described });
        await channel.waitForConfirms();
      });
    }

    test('lists and shows what was refused, byte for byte, and looking changes nothing', async () => {
      const bodies = [Buffer.from([0xff, 0x00, 0x0a]), Buffer.from('{\r\n "guid": 1e400 }'), Buffer.from('[')];
      for (const body of bodies) {
        await stack.upstream.publishRaw('carrier.order.created', body);
        await untilListed(bodies.indexOf(body) + 1);
      }
      const listed = await list();
      expect(listed).toMatchObject([
        { reason: 'not_utf8', queue: 'waybell.events.router', exchange: 'waybell.events', size: 3 },
        { reason: 'envelope_invalid', routingKey: 'carrier.order.created' },
        { reason: 'not_json' },
      ]);
      for (const [number, body] of bodies.entries()) {
        expect((await waybell(`rejected show ${listed[number]?.['id']} --raw`)).bytes).toEqual(body);
        expect(await list()).toEqual(listed);
      }
      expect((await waybell('rejected list')).stdout).toMatch(/not_utf8 .*\n +byte 1 is not UTF-8\n.*envelope_invalid/);
    });

    test('puts an event back as it came, once, and takes it from the list', async () => {
      const carrier = await stack.client('carrier');
      await carrier.subscribe('order.created', receiver.url('/retried'));
      const event = created(carrier.account);
      const routingKey = 'carrier.order.created';
      await failed(
        { queue: 'waybell.suspects.event-router', exchange: 'waybell.events' },
        { kind: 'publish', exchange: '', routingKey, body: Buffer.from(JSON.stringify(event)), messageId: event.guid },
      );
      const { code, stdout } = await waybell(`rejected retry ${event.guid}`);
      expect([code, stdout]).toEqual([0, expect.stringContaining('retried: waybell.events carrier.order.created')]);
      await receiver.untilReceived('/retried', 1);
      expect(await list()).toEqual([]);
      expect(receiver.at('/retried')).toHaveLength(1);
    });

    test('puts a delivery that came back from its retry queue back to be attempted', async () => {
      const carrier = await stack.client('carrier');
      await carrier.subscribe('order.created', receiver.url('/retried-delivery'));
      const { rows } = await stack.postgres.query<{ guid: string; generation: string }>(
        `select guid, generation from waybell.subscriptions where account_guid = $1`,
        [carrier.account],
      );
      const delivery = publishDelivery({
        guid: randomUUID(),
        interface: 'carrier',
        action: 'order.created',
        subscription: rows[0]?.guid ?? '',
        generation: Number(rows[0]?.generation),
        event: randomUUID(),
        attempt: 2,
        createdAt: wallClockMs(),
        beganAt: wallClockMs(),
        body: Buffer.from('{"action":"order.created"}'),
      });
      await failed({ queue: 'waybell.suspects.deliverer', exchange: 'waybell.returns' }, delivery);
      expect((await waybell('rejected retry --reason handler_failed')).code).toBe(0);
      const [request] = await receiver.untilReceived('/retried-delivery', 1);
      expect(request?.headers['x-webhook-attempt']).toBe('2');
      expect(await list()).toEqual([]);
    });

    test('comes back to the list when it is still wrong, without being retried in circles', async () => {
      await stack.upstream.publishRaw('carrier.order.created', Buffer.from('{'));
      const [before] = await untilListed(1);
      expect((await waybell('rejected retry --all')).stdout).toBe(
        `${before?.['id']} retried: waybell.events carrier.order.created\n`,
      );
      const [after] = await untilListed(1);
      expect(after?.['id']).not.toBe(before?.['id']);
    });

    test('keeps what nobody knows the door of, and says so', async () => {
      const nowhere = {
        kind: 'publish',
        exchange: '',
        routingKey: 'x',
        body: Buffer.from('x'),
        messageId: 'lost',
      } as const;
      await failed({ queue: 'waybell.strays', exchange: 'waybell.strays' }, nowhere);
      const { code, stderr } = await waybell('rejected retry lost');
      expect([code, stderr]).toEqual([1, expect.stringContaining('stays')]);
      expect(await list()).toHaveLength(1);
    });

    test('deletes what was chosen, and only when told twice', async () => {
      await stack.upstream.publishRaw('carrier.order.created', Buffer.from('{'));
      await stack.upstream.publishRaw('carrier.order.createt', Buffer.from('{}'));
      await untilListed(2);
      expect((await waybell('rejected purge --reason not_json')).stderr).toContain('--yes');
      expect((await waybell('rejected purge --yes')).stderr).toContain('say which');
      expect(await list()).toHaveLength(2);
      expect((await waybell('rejected purge --reason not_json --yes')).code).toBe(0);
      expect(await list()).toMatchObject([{ reason: 'unroutable' }]);
    });

    test('does not look empty while another command reads it, and gets everything back from one that is killed', async () => {
      await stack.upstream.publishRaw('carrier.order.created', Buffer.from('{'));
      await untilListed(1);
      await using proxy = await cuttableProxy(stack.brokerUrl);
      const reader = await RejectedQueue.open(proxy);
      for await (const _rejected of reader.messages());
      const { code, stderr } = await waybell('rejected list');
      expect([code, stderr]).toEqual([1, expect.stringContaining('another command')]);
      await proxy.cut();
      await reader[Symbol.asyncDispose]();
      await untilListed(1);
    });
  });
}
