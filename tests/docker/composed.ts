import { randomUUID } from 'node:crypto';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { CHROMIUM } from '@waybell/stack/programs';
import { services } from '@waybell/stack/services';
import { repository } from '@waybell/stack/stack-folder';
import { openBrowser } from '../testing/browser.ts';
import { clone, engine, folder, NEXT_IMAGE } from './stand.ts';

/** The first block of commands of that page after that text, line by line. */
function commandsOf(page: string, text: string): string[] {
  const [, part = ''] = readFileSync(join(repository, page), 'utf8').split(text);
  const [, commands] = /```sh\n(.*?)\n```/s.exec(part) ?? [];
  if (commands === undefined) throw new Error(`${page} has no commands after ${text}`);
  return commands.split('\n');
}

export function composed(): void {
  describe('docker-compose.yml, as the README starts it,', () => {
    /** Output and variables of the README's commands. */
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

    const typed = (commands: string[]) => engine.inside('sh', ['-euc', commands.join('\n')], { cwd: clone });
    const shown = commandsOf('README.md', '## With Docker alone\n');

    beforeAll(async () => {
      // The last ends it all.
      said = await typed([...shown.slice(0, -1), 'set']);
    });

    afterAll(async () => {
      await typed(shown.slice(-1));
      expect(await compose('ps', '--all', '--quiet')).toBe('');
      await compose('down', '--volumes');
    });

    test('delivers, and says so', async () => {
      expect(said).toContain('{"action":"order.created"');
      await untilReceived(await publish(1));
      const states = await cli('status');
      for (const { name } of services) expect(states).toMatch(new RegExp(`^${name} +ready`, 'm'));
      const [delivery = ''] = /[0-9a-f-]{36}(?= +→)/.exec(said) ?? [];
      await until('it is told of', async () => (await cli('why', delivery)).includes('delivered after 1 attempt'));
    });

    test('reaches a receiver on the machine itself', async () => {
      const once =
        'http.createServer(({ url }, answer) => answer.end(() => { console.log(url); process.exit(); })).listen(3000)';
      const receiving = engine.inside(process.execPath, ['--eval', once]);
      const asked = ['--header', `Authorization: Bearer ${variable('TOKEN')}`, '--json'];
      const body = '{"callback_url":"http://host.docker.internal:3000/here"}';
      const api = 'http://127.0.0.1:8080/v1/webhooks/order.updated/subscriptions/';
      await engine.inside('curl', ['--fail', '--silent', '--show-error', api, ...asked, body]);
      await cli('trigger', 'order.updated', '--token', variable('TOKEN'));
      expect(await receiving).toBe('/here');
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
      const subscription = opened.page.getByText('order.created').first();
      await subscription.waitFor();
      expect(await opened.page.title()).toContain('Waybell');
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

    test('works again when its passwords and its key are lost', async () => {
      rmSync(join(clone, '.env'));
      await typed(['sh deploy/passwords.sh', ...commandsOf('docs/operating/docker.md', '**`.env` is lost.**')]);
      await untilReceived(await publish(1));
    });
  });
}
