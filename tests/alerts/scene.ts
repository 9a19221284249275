import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { freePort } from '@waybell/stack/ports';
import { rabbitmqctl } from '@waybell/stack/rabbitmqctl';
import { repository } from '@waybell/stack/stack-folder';
import type { ProcessSpec } from '@waybell/stack/supervised-process';
import { Receiver } from '../testing/receiver.ts';
import { TestStack } from '../testing/test-stack.ts';
import { hastened, readRules, type Instead } from './alert-rules.ts';
import { Prometheus } from './prometheus.ts';
import type { Place } from './show-runbook.ts';

/** A whole system, a receiver of what it sends, and a Prometheus that watches it as the example does. */
export type Scene = Place & {
  receiver: Receiver;
  prometheus: Prometheus;
  /** What is published in the course of a cause: none of it outlives that. */
  loads: Set<Disposable>;
};

/** As many receivers as it takes to tell our own way out from theirs. */
const HOSTS = Array.from({ length: 12 }, (_, number) => `127.0.0.${number + 10}`);

type Scrape = { job_name: string; dns_sd_configs?: object };
type Configuration = { global: object; scrape_configs: Scrape[] };

// oxlint-disable-next-line fixtures/no-like-values -- one rhythm for both
const EACH_SECOND = { scrape_interval: '1s', evaluation_interval: '1s' };

/** A system of one server of each kind, its alerts with these limits. `ended` takes it down. */
export async function setScene(
  ended: AsyncDisposableStack,
  { settings, instead }: { settings: Record<string, string>; instead: Instead },
): Promise<Scene> {
  const stack = ended.use(await TestStack.startAlone(settings));
  const [node, postgres] = (['rabbitmq', 'postgres'] as const).map((name) => stack.stack.servers.process(name).spec);
  if (node === undefined || postgres === undefined) throw new Error('it has no servers');
  return { ...(await observe(ended, { stack, instead, ports: [await showMetrics(node)] })), node, postgres };
}

type Observed = { stack: TestStack; instead: Instead; ports: readonly number[] };

/** A receiver of what a system sends, and a Prometheus that watches it and the nodes whose metrics are on these ports. */
export async function observe(ended: AsyncDisposableStack, { stack, ...how }: Observed) {
  const receiver = ended.use(await Receiver.start(HOSTS));
  const prometheus = ended.use(await watch(stack, how.ports, how.instead));
  // A node that it never saw is not missed.
  await prometheus.untilWatching();
  return { stack, receiver, prometheus, loads: new Set<Disposable>() };
}

/** Has a Prometheus watch these services and these nodes of RabbitMQ, whose metrics are on those ports. */
async function watch(stack: TestStack, ports: readonly number[], instead: Instead): Promise<Prometheus> {
  const example = parse(readFileSync(join(repository, 'deploy/prometheus/prometheus.yml'), 'utf8')) as Configuration;
  const services = stack.stack.services.map(({ spec }) => new URL(spec.health ?? '').host);
  const brokers = ports.map((port) => `127.0.0.1:${port}`);
  const jobs = example.scrape_configs.map(({ dns_sd_configs: _names, ...job }) => ({
    ...job,
    static_configs: [{ targets: job.job_name.startsWith('rabbitmq') ? brokers : services }],
  }));
  return Prometheus.start({ ...example, global: EACH_SECOND, scrape_configs: jobs }, hastened(readRules(), instead));
}

/** Has a running node show its metrics, on loopback, until it stops; resolves with the port, where it is not told one. */
export async function showMetrics(node: ProcessSpec, known?: number): Promise<number> {
  const port = known ?? (await freePort({ taken: new Set() }));
  const where = `[{ip, "127.0.0.1"}, {port, ${port}}]`;
  // Enabled as a plugin it would be started again with the node, before it could be told where to listen.
  const said = await rabbitmqctl(
    node,
    'eval',
    `application:load(rabbitmq_prometheus), application:set_env(rabbitmq_prometheus, tcp_config, ${where}),
     application:ensure_all_started(rabbitmq_prometheus).`,
  );
  if (!said.includes('{ok,')) throw new Error(`RabbitMQ shows no metrics: ${said}`);
  return port;
}
