import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { everyPlace, everyValue, OWN_VALUES, withValue } from './every-value.ts';
import { asGolden, readGolden, RENDER, sealOf, writeGolden } from './golden.ts';
import { BUILDING_LIMIT_MS, CHART, helm, readObjects, render } from './helm.ts';
import { REFUSED, VALUES } from './values.ts';

const IMAGE = ['--set', 'image.repository=example.com/waybell'];

beforeAll(() => helm(['version']), BUILDING_LIMIT_MS);

describe.each(Object.entries(VALUES))('the chart, with %s values,', (name, values) => {
  test('has nothing that helm would warn of', async () => {
    expect(await helm(['lint', '--strict', CHART, '--values', '-'], { input: values })).toContain('0 chart(s) failed');
  });

  test(`is rendered as it was read last: ${RENDER}`, async () => {
    const text = asGolden(await render(values));
    if (process.env['GOLDEN'] === 'write') writeGolden(name, text);
    expect(readGolden(name)).toEqual({ seal: sealOf(text), text });
  });
});

describe('the chart', () => {
  test('leads from each alert to its page where operators read it', async () => {
    const rendered = await render(VALUES.everything);
    const urls = [...rendered.matchAll(/runbook_url: (?<url>.*)$/gm)].map((match) => match.groups?.['url']);
    expect(urls).toContain('https://code.example/waybell/docs/operating/runbooks/WaybellNotWorking.md');
  });

  test.each(REFUSED)('refuses %s', async (values, said) => {
    await expect(render(values, IMAGE)).rejects.toThrow(said);
  });

  test.each([
    [[], `at '/image': missing property 'repository'`],
    [['--skip-schema-validation'], 'image.repository: where does your image lie?'],
  ])('does not guess where the image lies (%s)', async (options, said) => {
    await expect(render('', options)).rejects.toThrow(said);
  });

  const traced = 'services: { deliverer: { settings: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" } } }';
  test.each([
    [traced, true],
    [`${traced}\nnetworkPolicy: { egress: [{ ports: [{ port: 4318 }] }] }`, false],
    [`${traced}\nnetworkPolicy: { enabled: false }`, false],
    ['', false],
  ])('says that traces reach no collector where that is so: %s', async (values, isSaid) => {
    const notes = await helm(['install', 'waybell', CHART, '--dry-run=client', '--values', '-', ...IMAGE], {
      input: values,
    });
    expect(notes.includes('traces reach no collector')).toBe(isSaid);
  });

  test('has a name short enough for what is appended, whatever the release is named', async () => {
    const long = 'a-release-with-the-longest-name-that-helm-allows-here';
    const names = (await helm(['template', long, CHART, ...IMAGE])).matchAll(/^ {2}name: (.*)$/gm);
    expect([...names].filter(([, name = '']) => name.length > 63)).toEqual([]);
  });
});

/** Values that the chart takes and does not read, and why. */
const UNREAD: Record<string, string> = {
  global: 'Helm gives it to every chart of an umbrella',
};

describe('a value of the chart', () => {
  const everything = parse(VALUES.everything);
  const scaling = { minReplicas: 2, maxReplicas: 3, waiting: 9, queues: 'q' };
  // They have no value, and their members are not taken alone.
  let scaled = everything;
  for (const service of ['subscription-api', 'deactivator', 'delivery-log', 'location-tracker'])
    scaled = withValue(scaled, ['services', service, 'autoscaling'], scaling);
  let bare = everything;
  for (const [path, value] of [
    [['autoscaling', 'enabled'], false],
    [['operators', 'ingress', 'enabled'], false],
    [['image', 'digest'], ''],
  ] as const)
    bare = withValue(bare, [...path], value);
  const bases = [scaled, bare].map((base) => ({ base, before: undefined as Promise<string> | undefined }));
  const values = everyValue(withDefaults(OWN_VALUES, scaled)).map((value) => ({
    ...value,
    name: value.path.join('.'),
  }));

  test.each(values)('$name does something', async ({ name, path, changed }) => {
    const refusals: unknown[] = [];
    let does = false;
    for (const each of bases) {
      if (does) break;
      each.before ??= render(JSON.stringify(each.base));
      const given = JSON.stringify(withValue(each.base, path, changed));
      const after = await render(given).catch((error: unknown) => void refusals.push(error));
      does = after !== undefined && after !== (await each.before);
    }
    expect({ does, refusals: does ? [] : refusals }).toEqual({ does: !(name in UNREAD), refusals: [] });
  });

  test.each(everyPlace().map((path) => [path.join('.') || 'the top', path] as const))(
    'of no known name is refused in %s',
    async (_, path) => {
      const given = withValue(scaled, [...path, 'nobodyKnowsIt'], 'x');
      await expect(render(JSON.stringify(given))).rejects.toThrow(/'nobodyKnowsIt'/);
    },
  );
});

/** Helm's own merging of a chart's values with those that are given. */
function withDefaults(own: unknown, given: unknown): object {
  const result: Record<string, unknown> = { ...Object(own) };
  for (const [name, value] of Object.entries(Object(given)))
    result[name] =
      typeof value === 'object' && value !== null && !Array.isArray(value) ? withDefaults(result[name], value) : value;
  return result;
}

describe('Pods of Jobs', () => {
  test('have the labels and annotations of all, and their own', async () => {
    const objects = readObjects(
      await render(
        `defaults: { podAnnotations: { a: all, b: all }, podLabels: { c: all } }
jobs: { migrate: { podAnnotations: { a: own }, podLabels: { d: own } } }`,
        IMAGE,
      ),
    );
    const podOf = (name: string) =>
      objects.find(({ kind, metadata }) => kind === 'Job' && metadata.name === name)?.['spec'].template.metadata;
    expect(podOf('waybell-migrate')).toMatchObject({
      annotations: { a: 'own', b: 'all' },
      labels: { c: 'all', d: 'own' },
    });
    expect(podOf('waybell-declare')).toMatchObject({ annotations: { a: 'all', b: 'all' }, labels: { c: 'all' } });
    const testPod = objects.find(({ kind }) => kind === 'Pod')?.metadata;
    expect(testPod).toMatchObject({ annotations: { a: 'all' }, labels: { c: 'all' } });
  });
});

describe('on OpenShift', () => {
  test('no Pod names a user, a group or a volume group', async () => {
    const values = 'podSecurityContext: { runAsUser: null, runAsGroup: null, fsGroup: null }';
    expect(readFileSync(join(CHART, '../../../docs/operating/kubernetes.md'), 'utf8')).toContain(`\`${values}\``);
    const rendered = await render(values, IMAGE);
    expect(rendered).toContain('runAsNonRoot: true');
    expect(rendered.match(/\b(runAsUser|runAsGroup|fsGroup)\b/)).toBeNull();
    expect((await render('', IMAGE)).match(/\brunAsUser: 1000\b/g)?.length).toBeGreaterThan(7);
  });
});
