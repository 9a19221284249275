import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { readRules } from '../alerts/alert-rules.ts';

/** How much there is to read and to set: what grows over it has to take the place of something else. */
const MOST = { words: 40_000, wordsOfDecisions: 10_000, runbooks: 20, settings: 60, lineLength: 160 };

/** Alerts that page, and those that wait for the morning. */
const ALERTS = {
  critical: [
    'WaybellBrokerAlarm',
    'WaybellEventsNearLimit',
    'WaybellLate',
    'WaybellNotConsumed',
    'WaybellNotWorking',
    'WaybellOwnFaults',
    'WaybellQueueUnavailable',
    'WaybellWaitingFull',
  ],
  warning: [
    'WaybellDeactivationsHeld',
    'WaybellLogBehind',
    'WaybellPositions',
    'WaybellRedundancyLost',
    'WaybellRejected',
    'WaybellWaitingTooOld',
  ],
};

/** Pages that `./waybell docs` makes of what the code says: their words are read there, and looked up here. */
const GENERATED = /^docs\/(reference\/|languages\/|settings\.md$|failure-reasons|firewalls\.md$)/;

const tracked = (...patterns: string[]): string[] =>
  execFileSync('git', ['ls-files', '-z', ...patterns], { cwd: repository, encoding: 'utf8' })
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(repository, path)));
const read = (path: string): string => readFileSync(join(repository, path), 'utf8');

const pages = tracked('*.md');
const written = pages.filter((path) => !GENERATED.test(path));
const wordsOf = (paths: readonly string[]): number =>
  paths.reduce((sum, path) => sum + (read(path).match(/\S+/g)?.length ?? 0), 0);

/** Its lines, but for those of code blocks, which are empty here. */
function proseOf(text: string): string[] {
  let fence: string | undefined;
  return text.split('\n').map((line) => {
    const [mark] = /^\s*(`{3,}|~{3,})/.exec(line)?.slice(1) ?? [];
    if (mark === undefined) return fence === undefined ? line : '';
    if (fence === undefined) fence = mark;
    else if (mark.startsWith(fence)) fence = undefined;
    return '';
  });
}

/** A link, an address or a command in one line cannot be broken. */
const isUnbreakable = (line: string): boolean =>
  /^\s*([-*|] )?(!?\[[^\]]*\]\(\S+\)|<?https?:\S+|`[^`]+`)\.?$/.test(line);

/** As GitHub makes them of headings. */
function anchorsOf(text: string): Set<string> {
  const lines = proseOf(text);
  const seen = new Map<string, number>();
  const headings = lines.flatMap((line) => /^#{1,6} +(.*?)(?: +#+)?$/.exec(line)?.slice(1) ?? []);
  const anchors = headings.map((heading) => {
    const plain = heading.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = plain.replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '').replaceAll(' ', '-');
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
  const named = lines.flatMap((line) => [...line.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, id = '']) => id));
  return new Set([...anchors, ...named]);
}

/** Undefined where it leads to a file, and to a heading in it where it names one. */
function faultOf(link: string, from: string): string | undefined {
  const [file = '', anchor] = decodeURI(link).split('#');
  const target = file === '' ? from : normalize(join(dirname(from), file));
  if (!existsSync(join(repository, target))) return `${from}: ${link} is no file`;
  if (!anchor || !target.endsWith('.md') || statSync(join(repository, target)).isDirectory()) return undefined;
  return anchorsOf(read(target)).has(anchor) ? undefined : `${from}: ${link} is no heading`;
}

function brokenLinksOf(path: string): string[] {
  const text = proseOf(read(path))
    .join('\n')
    .replaceAll(/`[^`\n]*`/g, '``');
  const links = [...text.matchAll(/\]\((?<to>[^)\s]+)(?: "[^"]*")?\)|^\[[^\]]+\]: (?<at>\S+)/gm)];
  return links
    .map(({ groups: { to, at } = {} }) => to ?? at ?? '')
    .filter((link) => !/^[a-z]+:/.test(link))
    .flatMap((link) => faultOf(link, path) ?? []);
}

describe('what there is to read', () => {
  test(`is at most ${MOST.words} words, but for pages that the code makes`, () => {
    expect(wordsOf(written)).toBeLessThanOrEqual(MOST.words);
  });

  test(`is at most ${MOST.wordsOfDecisions} words of decisions`, () => {
    expect(wordsOf(tracked('docs/decisions/*.md'))).toBeLessThanOrEqual(MOST.wordsOfDecisions);
  });

  test(`is at most ${MOST.runbooks} runbooks`, () => {
    expect(tracked('docs/operating/runbooks/*.md').length).toBeLessThanOrEqual(MOST.runbooks);
  });

  test('has lines that fit beside the code', () => {
    const long = written.flatMap((path) =>
      proseOf(read(path)).flatMap((line, place) =>
        line.length > MOST.lineLength && !isUnbreakable(line) ? `${path}:${place + 1} has ${line.length}` : [],
      ),
    );
    expect(long).toEqual([]);
  });

  test('has no broken link', () => {
    expect(pages.flatMap(brokenLinksOf)).toEqual([]);
  });

  test('is there where the code leads to it', () => {
    const sources = tracked(
      '*.ts',
      '*.tsx',
      '*.js',
      '*.yml',
      '*.yaml',
      '*.tpl',
      '*.sh',
      'waybell',
      'deploy/Dockerfile',
    );
    const named = sources
      .filter((path) => !/\.(test|d)\.ts$/.test(path))
      .flatMap((path) =>
        [...read(path).matchAll(/(?<![\w/])docs\/[\w/-]+\.md(#[\w-]+)?/g)].map(([link]) => ({ path, link })),
      );
    expect(named.length).toBeGreaterThan(0);
    // They are written from the top of the repository.
    expect(named.flatMap(({ path, link }) => (faultOf(link, 'README.md') ? `${path}: ${link}` : []))).toEqual([]);
  });
});

test(`there are at most ${MOST.settings} settings`, () => {
  const settings = new Set(
    [...read('docs/settings.md').matchAll(/^\| `([A-Z][A-Z0-9_*]+)`/gm)].map(([, name]) => name),
  );
  expect(settings.size).toBeGreaterThan(0);
  expect(settings.size).toBeLessThanOrEqual(MOST.settings);
});

test.each(Object.entries(ALERTS))('alerts that are %s are those, and no more', (severity, names) => {
  const alerts = readRules().groups.flatMap(({ rules }) => rules);
  // One may fire for several things, by a rule for each.
  const found = new Set(alerts.filter(({ labels }) => labels.severity === severity).map(({ alert }) => alert));
  expect([...found].toSorted()).toEqual(names);
});

test('each alert has its runbook', () => {
  const runbooks = tracked('docs/operating/runbooks/*.md').map((path) => basename(path, '.md'));
  expect(runbooks).toEqual(expect.arrayContaining(Object.values(ALERTS).flat()));
});

describe('a line that may be long', () => {
  test.each([
    ['[a page](https://example.com)', true],
    ['- [a page](../a.md#b).', true],
    ['https://example.com', true],
    ['`./waybell why`', true],
    ['See [a page](https://example.com)', false],
    ['| a | b |', false],
  ])('%s: %p', (line, may) => {
    expect(isUnbreakable(line)).toBe(may);
  });
});

test.each([
  ['## From 0.2.0', 'from-020'],
  ['## Duplicates: why, how many', 'duplicates-why-how-many'],
  ['# A `setting` of [a page](a.md)', 'a-setting-of-a-page'],
  ['## A\n## A', 'a-1'],
])('the heading %p has the anchor %s', (text, anchor) => {
  expect(anchorsOf(text)).toContain(anchor);
});
