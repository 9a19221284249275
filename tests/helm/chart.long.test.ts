import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { asGolden, goldenFile } from './golden.ts';
import { BUILDING_LIMIT_MS, CHART, helm, render } from './helm.ts';
import { REFUSED, VALUES } from './values.ts';

beforeAll(() => helm(['version']), BUILDING_LIMIT_MS);

describe.each(Object.entries(VALUES))('the chart, with %s values,', (name, values) => {
  test('has nothing that helm would warn of', async () => {
    expect(await helm(['lint', '--strict', CHART, '--values', '-'], { input: values })).toContain('0 chart(s) failed');
  });

  test('is rendered as it was read last: GOLDEN=write ./waybell test tests/helm/chart', async () => {
    const rendered = asGolden(await render(values));
    if (process.env['GOLDEN'] === 'write') writeFileSync(goldenFile(name), rendered);
    expect(rendered).toBe(readFileSync(goldenFile(name), 'utf8'));
  });
});

describe('the chart', () => {
  test('leads from each alert to its page where operators read it', async () => {
    const rendered = await render(VALUES.everything);
    const urls = [...rendered.matchAll(/runbook_url: (?<url>.*)$/gm)].map((match) => match.groups?.['url']);
    expect(urls).toContain('https://code.example/waybell/docs/operating/runbooks/WaybellProcessDown.md');
  });

  test.each(REFUSED)('refuses %s', async (values, said) => {
    await expect(render(values)).rejects.toThrow(said);
  });

  test('has a name short enough for what is appended, whatever the release is named', async () => {
    const long = 'a-release-with-the-longest-name-that-helm-allows-here';
    const names = (await helm(['template', long, CHART])).matchAll(/^ {2}name: (.*)$/gm);
    expect([...names].filter(([, name = '']) => name.length > 63)).toEqual([]);
  });
});
