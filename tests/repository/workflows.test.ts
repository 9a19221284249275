import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { parse } from 'yaml';

type Job = {
  uses?: string;
  permissions?: Record<string, string>;
  'timeout-minutes'?: number;
  needs?: string[];
};
type Workflow = { permissions: object; concurrency: object; jobs: Record<string, Job> };

const read = (path: string) => readFileSync(join(repository, path), 'utf8');
const files = globSync('.github/workflows/*.yml', { cwd: repository });
// Their shape is GitHub's, which actionlint checks in the long suite.
const workflows = files.map((file) => ({ file, ...(parse(read(file)) as Workflow) }));
const jobs = workflows.flatMap(({ file, ...workflow }) =>
  Object.entries(workflow.jobs).map(([name, job]) => ({ name: `${name} of ${file}`, ...job })),
);
// Searches the text: a command may stand in a matrix.
const texts = files.map(read);

const found = (pattern: RegExp) => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([whole, group]) => group ?? whole))),
];

describe('a workflow', () => {
  test.each(workflows)('$file may do nothing but what a job says, and never runs twice at once', (workflow) => {
    expect([workflow.permissions, workflow.concurrency]).toEqual([{}, expect.anything()]);
  });

  test.each(jobs)('$name says what it may do, and ends', (job) => {
    expect(job.permissions).toMatchObject({ contents: expect.stringMatching(/^(read|write)$/) });
    expect(job.uses ?? job['timeout-minutes']).toBeDefined();
  });

  test('takes actions of others by the commit alone, beside the version that it is', () => {
    const lines = files.flatMap((file) => read(file).match(/uses: .*/g) ?? []);
    const pinned = /^uses: ([\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\.\/\.github\/workflows\/\w+\.yml)$/;
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.filter((line) => !pinned.test(line))).toEqual([]);
    for (const { uses } of jobs) expect(uses === undefined || existsSync(join(repository, uses))).toBe(true);
  });

  test('leaves no token in the checkout', () => {
    const checkouts = files.flatMap((file) => read(file).match(/actions\/checkout@/g) ?? []);
    const withoutToken = files.flatMap((file) => read(file).match(/persist-credentials: false/g) ?? []);
    expect(withoutToken).toHaveLength(checkouts.length);
  });

  test('runs commands of ./waybell that there are', () => {
    const named = found(/\.\/waybell ([\w-]+)/g);
    expect(named).toEqual(expect.arrayContaining(['test', 'sbom', 'release-notes']));
    const help = execFileSync(process.execPath, [join(repository, 'cli/main.ts'), '--help'], { encoding: 'utf8' });
    for (const name of named) expect(help).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
  });

  test('names files that there are', () => {
    const named = found(/(?<![\w/.])(?:deploy|\.ci)\/[\w./-]+/g);
    expect(named).toEqual(expect.arrayContaining(['.ci/run', '.ci/compose-delivers', 'deploy/Dockerfile']));
    expect(named.filter((path) => !existsSync(join(repository, path)))).toEqual([]);
  });
});

describe('a release', () => {
  test('publishes nothing before its gate has passed, and is there when all is published', () => {
    const all = workflows.find(({ file }) => file.endsWith('release.yml'))?.jobs ?? {};
    const needs = (name: string): string[] => (all[name]?.needs ?? []).flatMap((need) => [need, ...needs(need)]);
    for (const name of ['image', 'chart', 'packages']) expect(needs(name)).toContain('gate');
    expect(all['release']?.needs?.toSorted()).toEqual(['chart', 'image', 'packages']);
  });
});

describe('a form for issues', () => {
  test('asks for what is needed to find a fault', () => {
    const form = read('.github/ISSUE_TEMPLATE/bug.yml');
    for (const asked of ['./waybell status', './waybell --version', 'RabbitMQ, Postgres and Redis', 'expect'])
      expect(form).toContain(asked);
  });
});
