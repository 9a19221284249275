import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeJson } from '@waybell/contracts/write-json';
import { PROCESSES } from './process-settings.ts';
import { valuesSchema } from './values-schema.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const chart = 'deploy/helm/waybell';

/**
 * The files of the Helm chart that repeat the code, or copies of files elsewhere: a chart holds nothing from outside its folder.
 */
export function chartFiles(): Record<string, () => string> {
  return {
    [`${chart}/Chart.yaml`]: () => atVersion(read(`${chart}/Chart.yaml`), JSON.parse(read('package.json')).version),
    [`${chart}/values.schema.json`]: () => writeJson(valuesSchema()),
    [`${chart}/files/settings.json`]: () => writeJson(settingsByProcess()),
    [`${chart}/files/waybell-alerts.yml`]: () => read('deploy/prometheus/waybell-alerts.yml'),
    [`${chart}/files/dashboard.json`]: () => read('deploy/grafana/waybell.json'),
  };
}

function atVersion(text: string, version: string): string {
  return text.replace(/^(version|appVersion): .*$/gm, `$1: ${version}`);
}

function settingsByProcess(): Record<string, string[]> {
  const entries = Object.entries(PROCESSES);
  return Object.fromEntries(entries.map(([process, settings]) => [process, Object.keys(settings).toSorted()]));
}
