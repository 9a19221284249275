import { randomUUID } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { CHROMIUM } from '@waybell/stack/find-chromium';
import { services } from '@waybell/stack/services';
import { repository } from '@waybell/stack/stack-folder';
import { openBrowser } from '../testing/browser.ts';
import { clone, engine, folder, NEXT_IMAGE } from './stand.ts';

/** The block of commands of that part of the README. */
function commandsOf(heading: string): string {
  const [, part = ''] = readFileSync(join(repository, 'README.md'), 'utf8').split(`## ${heading}\n`);
  const [, commands] = /```sh\n(.*?)```/s.exec(part) ?? [];
  if (commands === undefined) throw new Error(`the README has no commands under ${heading}`);
  return commands;
}

export function composed(): void {
  describe('docker-compose.yml, as the README starts it,', () => {
    /** What the commands of the README have said, and the variables that they have set. */
    let said = '';
    let published = 1_000;
    const compose = (...args: string[]) => engine.inside('docker', ['compose', ...args], { cwd: clone });
    const cli = (...args: string[]) => compose('run', '--rm', '-T', 'cli', ...args);
    const variable = (name: string) => new RegExp(`^${name}='?(.*?)'?$`, 'm').exec(said)?.[1] ?? '';
    const passwords = () => readFileSync(join(clone, '.env'), 'utf8');
    const received = async () => engine.docker('logs', 'receiver');
    const containersOf = async (name: string) => (await compose('ps', '--quiet', name)).split('\n');

    /** Publishes as upstream does, from outside; resolves with how each body has its order. */
    async function publish(count: number): Promise<string[]> {
      const [, password] = /^RABBITMQ_UPSTREAM_PASSWORD=(.*)$/m.exec(passwords()) ?? [];
      const ids = Array.from({ length: count }, () => (published += 1));
      const events = ids.map((id) => ({
        guid: randomUUID(),
        interface: 'carrier',
        action: 'order.created',
        occurred_at: '2026-11-20T09:30:00.123456Z',
        parties: { carrier: variable('ACCOUNT') },
        payload: { id, status: 'new' },
      }));
      const env = { AMQP_URL: `amqp://waybell-upstream:${password}@127.0.0.1:5672` };
      const input = events.map((event) => `${JSON.stringify(event)}\n`).join('');
      await engine.inside(process.execPath, [join(repository, 'cli/main.ts'), 'publish'], { env, input });
      return ids.map((id) => `"data":{"id":${id},`);
    }

    const untilReceived = async (orders: string[]) =>
      until(`${orders.length} orders are received`, async () => {
        const bodies = await received();
        return orders.every((order) => bodies.includes(order));
      });

    beforeAll(async () => {
      const script = `${commandsOf('With Docker alone')}\nset`;
      said = await engine.inside('sh', ['-euc', script], { cwd: clone });
    });

    afterAll(async () => {
      await engine.docker('rm', '--force', 'receiver').catch(() => undefined);
      await compose('down', '--volumes');
    });

    test('delivers, and says so', async () => {
      await until('the example is received', async () => (await received()).includes('"action":"order.created"'));
      await untilReceived(await publish(1));
      const states = await cli('status');
      for (const { name } of services) expect(states).toMatch(new RegExp(`^${name} +ready`, 'm'));
      const [delivery = ''] = /[0-9a-f-]{36}(?= +→)/.exec(said) ?? [];
      await until('it is told of', async () => (await cli('why', delivery)).includes('delivered after 1 attempt'));
    });

    test('shows its console in a browser', async () => {
      const launch = join(folder, 'chromium');
      const found = process.env[CHROMIUM] ?? '';
      writeFileSync(launch, `#!/bin/sh\nexec ${[...engine.entering, found].join(' ')} "$@"\n`);
      chmodSync(launch, 0o755);
      process.env[CHROMIUM] = launch;
      await using browser = await openBrowser();
      process.env[CHROMIUM] = found;
      const origin = 'http://127.0.0.1:8080';
      await using opened = await browser.newPage({ origin, timezone: 'UTC' });
      await opened.page.goto(`${origin}/console/`);
      await opened.page.getByLabel('Token').fill(variable('TOKEN'));
      await opened.page.keyboard.press('Enter');
      await opened.page.getByText('order.created').first().waitFor();
    });

    test('gives its processes no rights, no shell, and nothing to write to', async () => {
      for (const { name } of services) {
        const [container = ''] = await containersOf(name);
        const status = await engine.docker(
          'exec',
          container,
          'node',
          '--print',
          "fs.readFileSync('/proc/1/status', 'utf8')",
        );
        expect(status).toMatch(/^CapBnd:\s0+$/m);
        expect(status).toMatch(/^NoNewPrivs:\s1$/m);
        expect(await engine.docker('inspect', '--format', '{{.HostConfig.ReadonlyRootfs}}', container)).toBe('true');
        await expect(engine.docker('exec', container, 'sh', '-c', 'id')).rejects.toThrow('sh');
      }
    });

    test('loses nothing when each service is killed, and starts it again', async () => {
      const orders: string[] = [];
      for (const { name } of services) {
        const [container = ''] = await containersOf(name);
        const pid = await engine.docker('inspect', '--format', '{{.State.Pid}}', container);
        const kill = ['--eval', `process.kill(${pid}, 'SIGKILL')`];
        orders.push(...(await publish(20)));
        await engine.docker('run', '--rm', '--pid', 'host', '--user', '0', 'waybell', ...kill);
      }
      await untilReceived(orders);
      await until('all are ready', async () => {
        const states = await cli('status');
        return services.every(({ name }) => new RegExp(`^${name} +ready`, 'm').test(states));
      });
    });

    test('is upgraded while events are published', async () => {
      await engine.docker('tag', NEXT_IMAGE, 'waybell');
      const upgrading = compose('up', '--wait');
      const orders: string[] = [];
      let isUpgraded = false;
      void upgrading.finally(() => (isUpgraded = true)).catch(() => undefined);
      while (!isUpgraded) orders.push(...(await publish(5)));
      await upgrading;
      await untilReceived(orders);
      for (const { name } of services) {
        const [container = ''] = await containersOf(name);
        const version = '{{index .Config.Labels "org.opencontainers.image.version"}}';
        expect(await engine.docker('inspect', '--format', version, container)).toBe('1.2.4');
      }
    });

    test('has everything again after down and up', async () => {
      await compose('down');
      await compose('up', '--wait');
      await untilReceived(await publish(1));
    });
  });
}
