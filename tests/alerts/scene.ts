import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { freePort } from '@waybell/stack/free-port';
import { rabbitmqctl } from '@waybell/stack/rabbitmqctl';
import { repository } from '@waybell/stack/stack-folder';
import type { ProcessSpec } from '@waybell/stack/supervised-process';
import type { Receiver } from '../testing/receiver.ts';
import type { TestStack } from '../testing/test-stack.ts';
import { hastened, readRules, type Instead } from './alert-rules.ts';
import { Prometheus } from './prometheus.ts';

/** A whole system, a receiver of what it sends, and a Prometheus that watches it as the example does. */
export type Scene = {
  stack: TestStack;
  receiver: Receiver;
  prometheus: Prometheus;
  node: ProcessSpec;
  /** What is published in the course of a cause: none of it outlives that. */
  loads: Set<Disposable>;
};

type Scrape = { job_name: string; static_configs: { targets: string[] }[] };
type Configuration = { global: object; scrape_configs: Scrape[] };

const EACH_SECOND = { scrape_interval: '1s', evaluation_interval: '1s' };

/** Has a Prometheus watch these services and these nodes of RabbitMQ, whose metrics are on those ports. */
export async function watch(stack: TestStack, ports: readonly number[], instead: Instead): Promise<Prometheus> {
  const example = parse(readFileSync(join(repository, 'deploy/prometheus/prometheus.yml'), 'utf8')) as Configuration;
  const services = stack.stack.services.map(({ spec }) => new URL(spec.health ?? '').host);
  const brokers = ports.map((port) => `127.0.0.1:${port}`);
  const jobs = example.scrape_configs.map((job) => ({
    ...job,
    static_configs: [{ targets: job.job_name.startsWith('rabbitmq') ? brokers : services }],
  }));
  return Prometheus.start({ ...example, global: EACH_SECOND, scrape_configs: jobs }, hastened(readRules(), instead));
}

/** Has a running node show its metrics, on loopback, until it stops; resolves with the port. */
export async function showMetrics(node: ProcessSpec): Promise<number> {
  const port = await freePort({ taken: new Set() });
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
