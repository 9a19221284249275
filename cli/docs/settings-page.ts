import { formatDuration } from '@waybell/runtime/duration';
import { bytes, duration, durations, wait } from '@waybell/runtime/environment';
import { READERS, type Setting } from '../settings.ts';

/** docs/settings.md: every setting once, with its default and the processes that read it. */
export function settingsPage(): string {
  const settings = new Map<string, Setting>();
  const readers = new Map<string, string[]>();
  for (const [reader, specs] of Object.entries(READERS)) {
    for (const [name, setting] of Object.entries(specs)) {
      settings.set(name, settings.get(name) ?? setting);
      readers.set(name, [...(readers.get(name) ?? []), reader]);
    }
  }
  const services = Object.keys(READERS).filter((reader) => !reader.startsWith('`'));
  const isShared = (name: string) => services.every((service) => readers.get(name)?.includes(service));
  const rows = [...settings]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([name, setting]) => {
      const readBy = isShared(name) ? 'every service' : (readers.get(name) ?? []).join(', ');
      return `| \`${name}\` | ${defaultOf(setting)} | ${setting.per ?? ''} | ${setting.desc ?? ''} | ${readBy} |`;
    });
  return [
    '# Settings',
    '',
    'Environment variables, read and checked at start: all errors are reported at once, and the process exits with 2. Durations are written',
    '`250ms`, `4s`, `1m`, `24h`, `90d`, limits and intervals `1ms` to `24d`; sizes `64KiB`, `256MiB`, `1GiB`; lists with commas. An empty value counts as not set.',
    'Where a file holds the value, a secret above all, `NAME_FILE` has its path in the place of `NAME`.',
    'A variable that differs by a letter or two from a setting which is not set is warned of: `setting.unknown`, with the nearest name.',
    '**Per** is what a limit holds for. Each `process` has its own, so twenty replicas have it twenty times. All others hold over all replicas together: a `service` is all',
    'replicas of one, a `line` what shares a RabbitMQ, an `installation` what shares a Postgres. `endpoint`: deliverers divide it among those that live, one request each at least',
    '([how](decisions/0004-flow.md)). `client` and `address` are counted in Redis; while it is away, by each process.',
    '`NAME=value ./waybell up` reaches the services of the local stack. This page is made from the code: `./waybell docs` writes it.',
    '',
    '| Setting | Default | Per | What it is | Read by |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function defaultOf(setting: Setting): string {
  if (!('default' in setting))
    return setting.example === undefined ? 'required' : `required, such as \`${setting.example}\``;
  const written = writeValue(setting.default ?? '', setting._parse);
  return written === '' ? 'none' : `\`${written}\``;
}

const parserOf = (spec: object) => ('_parse' in spec ? spec._parse : undefined);
const LENGTHS = [duration({}), wait({})].map(parserOf);
const DURATIONS = parserOf(durations({}));
const BYTES = parserOf(bytes({ per: 'process', default: 1 }));

function writeValue(value: unknown, parser: unknown): string {
  if (LENGTHS.includes(parser) && typeof value === 'number') return formatDuration(value);
  if (parser === DURATIONS && Array.isArray(value)) return value.map((each) => formatDuration(Number(each))).join(',');
  if (parser === BYTES && typeof value === 'number') return `${value / 2 ** 20}MiB`;
  return String(value);
}
