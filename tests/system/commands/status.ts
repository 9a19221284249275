import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { declareTopology } from '@waybell/line/operating/declare';
import { brokerUser } from '@waybell/line/line-topology';
import { rejectedQueue, routerQueue } from '@waybell/line/topology';
import { asUser } from '@waybell/runtime/local-passwords';
import { borrowVhost } from '@waybell/runtime/testing/borrow';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { freePort } from '@waybell/stack/ports';
import { identify } from '@waybell/stack/process-identity';
import { topologyOf } from '@waybell/stack/prepare';
import { queueDepths } from '@waybell/stack/queue-depths';
import { stackFolder } from '@waybell/stack/stack-folder';
import { entryOf, writeState, type ProcessEntry } from '@waybell/stack/stack-state';
import { stack } from '../stand.ts';
import { waybell } from './run.ts';

export function status(): void {
  describe('status', () => {
    const folder = mkdtempSync(join(tmpdir(), 'waybell-status-'));
    afterAll(() => rmSync(folder, { recursive: true }));

    let broker: string;
    let database: string;
    let services: Record<string, string>;
    /** Secrets that no answer may contain. */
    let passwords: string[];
    const passwordOf = (url: string) => new URL(url).password;

    beforeAll(async () => {
      broker = asUser(brokerUser('operator'), stack.brokerUrl);
      database = stack.stack.servers.url('postgres');
      passwords = [passwordOf(stack.brokerUrl), passwordOf(broker), passwordOf(database), 'sesame'];
      services = {
        METRICS_URLS: stack.stack.addresses['METRICS_URLS'] ?? '',
        ...stack.stack.service('deliverer').spec.env,
      };
      await stack.upstream.publishRaw('carrier.order.created', Buffer.from('['));
      await until('a queue holds something', async () => {
        const [state] = (await queueDepths({ url: stack.brokerUrl }, [rejectedQueue])) ?? [];
        return (state?.messages ?? 0) > 0;
      });
    });

    /** With the services' own delays, which name queues. */
    async function ask(args: string, env: Record<string, string>) {
      const { METRICS_URLS = '', SHIPPER_RETRY_DELAYS = '', CARRIER_RETRY_DELAYS = '' } = services;
      const delays = { SHIPPER_RETRY_DELAYS, CARRIER_RETRY_DELAYS };
      const ended = await waybell(args, { env: { METRICS_URLS, ...delays, ...env } });
      for (const password of passwords) expect(ended.stdout + ended.stderr).not.toContain(password);
      return ended;
    }
    const inFile = (name: string, content: string) => {
      writeFileSync(join(folder, name), `${content}\n`);
      return join(folder, name);
    };

    test('tells of the servers and services that the environment names, with the rights of an operator', async () => {
      const { code, stdout } = await ask('status', {
        AMQP_URL: '',
        AMQP_URL_FILE: inFile('broker', broker),
        DATABASE_URL: '',
        DATABASE_URL_FILE: inFile('database', database),
      });
      expect(stdout).toMatch(/^rabbitmq +ready +amqp:\/\/\S+:\d+$/m);
      expect(stdout).toMatch(/^postgres +ready +postgres:\/\/\S+:\d+$/m);
      expect(stdout).toMatch(/^event-router +ready +http:\/\/127\.0\.0\.1:\d+$/m);
      expect(stdout).toMatch(/^waybell\.rejected +\d+ messages? +see \.\/waybell rejected list$/m);
      expect(stdout).toMatch(/^\d+ of \d+ queues are empty$/m);
      expect(stdout).toMatch(/^waiting for endpoints: /m);
      expect(stdout).toMatch(/^the tables are those of release \d+\.\d+\.\d+$/m);
      expect(stdout).not.toContain('not there');
      expect(stdout).not.toContain('without a service');
      expect(code).toBe(0);
    });

    test('names queues that should be there and are not, and says where no services are named', async () => {
      const { code, stdout } = await ask('status', { METRICS_URLS: '', CARRIER_RETRY_DELAYS: '17s' });
      expect(stdout).toMatch(/^not there \(\.\/waybell declare makes them\): waybell\.retry\.carrier\S+, /m);
      expect(stdout).toContain('METRICS_URLS names no services');
      expect(code).toBe(0);
    });

    test('calls no queue empty that has no consumer, though a service is to take from it', async () => {
      const { url } = await borrowVhost();
      const { exchanges, queues } = topologyOf(services);
      await declareTopology(
        { url },
        { exchanges, queues: queues.filter(({ name }) => [routerQueue, rejectedQueue].includes(name)) },
      );
      // If RabbitMQ is slow to report an empty queue, the report about the rejected queue is not believed either.
      const { code, stdout } = await until('it believes RabbitMQ of one of them', async () => {
        const said = await ask('status', { AMQP_URL: url });
        return said.stdout.includes('1 of 2 queues are empty') && said;
      });
      expect(stdout).toMatch(/^without a service that takes from them, or without a leader: waybell\.events\.router$/m);
      expect(code).toBe(0);
    });

    test('says what cannot be read and why where RabbitMQ is down, tells the rest, and fails', async () => {
      const place = `127.0.0.1:${await freePort({ taken: new Set() })}`;
      const env = { AMQP_URL: `amqp://waybell-operator:open@sesame@${place}` };
      const [{ code, stdout }, { stdout: json }] = await Promise.all([ask('status', env), ask('status --json', env)]);
      expect(stdout).toMatch(/^rabbitmq +unreachable +amqp:/m);
      expect(stdout).toContain(
        `the queues cannot be read: RabbitMQ at ${place}, which AMQP_URL names, cannot be reached`,
      );
      expect(stdout).toMatch(/^waiting for RabbitMQ: /m);
      expect(code).toBe(1);
      expect(JSON.parse(json)).toMatchObject({
        queues: null,
        missing: [],
        waiting: { endpoints: expect.any(Object), destinations: expect.any(Object) },
      });
    });

    test('says so where Postgres refuses the user, or is not named', async () => {
      const refused = new URL(database);
      refused.password = 'open-sesame';
      const [{ code, stdout }, { code: unnamed, stdout: json }] = await Promise.all([
        ask('status', { DATABASE_URL: refused.href }),
        ask('status --json', { DATABASE_URL: '' }),
      ]);
      expect(stdout).toMatch(/^what waits cannot be read: Postgres at .* refuses the user/m);
      expect(stdout).toContain('queues are empty');
      expect(code).toBe(1);
      expect(JSON.parse(json)).toMatchObject({
        waiting: null,
        troubles: ['what waits cannot be read: DATABASE_URL is not set'],
      });
      expect(unnamed).toBe(1);
    });

    test('is of the stack where that is what the environment names, and has the same members', async () => {
      const home = mkdtempSync(join(folder, 'home-'));
      const supervisor = identify(process.pid);
      if (supervisor === undefined) throw new Error('this process is not alive');
      const { addresses, queues, services: running } = stack.stack;
      const began = new Date(wallClockMs()).toISOString();
      const own = { AMQP_URL: addresses['AMQP_URL'] ?? '', DATABASE_URL: addresses['DATABASE_URL'] ?? '' };
      const processes: ProcessEntry[] = [
        { name: 'epmd', role: 'server', state: 'ready', address: '127.0.0.1:4369', identity: supervisor },
        { name: 'rabbitmq', role: 'server', state: 'external', address: own.AMQP_URL },
        ...running.map(entryOf),
      ];
      writeState(stackFolder(home), { supervisor, phase: 'ready', began, addresses, processes, queues });
      const [ofStack, ofServers] = await Promise.all(
        [{ ...own, WAYBELL_HOME: home }, own].map(async (env) => {
          const { stdout } = await ask('status --json', env);
          return JSON.parse(stdout) as Record<string, unknown>; // A command's answer.
        }),
      );
      expect(ofStack).toMatchObject({
        home,
        supervisor: { pid: process.pid, state: 'ready' },
        missing: [],
        troubles: [],
      });
      for (const each of [
        { name: 'epmd', address: '127.0.0.1:4369', pid: process.pid },
        { name: 'rabbitmq', state: 'ready', address: `amqp://${new URL(own.AMQP_URL).host}` },
        { name: 'deliverer', state: 'ready', pid: expect.any(Number) },
      ])
        expect(ofStack?.['processes']).toContainEqual(expect.objectContaining(each));
      expect(ofServers).toMatchObject({ home: null, supervisor: null, missing: [], troubles: [] });
      expect(Object.keys(ofServers ?? {})).toEqual(Object.keys(ofStack ?? {}));
    });
  });
}
