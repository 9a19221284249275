import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '@waybell/stack/stack-folder';

/** The command that renders the chart and writes its golden files: it needs Go, which builds helm. */
export const RENDER = 'GOLDEN=write ./waybell test tests/helm/chart.long.test.ts';

/** The chart's output for one of values.ts, for review, and the seal above it. */
export type Golden = { seal: string; text: string };

const goldenFile = (name: string) => join(import.meta.dirname, `${name}.golden.yaml`);

export function readGolden(name: string): Golden {
  const [, seal = '', text = ''] = /^# (.*)\n([^]*)$/.exec(readFileSync(goldenFile(name), 'utf8')) ?? [];
  return { seal, text };
}

export const writeGolden = (name: string, text: string): void =>
  writeFileSync(goldenFile(name), `# ${sealOf(text)}\n${text}`);

/**
 * Binds a golden file to what it was rendered from, and to its own text: where there is no helm, neither can change without the
 * other unseen.
 */
export const sealOf = (text: string): string => `Rendered by helm from ${hashOf(sources())}: ${hashOf([text])}`;

/** The chart, but what is left out of golden files; and how and with which values it is rendered. */
function sources(): string[] {
  const chart = globSync('**/*', { cwd: CHART, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !COPIES.test(path));
  const own = ['golden.ts', 'helm.ts', 'values.ts'].map((name) => join(import.meta.dirname, name));
  return [...chart, ...own].toSorted().map((path) => `${path.slice(repository.length)}\n${unversioned(path)}`);
}

const CHART = join(repository, 'deploy/helm/waybell');
/** They lie elsewhere too, or are read by people alone. */
const COPIES = /\/(?:files\/(?:waybell-alerts\.yml|dashboard\.json)|README\.md)$/;

const unversioned = (path: string) => withoutVersion(readFileSync(path, 'utf8'));

const hashOf = (texts: readonly string[]) => createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 32);

/** A rendering without the release's version, and without the alerts and the dashboard, which lie elsewhere. */
export function asGolden(rendered: string): string {
  const objects = rendered.split(/^---\n/m).filter((object) => object.trim() !== '' && !isCopy(object));
  return withoutVersion(objects.map((object) => `---\n${object.trim()}\n`).join(''));
}

function withoutVersion(text: string): string {
  const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
  return text.replaceAll(new RegExp(String.raw`(?<![\d.])${version.replaceAll('.', '[.]')}(?![\d./])`, 'g'), 'VERSION');
}

const isCopy = (object: string) => /^kind: PrometheusRule$|^ {2}waybell\.json:/m.test(object);
