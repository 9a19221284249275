import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { PROCESSES } from '@waybell/cli/docs/chart/chart-files';
import { readConfig as deactivator } from '@waybell/deactivator/config';
import { readConfig as deliverer } from '@waybell/deliverer/config';
import { aSelfSignedCertificate } from '@waybell/runtime/testing/certificate';
import { readConfig as deliveryLog } from '@waybell/delivery-log-service/config';
import { readConfig as eventRouter } from '@waybell/event-router/config';
import { selectActions } from '@waybell/line/line-topology';
import { readConfig as locationTracker } from '@waybell/location-tracker/config';
import { readEnvironment } from '@waybell/runtime/environment';
import { isForbiddenAddress, readNetworks } from '@waybell/runtime/networks';
import { serveHealth } from '@waybell/runtime/health';
import { createMetrics } from '@waybell/runtime/metrics';
import { processSettings } from '@waybell/runtime/settings';
import { brokerOf, databaseOf } from '@waybell/stack/address-of';
import { topologyOf } from '@waybell/stack/prepare';
import { repository } from '@waybell/stack/stack-folder';
import { readConfig as subscriptionApi } from '@waybell/subscription-api/config';
import { sharedFolder } from '@waybell/runtime/testing/shared';
import { readExpression } from '../repository/read-expression.ts';
import { readGolden, RENDER, sealOf } from './golden.ts';
import { VALUES } from './values.ts';

const golden = (name: string) => parseAllDocuments(readGolden(name).text).map((each) => each.toJSON());
const minimal = golden('minimal');
const everything = golden('everything');
const ofKind = (kind: string, objects = everything) => objects.filter((each) => each.kind === kind);
const containerOf = ({ spec }: { spec: { template: { spec: { containers: [Container] } } } }) =>
  spec.template.spec.containers[0];

type Container = {
  name: string;
  args: string[];
  env: { name: string; value: string }[];
  ports?: { name: string; containerPort: number }[];
};

/** How each process reads its settings. */
const READS: Record<string, (env: NodeJS.ProcessEnv) => unknown> = {
  deactivator,
  declare: (env) => [brokerOf(env), topologyOf(env)],
  deliverer,
  'delivery-log': deliveryLog,
  'event-router': eventRouter,
  'location-tracker': locationTracker,
  migrate: databaseOf,
  'subscription-api': subscriptionApi,
};

const own = aSelfSignedCertificate({ name: 'waybell' });

/** Contents of an operator's Secrets and ConfigMaps. */
const KEPT: Record<string, string> = {
  ADMIN_AMQP_URL: 'amqps://waybell-operator:secret@rabbitmq',
  TLS_KEY: own.key,
  AMQP_URL: 'amqps://user:secret@rabbitmq',
  DATABASE_URL: 'postgres://user:secret@postgres/waybell?sslmode=verify-full',
  REDIS_URL: 'rediss://:secret@redis',
  SECRET_KEYS: `2026a:${Buffer.alloc(32).toString('base64')}`,
};

const folder = sharedFolder('chart');

/** The environment of a container, with its files where this process can read them. */
function environmentOf(workload: (typeof everything)[number]): Record<string, string> {
  const { volumes } = workload.spec.template.spec;
  const [{ projected }] = volumes;
  const files: string[] = projected.sources.flatMap((source: Record<string, { items: { path: string }[] }>) =>
    Object.values(source).flatMap(({ items }) => items.map(({ path }) => path)),
  );
  for (const file of files) writeFileSync(join(folder, file), KEPT[file] ?? own.cert);
  const { env } = containerOf(workload);
  expect(env.filter(({ name }) => name.endsWith('_FILE')).map(({ value }) => value)).toEqual(
    files.toSorted().map((file) => `/etc/waybell/${file}`),
  );
  return Object.fromEntries(env.map(({ name, value }) => [name, value.replace('/etc/waybell', folder)]));
}

const workloads = Object.entries({ minimal, everything }).flatMap(([values, objects]) =>
  [...ofKind('Deployment', objects), ...ofKind('Job', objects)].map((workload) => ({
    name: `${workload.metadata.name} (${values})`,
    process: containerOf(workload).name,
    workload,
  })),
);

test.each(Object.keys(VALUES))(
  `the chart with %s values was rendered as it is; else render it again: ${RENDER}`,
  (name) => {
    const { seal, text } = readGolden(name);
    expect(seal).toBe(sealOf(text));
  },
);

describe('a container of the chart', () => {
  test.each(workloads)('$name runs a program that there is', ({ workload }) => {
    const [program = ''] = containerOf(workload).args;
    expect(existsSync(join(repository, program))).toBe(true);
  });

  test.each(workloads)(
    '$name is given settings that its process reads, and all that it needs',
    ({ process, workload }) => {
      const environment = environmentOf(workload);
      const known = Object.keys(PROCESSES[process] ?? {});
      const given = Object.keys(environment).map((name) => name.replace(/_FILE$/, ''));
      expect(given.filter((name) => !known.includes(name))).toEqual(process === 'deliverer' ? extra(workload) : []);
      expect(() => READS[process]?.(environment)).not.toThrow();
    },
  );

  test.each(workloads)('$name is left more time to stop than it takes', ({ process, workload }) => {
    const { terminationGracePeriodSeconds, containers } = workload.spec.template.spec;
    const waitsSeconds = containers[0].lifecycle?.preStop.sleep.seconds ?? 0;
    const leftSeconds = (terminationGracePeriodSeconds ?? 30) - waitsSeconds;
    // A job holds nothing.
    const graceMs = process in jobs ? 0 : shutdownGraceMs(environmentOf(workload));
    expect(leftSeconds).toBeGreaterThanOrEqual(graceMs / 1_000 + 5);
  });
});

const jobs = parse(readFileSync(join(repository, 'deploy/helm/waybell/values.yaml'), 'utf8')).jobs;

const { SHUTDOWN_GRACE } = processSettings;
const shutdownGraceMs = (env: NodeJS.ProcessEnv) => readEnvironment({ SHUTDOWN_GRACE }, env).SHUTDOWN_GRACE;

/** Variables of Node.js, which are no settings. */
const extra = (workload: object) => (JSON.stringify(workload).includes('NODE_EXTRA') ? ['NODE_EXTRA_CA_CERTS'] : []);

describe('the ports of the chart', () => {
  const apis = ofKind('Deployment').filter((each) => containerOf(each).name === 'subscription-api');
  const portsOf = (container: Container) =>
    Object.fromEntries((container.ports ?? []).map(({ name, containerPort }) => [name, containerPort]));

  test('are those that the services listen on', () => {
    expect(apis).toHaveLength(1);
    for (const api of apis) {
      const { process, listen, listenAdmin } = subscriptionApi(environmentOf(api));
      const listens = { metrics: process.HEALTH_PORT, http: listen.port, operators: listenAdmin?.port };
      expect(portsOf(containerOf(api))).toEqual(listens);
    }
  });

  test('are named so wherever a Service leads to them', () => {
    const services = ofKind('Service').flatMap(({ spec }) => spec.ports);
    const named = Object.entries(portsOf(containerOf(apis[0])));
    for (const { port, targetPort } of services) expect(named).toContainEqual([targetPort, port]);
    expect(services).toHaveLength(3);
  });

  test('answer probes', async () => {
    const metrics = createMetrics('test');
    await using health = await serveHealth({
      host: '127.0.0.1',
      port: 0,
      readiness: { waitingFor: () => [] },
      metrics,
    });
    const probes = ofKind('Deployment').flatMap((each) =>
      Object.entries(containerOf(each)).flatMap(([name, value]) =>
        name.endsWith('Probe') ? [(value as unknown as { httpGet: { path: string } }).httpGet.path] : [],
      ),
    );
    expect(new Set(probes)).toEqual(new Set(['/livez', '/readyz']));
    for (const path of new Set(probes))
      expect((await fetch(`http://127.0.0.1:${health.port}${path}`)).status).toBe(200);
  });
});

describe('names', () => {
  test.each(workloads)('are looked up by $name as they are, before any search list', ({ workload }) => {
    const { dnsConfig } = workload.spec.template.spec;
    expect(dnsConfig).toEqual({ options: [{ name: 'ndots', value: '1' }] });
  });

  test('are asked for where name servers listen, those of OpenShift too', () => {
    const [dns] = ofKind('NetworkPolicy', minimal).find(({ metadata }) => metadata.name === 'waybell-all').spec.egress;
    const ports = [53, 5353].flatMap((port) => ['UDP', 'TCP'].map((protocol) => ({ port, protocol })));
    expect(dns.ports).toEqual(ports);
  });
});

describe('autoscaling', () => {
  const alerts = readFileSync(join(repository, 'deploy/prometheus/waybell-alerts.yml'), 'utf8');
  const queues = topologyOf({}).queues.map(({ name }) => name);
  const scaled = ofKind('ScaledObject').map(({ metadata, spec }) => ({
    name: metadata.name,
    target: spec.scaleTargetRef.name,
    queries: spec.triggers.map((trigger: { metadata: { query: string } }) => trigger.metadata.query),
    least: spec.minReplicaCount,
  }));
  const asked = (query: string) => {
    const [, pattern = ''] = /queue=~"([^"]*)"/.exec(query) ?? [];
    return queues.filter((queue) => new RegExp(`^(?:${pattern.replaceAll('\\\\', '\\')})$`).test(queue));
  };

  test.each(scaled)('of $name asks Prometheus for figures that alerts know too', ({ queries }) => {
    for (const query of queries) for (const metric of readExpression(query).metrics) expect(alerts).toContain(metric);
  });

  test.each(scaled)('of $name never stops all, and leaves the number of Pods to KEDA', ({ target, least }) => {
    expect(least).toBeGreaterThan(0);
    const deployment = ofKind('Deployment').find(({ metadata }) => metadata.name === target);
    expect(deployment.spec).not.toHaveProperty('replicas');
  });

  test.each([
    ['waybell-event-router', ['waybell.events.router']],
    ['waybell-deliverer', selectActions(['*']).map((key) => `waybell.deliveries.${key}`)],
    [
      'waybell-deliverer-hot',
      selectActions(['shipper.order.created', 'carrier.*']).map((key) => `waybell.deliveries.${key}`),
    ],
  ])('of %s looks at the queues that it takes from', (name, expected) => {
    const queries = scaled.find((each) => each.name === name)?.queries ?? [];
    expect(queries.length).toBeGreaterThan(0);
    for (const query of queries) expect(asked(query).toSorted()).toEqual(expected.toSorted());
  });
});

describe('the network policy of deliverers', () => {
  const values = parse(readFileSync(join(repository, 'deploy/helm/waybell/values.yaml'), 'utf8'));
  const shut = Object.values<{ except: string[] }>(values.networkPolicy.internet).flatMap(({ except }) => except);

  test.each(shut)('shuts %s out, as the deliverer does by itself', (network) => {
    expect(isForbiddenAddress(network.split('/')[0] ?? '', readNetworks([]))).toBe(true);
  });

  test('shuts out through a NAT64 what it shuts out of IPv4', () => {
    const { ipv4, nat64 } = values.networkPolicy.internet;
    const translated = ipv4.except.map((network: string) => {
      const [address, bits] = network.split('/');
      return `${new URL(`http://[64:ff9b::${address}]`).hostname.slice(1, -1)}/${96 + Number(bits)}`;
    });
    expect(nat64.except).toEqual(translated);
  });

  test.each(['10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'])(
    'shuts %s out, where clusters have their networks',
    (network) => expect(shut).toContain(network),
  );
});
