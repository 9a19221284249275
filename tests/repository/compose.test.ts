import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { services } from '@waybell/stack/services';
import { repository } from '@waybell/stack/stack-folder';
import { parse } from 'yaml';

type Service = {
  image: string;
  command?: string[];
  entrypoint?: string[];
  ports?: string[];
  container_name?: string;
  hostname?: string;
};

const file = readFileSync(join(repository, 'docker-compose.yml'), 'utf8');
// The shape is the specification's, which the long suite has checked by docker compose itself.
const composed = (parse(file, { merge: true }) as { services: Record<string, Service> }).services;
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
