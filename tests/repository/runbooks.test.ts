import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { alertOf, nameOfRule, readRules } from '../alerts/alert-rules.ts';
import { causes, serversCauses, tasks } from '../alerts/all-causes.ts';
import { pagesFor } from '../alerts/cause.ts';
import { HEADINGS, readRunbook, runbookNames, runbooksFolder } from '../alerts/runbook.ts';

const rules = readRules().groups.flatMap((group) => group.rules);
const alerts = rules.map(({ alert, labels, annotations }) => ({
  alert,
  rule: nameOfRule(alert, labels.cause),
  annotations,
}));
const pages = runbookNames().map(readRunbook);
const index = 'docs/operating/README.md';

/** More is not read at night. */
const A_SCREEN = 60;

const everyCause = [...causes, ...serversCauses, ...tasks];
const caused = everyCause.flatMap((cause) => cause.alerts);
/** Pages whose commands are run, with the causes for which they are. */
const followed = everyCause.flatMap(pagesFor);
const followedBy = (name: string) => followed.filter(({ page }) => page.name === name);

const read = (path: string): string => readFileSync(join(repository, path), 'utf8');

describe('an alert', () => {
  test.each(alerts)('$rule leads to its page', ({ alert, annotations }) => {
    expect(annotations.runbook_url).toBe(`${runbooksFolder}/${alert}.md`);
    expect(pages.map(({ name }) => name)).toContain(alert);
  });

  test.each(alerts)('$rule is caused by a test, or its rule is shown the series', ({ rule }) => {
    const [alert = '', cause] = rule.split('/');
    const labels = cause === undefined ? `alertname="${alert}"` : `alertname="${alert}",cause="${cause}"`;
    // Or both: some fire for more than one thing.
    const isShown = read('tests/alerts/uncaused.yml').includes(labels);
    expect(caused.includes(rule) || isShown).toBe(true);
  });
});

describe('the page', () => {
  test.each(pages)('$name is of an alert, or of a task, and is in the index', ({ name }) => {
    expect(alerts.some(({ alert }) => alert === name)).toBe(name.startsWith('Waybell'));
    expect(read(index)).toContain(`](runbooks/${name}.md)`);
  });

  test.each(pages)('$name says what one sees, where to look, what to do, and when it is over', (page) => {
    expect(page.headings).toEqual(HEADINGS);
    for (const heading of HEADINGS) expect(page.section(heading)).toMatch(/\S/);
    expect(page.text.split('\n').length).toBeLessThanOrEqual(A_SCREEN);
  });

  test.each(pages)('$name shows what a system printed, or is of an alert that nothing causes', (page) => {
    const shown = HEADINGS.flatMap((heading) => page.shown(heading));
    expect(followedBy(page.name).length > 0).toBe(shown.length > 0);
    expect(shown.length > 0 || (page.name.startsWith('Waybell') && !caused.map(alertOf).includes(page.name))).toBe(
      true,
    );
  });

  test.each(pages)(
    '$name has each of its blocks run by a test that brings about what the block is for',
    ({ name, causes: shownFor }) => {
      const run = followedBy(name).flatMap((each) => each.causes);
      expect(shownFor.filter((cause) => !run.includes(cause))).toEqual([]);
    },
  );
});
