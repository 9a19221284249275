import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '@waybell/stack/stack-folder';

/** The chart's output for each of values.ts, for review. */
export const goldenFile = (name: string) => join(import.meta.dirname, `${name}.golden.yaml`);

/** A rendering without the release's version, and without the alerts and the dashboard, which lie elsewhere. */
export function asGolden(rendered: string): string {
  const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
  const objects = rendered.split(/^---\n/m).filter((object) => object.trim() !== '' && !isCopy(object));
  return objects
    .map((object) => `---\n${object.trim()}\n`)
    .join('')
    .replaceAll(new RegExp(String.raw`(?<![\d.])${version.replaceAll('.', '[.]')}(?![\d./])`, 'g'), 'VERSION');
}

const isCopy = (object: string) => /^kind: PrometheusRule$|^ {2}waybell\.json:/m.test(object);
