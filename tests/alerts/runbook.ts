import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { repository } from '@waybell/stack/stack-folder';

export const runbooksFolder = 'docs/operating/runbooks';

export const HEADINGS = ['Symptom', 'Look', 'Do', 'Afterwards'] as const;
export type Heading = (typeof HEADINGS)[number];

/** A command as a page shows it, and what it prints; a line `…` stands for any lines. */
export type Shown = { command: string; output: string[] };

export type Runbook = {
  name: string;
  text: string;
  headings: string[];
  section(heading: Heading): string;
  /** What is shown in its `console` blocks, for these causes or for all; other blocks are to be read only. */
  shown(heading: Heading, causes?: readonly string[]): Shown[];
  /** The causes that blocks are for. */
  causes: string[];
};

/** After `console` stand the causes that the block is shown for, where it is not shown for all. */
const CONSOLE = /^```console(?<causes>[\w ]*)\n(?<lines>.*?)^```$/gms;

/** The names of all pages. */
export function runbookNames(): string[] {
  return readdirSync(join(repository, runbooksFolder)).map((file) => basename(file, '.md'));
}

export function readRunbook(name: string): Runbook {
  const text = readFileSync(join(repository, runbooksFolder, `${name}.md`), 'utf8');
  const parts = text.split(/^## /m).slice(1);
  const sections = new Map(
    parts.map((part) => {
      const [heading = '', ...lines] = part.split('\n');
      return [heading, lines.join('\n')];
    }),
  );
  const section = (heading: Heading) => sections.get(heading) ?? '';
  return {
    name,
    text,
    headings: [...sections.keys()],
    section,
    shown: (heading, causes) =>
      blocksIn(section(heading))
        .filter((block) => block.causes.length === 0 || block.causes.some((cause) => causes?.includes(cause) ?? true))
        .flatMap(({ lines }) => readShown(lines)),
    causes: [...new Set(blocksIn(text).flatMap((block) => block.causes))],
  };
}

function blocksIn(text: string): { causes: string[]; lines: string }[] {
  return [...text.matchAll(CONSOLE)].map(([, causes = '', lines = '']) => ({
    causes: causes.split(' ').filter((cause) => cause !== ''),
    lines,
  }));
}

function readShown(lines: string): Shown[] {
  return lines
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...output] = part.trimEnd().split('\n');
      return { command, output };
    });
}
