import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { until } from '@waybell/runtime/testing/until';
import { firstExecutable, foldersOnPath, installPackages } from '@waybell/stack/programs';
import { freePort } from '@waybell/stack/ports';
import { serverEnvironment } from '@waybell/stack/private-server';
import type { SupervisedProcess } from '@waybell/stack/supervised-process';
import { nameOfRule } from './alert-rules.ts';
import { startProgram } from '../testing/start-program.ts';

const STARTING_MS = 60_000;

/** An alert as Prometheus has it now; one that is not here is quiet. */
type Raised = { labels: { alertname: string; cause?: string }; state: 'pending' | 'firing' };
type RuleHealth = { name: string; health: string; lastError?: string };
type Targets = { activeTargets: { health: string }[] };
type Groups = { groups: { rules: RuleHealth[] }[] };

/** A Prometheus of a test's own, on loopback, in memory of its folder. */
export class Prometheus implements AsyncDisposable {
  readonly #process: SupervisedProcess;
  readonly #home: string;
  readonly #url: string;

  private constructor(process: SupervisedProcess, { home, url }: { home: string; url: string }) {
    this.#process = process;
    this.#home = home;
    this.#url = url;
  }

  /** Resolves when it answers. `rules` lies beside the configuration as `waybell-alerts.yml`. */
  static async start(configuration: object, rules: object): Promise<Prometheus> {
    const home = await mkdtemp(join(tmpdir(), 'waybell-prometheus-'));
    await writeFile(join(home, 'prometheus.yml'), stringify(configuration));
    await writeFile(join(home, 'waybell-alerts.yml'), stringify(rules));
    const port = await freePort({ taken: new Set() });
    const url = `http://127.0.0.1:${port}`;
    const process = await startProgram({
      name: 'prometheus',
      command: await programOf('prometheus'),
      args: [
        `--config.file=${join(home, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(home, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      env: serverEnvironment({ HOME: home }),
      cwd: home,
      port,
      waitsFor: async () => ((await isReady(url)) ? undefined : 'an answer'),
      readyMs: STARTING_MS,
    });
    return new Prometheus(process, { home, url });
  }

  /** Waits until it has seen figures of all that it watches. */
  async untilWatching(): Promise<void> {
    await until('Prometheus has seen all', async () => {
      const { activeTargets } = await this.#ask<Targets>('targets');
      return activeTargets.length > 0 && activeTargets.every(({ health }) => health === 'up');
    });
  }

  /** The names of the rules that fire now. */
  async firing(): Promise<string[]> {
    const { alerts } = await this.#ask<{ alerts: Raised[] }>('alerts');
    const firing = alerts.filter(({ state }) => state === 'firing');
    return [...new Set(firing.map(({ labels }) => nameOfRule(labels.alertname, labels.cause)))];
  }

  async untilFiring(alerts: readonly string[]): Promise<void> {
    const seen = new Set<string>();
    await until(`${alerts.join(', ')} fire`, async () => {
      for (const alert of await this.firing()) seen.add(alert);
      const missing = alerts.filter((alert) => !seen.has(alert));
      if (missing.length > 0) throw new Error(`not yet: ${missing.join(', ')}`);
      return true;
    });
  }

  /** Waits until none of these alerts fires, or none at all, for as long as the figure changes. */
  async untilQuiet(alerts: readonly string[] | undefined, figure: () => number): Promise<void> {
    const look = async () => {
      const firing = (await this.firing()).filter((alert) => alerts?.includes(alert) ?? true);
      if (firing.length > 0) throw new Error(`still: ${firing.join(', ')}`);
      return true;
    };
    await until(`${alerts?.join(', ') ?? 'alerts'} fire no more`, look, figure);
  }

  /** What Prometheus could not evaluate, and why. */
  async unsound(): Promise<string[]> {
    const { groups } = await this.#ask<Groups>('rules');
    const rules = groups.flatMap((group) => group.rules);
    return rules.flatMap(({ name, health, lastError }) => (health === 'ok' ? [] : [`${name}: ${health} ${lastError}`]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.stop();
    await rm(this.#home, { recursive: true, force: true });
  }

  async #ask<T>(path: string): Promise<T> {
    const response = await fetch(`${this.#url}/api/v1/${path}`);
    // Prometheus' API is what it is documented to be.
    const { data } = (await response.json()) as { data: T };
    return data;
  }
}

/** A program of Debian's package `prometheus`, which is installed where it is missing. Throws where it cannot be. */
export async function programOf(name: 'prometheus' | 'promtool'): Promise<string> {
  const look = () => firstExecutable(name, foldersOnPath());
  const report = (line: string) => process.stderr.write(`${line}\n`);
  const found = look() ?? ((await installPackages(['prometheus'], report)) ? look() : undefined);
  if (found === undefined) throw new Error(`found no ${name} on this machine: install Debian's package prometheus`);
  return found;
}

async function isReady(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/-/ready`).catch(() => undefined);
  return answer?.ok === true;
}
