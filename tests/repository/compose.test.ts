import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { MAX_CONNECTIONS, SHARED_MEMORY } from '@waybell/stack/postgres';
import { BROKER_SETTINGS, DEAD_LETTER_TIMEOUT_MS } from '@waybell/stack/rabbitmq';
import { services } from '@waybell/stack/services';
import { repository } from '@waybell/stack/stack-folder';
import { parse } from 'yaml';
import { CLUSTER_SETTINGS } from '../testing/rabbitmq-cluster.ts';

type Service = {
  image: string;
  command?: string[];
  entrypoint?: string[];
  ports?: string[];
  environment?: Record<string, string>;
  container_name?: string;
  hostname?: string;
  logging?: { options: Record<string, string> };
  shm_size?: string;
};

const file = readFileSync(join(repository, 'docker-compose.yml'), 'utf8');
// The shape is the specification's, which the long suite has checked by docker compose itself.
const { services: composed, configs } = parse(file, { merge: true }) as {
  services: Record<string, Service>;
  configs: { rabbitmq: { content: string } };
};
const read = (path: string) => readFileSync(join(repository, path), 'utf8');
const ours = Object.entries(composed).filter(([, { image }]) => image === 'waybell');

describe('docker-compose.yml', () => {
  const folder = mkdtempSync(join(tmpdir(), 'waybell-compose-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('needs no variable but those that deploy/passwords.sh makes, each of them, for nobody else to read', () => {
    for (const path of ['docker-compose.yml', 'deploy/passwords.sh'])
      cpSync(join(repository, path), join(folder, path), { recursive: true });
    execFileSync('sh', [join(folder, 'deploy/passwords.sh')]);
    const lines = readFileSync(join(folder, '.env'), 'utf8').trim().split('\n');
    const made = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2)));
    const needed = [...file.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
    expect(needed.length).toBeGreaterThan(10);
    expect(new Set([...needed, 'SECRET_KEYS'])).toEqual(new Set(Object.keys(made)));
    expect(file.match(/\$\{\w+\}/g)).toBeNull();
    expect(new Set(Object.values(made)).size).toBe(Object.keys(made).length);
    expect(statSync(join(folder, '.env')).mode & 0o077).toBe(0);
    expect(readFileSync(join(folder, 'settings.env'), 'utf8')).toMatch(/^CALLBACK_ALLOW_HTTP=true$/m);
  });

  test('runs every service, and no file that is not there', () => {
    const programOf = ({ command, entrypoint }: Service) => command?.[0] ?? entrypoint?.[1] ?? '';
    const commands = Object.fromEntries(ours.map(([name, service]) => [name, programOf(service)]));
    const own = Object.fromEntries(services.map(({ name }) => [name, `services/${name}/main.ts`]));
    const cli = 'cli/main.ts';
    expect(commands).toEqual({ ...own, migrate: cli, declare: cli, cli });
    for (const path of Object.values(commands)) expect(existsSync(join(repository, path))).toBe(true);
  });

  test('can start any service but the API several times: none has a name or a port that only one can have', () => {
    const alone = ours.filter(([, { ports, container_name: name, hostname }]) => ports ?? name ?? hostname);
    expect(alone.map(([name]) => name)).toEqual(['subscription-api']);
  });

  test('has each of its services watched by the example of Prometheus, by all addresses of its name', () => {
    const example = readFileSync(join(repository, 'deploy/prometheus/prometheus.yml'), 'utf8');
    // Prometheus itself would report other faults.
    const { scrape_configs: jobs } = parse(example) as {
      scrape_configs: { job_name: string; dns_sd_configs?: { names: string[] }[] }[];
    };
    const names = services.map(({ name }) => name);
    const [asked] = jobs.find(({ job_name: name }) => name === 'waybell')?.dns_sd_configs ?? [];
    expect({ ...asked, names: asked?.names.toSorted() }).toEqual({ names: names.toSorted(), type: 'A', port: 9464 });
  });
});

describe('servers have the settings that the suite runs them with', () => {
  const settings = Object.entries(BROKER_SETTINGS).map(([name, value]) => `${name} = ${value}`);
  const notes = read('deploy/helm/waybell/templates/NOTES.txt');

  test.each([
    ['docker-compose.yml', configs.rabbitmq.content],
    ['docs/operating/rabbitmq.md', read('docs/operating/rabbitmq.md')],
    ["the chart's notes", notes.replaceAll(/, |RabbitMQ {2}/g, '\n')],
  ])('RabbitMQ in %s', (_where, text) => {
    const lines = text.split('\n').map((line) => line.trim());
    expect(settings.filter((setting) => !lines.includes(setting))).toEqual([]);
  });

  test('RabbitMQ of a cluster', () => {
    const lines = read('docs/operating/rabbitmq.md').split('\n');
    expect(CLUSTER_SETTINGS.filter((setting) => !lines.includes(setting))).toEqual([]);
  });

  test('and RabbitMQ stops its publishers while twice its write-ahead log still fits', () => {
    const bytes = 1_000_000 * Number.parseInt(BROKER_SETTINGS['disk_free_limit.absolute'], 10);
    expect(bytes).toBeGreaterThanOrEqual(2 * Number(BROKER_SETTINGS['raft.wal_max_size_bytes']));
  });

  test('expired retries that met no leader', () => {
    const { RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: args } = composed['rabbitmq']?.environment ?? {};
    expect(args).toBe(`-rabbit dead_letter_worker_publisher_confirm_timeout ${DEAD_LETTER_TIMEOUT_MS}`);
    expect(read('docs/operating/rabbitmq.md')).toContain(
      `{dead_letter_worker_publisher_confirm_timeout, ${DEAD_LETTER_TIMEOUT_MS}}`,
    );
  });

  test('Postgres', () => {
    const { command, shm_size: shared } = composed['postgres'] ?? {};
    expect(command).toEqual(['postgres', '-c', `max_connections=${MAX_CONNECTIONS}`]);
    expect(shared).toBe(SHARED_MEMORY);
    expect(notes).toContain(`max_connections=${MAX_CONNECTIONS}, and room for shared memory of ${SHARED_MEMORY}\n`);
    const counted = /^\| Postgres, `max_connections` \|(.*)\|$/m.exec(read('docs/operating/sizing.md'))?.[1] ?? '';
    expect(new Set(counted.split('|').map(Number))).toEqual(new Set([MAX_CONNECTIONS]));
  });
});

describe('a container', () => {
  test.each(Object.entries(composed))('%s has a log with an end', (_name, { logging }) => {
    expect(logging?.options).toEqual({
      'max-size': expect.stringMatching(/^\d+m$/),
      'max-file': expect.stringMatching(/^\d$/),
    });
  });
});
