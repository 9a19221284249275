import { beforeAll, describe, expect, test } from '@jest/globals';
import { asGolden, readGolden, RENDER, sealOf, writeGolden } from './golden.ts';
import { BUILDING_LIMIT_MS, CHART, helm, render } from './helm.ts';
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
