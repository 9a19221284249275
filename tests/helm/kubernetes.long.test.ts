import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { BUILDING_LIMIT_MS, CHART, helm, readObjects, render, type KubernetesObject } from './helm.ts';
import { Kubernetes } from './kubernetes.ts';
import { moduleSource } from '../testing/module-source.ts';
import { VALUES } from './values.ts';

const RESTRICTED = { 'pod-security.kubernetes.io/enforce': 'restricted' };
/** Kinds of the chart's objects that Kubernetes does not have by itself. */
const CUSTOM = [
  ['github.com/kedacore/keda/v2', 'v2.21.0', 'config/crd/bases/keda.sh_scaledobjects'],
  ...['servicemonitors', 'prometheusrules'].map((name) => [
    'github.com/prometheus-operator/prometheus-operator',
    'v0.85.0',
    `example/prometheus-operator-crd/monitoring.coreos.com_${name}`,
  ]),
  ['sigs.k8s.io/gateway-api', 'v1.6.0', 'config/crd/standard/gateway.networking.k8s.io_httproutes'],
] as const;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

let kubernetes: Kubernetes;

beforeAll(async () => {
  kubernetes = await Kubernetes.start();
  await helm(['version']);
  for (const [module = '', version = '', path] of CUSTOM) {
    const body = readFileSync(join(await moduleSource(module, version), `${path}.yaml`), 'utf8');
    await accepted(kubernetes.ask(DEFINITIONS, { method: 'POST', type: 'application/yaml', body }));
  }
  await create('/api/v1/namespaces', { metadata: { name: 'shop', labels: RESTRICTED } });
  // Elsewhere a controller makes it.
  await create('/api/v1/namespaces/shop/serviceaccounts', { metadata: { name: 'default' } });
}, BUILDING_LIMIT_MS);

afterAll(async () => {
  await kubernetes?.[Symbol.asyncDispose]();
});

async function accepted(asked: Promise<{ status: number; body: string }>): Promise<KubernetesObject> {
  const { status, body } = await asked;
  expect([status, status < 300 ? '' : body]).toEqual([expect.any(Number), '']);
  return JSON.parse(body);
}

const create = (path: string, object: object) =>
  accepted(kubernetes.ask(`${path}?fieldValidation=Strict`, { method: 'POST', body: JSON.stringify(object) }));

/** Returns the address at which objects of this kind are created. */
async function collectionOf({ apiVersion, kind }: KubernetesObject): Promise<string> {
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const { resources } = await accepted(kubernetes.ask(group));
  const found = resources.find(
    (each: { kind: string; name: string }) => each.kind === kind && !each.name.includes('/'),
  );
  return `${group}/namespaces/shop/${found.name}`;
}

const onCluster = (...args: string[]) => helm([...args, '--namespace', 'shop'], kubernetes);
const install = (values: string, ...options: string[]) =>
  helm(['upgrade', '--install', 'waybell', CHART, '--namespace', 'shop', '--values', '-', ...options], {
    kubeconfig: kubernetes.kubeconfig,
    input: values,
  });

describe.each(Object.entries(VALUES))('with %s values, an API server', (_name, values) => {
  test('takes each object, and knows each of its members', async () => {
    const refused: string[] = [];
    const objects = readObjects(await render(values));
    // A Pod needs its ServiceAccount: it is tried below.
    for (const object of objects.filter(({ kind }) => kind !== 'Pod')) {
      const path = `${await collectionOf(object)}?dryRun=All&fieldValidation=Strict`;
      const { status, body } = await kubernetes.ask(path, { method: 'POST', body: JSON.stringify(object) });
      if (status !== 201) refused.push(`${object.kind} ${object.metadata.name}: ${body}`);
    }
    expect(refused).toEqual([]);
  });
});

const JOBS = '/apis/batch/v1/namespaces/shop/jobs';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/shop/deployments';

async function namesIn(collection: string): Promise<string[]> {
  const { items } = await accepted(kubernetes.ask(collection));
  return items.map(({ metadata }: KubernetesObject) => metadata.name);
}

type End = 'Complete' | 'Failed';

/** Ends a Job as Kubernetes would after its Pods, once there is one that has not ended. */
async function end(name: string, how: End): Promise<void> {
  const path = `${JOBS}/waybell-${name}`;
  const begun = await until(`there is a job ${name}`, async () => {
    const { status, body } = await kubernetes.ask(path);
    return status === 200 && JSON.parse(body).status.conditions === undefined && JSON.parse(body);
  });
  const at = begun.metadata.creationTimestamp;
  const types = how === 'Complete' ? ['SuccessCriteriaMet', 'Complete'] : ['FailureTarget', 'Failed'];
  // oxlint-disable-next-line fixtures/no-like-values -- as Kubernetes does
  const conditions = types.map((type) => ({ type, status: 'True', lastTransitionTime: at, lastProbeTime: at }));
  const status = { startTime: at, conditions, ...(how === 'Complete' && { completionTime: at, succeeded: 1 }) };
  const type = 'application/merge-patch+json';
  await accepted(kubernetes.ask(`${path}/status`, { method: 'PATCH', type, body: JSON.stringify({ status }) }));
}

const tagOf = async () => {
  const { items } = await accepted(kubernetes.ask(DEPLOYMENTS));
  return new Set(items.map((each: KubernetesObject) => each['spec'].template.spec.containers[0].image));
};

/** One story: each test begins where the one before it has ended. */
describe('a release', () => {
  const { minimal } = VALUES;
  const next = `${minimal}\nsettings: { LOG_LEVEL: warn }`;

  test('begins with migrate, then declare, and with no service before both are done', async () => {
    const installing = install(minimal);
    await end('migrate', 'Complete');
    await until('there is a job declare', async () => (await namesIn(JOBS)).includes('waybell-declare'));
    expect(await namesIn(DEPLOYMENTS)).toEqual([]);
    await end('declare', 'Complete');
    expect(await installing).toContain('STATUS: deployed');
    expect(await namesIn(DEPLOYMENTS)).toHaveLength(6);
  });

  test('has Pods that need no right and no privilege', async () => {
    const workloads = readObjects(await render(minimal)).filter(({ kind }) => ['Deployment', 'Job'].includes(kind));
    const templates = workloads.map(({ metadata, spec }) => ({ name: metadata.name, ...spec.template }));
    const tests = readObjects(await render(minimal)).filter(({ kind }) => kind === 'Pod');
    expect([templates.length, tests.length]).toEqual([8, 1]);
    for (const { name, spec, metadata } of [...templates, ...tests])
      await create('/api/v1/namespaces/shop/pods', { metadata: { name: `try-${name}`, ...metadata }, spec });
  });

  test('stays as it is where migrate fails', async () => {
    const upgrading = install(next, '--set', 'image.tag=9.9.9');
    await Promise.all([expect(upgrading).rejects.toThrow(/waybell-migrate/), end('migrate', 'Failed')]);
    expect(await tagOf()).toEqual(new Set([expect.not.stringContaining('9.9.9')]));
  });

  test('is upgraded after migrate and declare, again', async () => {
    const upgrading = install(next);
    await end('migrate', 'Complete');
    await end('declare', 'Complete');
    expect(await upgrading).toContain('STATUS: deployed');
  });

  test('is rolled back without either', async () => {
    expect(await onCluster('rollback', 'waybell', '1')).toContain('Rollback was a success');
  });

  test('asks nothing more when it is uninstalled', async () => {
    await onCluster('uninstall', 'waybell');
    expect(await namesIn(DEPLOYMENTS)).toEqual([]);
  });
});
