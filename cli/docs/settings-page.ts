import { formatDuration } from '@waybell/runtime/duration';
import { bytes, duration, durations, wait } from '@waybell/runtime/environment';
import { READERS, type Setting } from '../settings.ts';

/** In this order: what most installations set, then the rest by topic. */
const TOPICS: Record<string, string> = {
  'Most need these':
    'AMQP_URL DATABASE_URL REDIS_URL SECRET_KEYS TLS_CA LOG_LEVEL HOST PORT HEALTH_PORT ADMIN_PORT ADMIN_HOST ADMIN_AMQP_URL AMQP_MANAGEMENT_URL DATABASE_ROLE SHUTDOWN_GRACE TRUSTED_PROXIES CALLBACK_SOURCE_NETWORKS CALLBACK_DENY_NETWORKS EGRESS_PROBE_URLS JWT_ISSUER JWT_AUDIENCE JWT_JWKS_URL LOG_RETENTION LOG_BODIES_RETENTION GEOCODER_URL',
  Servers: 'DATABASE_POOL_SIZE TLS_CERTIFICATE TLS_KEY EVENTS_QUEUE_LIMIT WAITING_ALL_MAX_BYTES',
  API: 'SERVE_INTERFACES REQUESTS_PER_MINUTE AUDIT_RETENTION JWT_ACCOUNT_CLAIM JWT_CLIENT_CLAIM JWT_INTERFACE_CLAIM JWT_DEFAULT_SCOPES',
  Console:
    'CONSOLE_CLIENT_ID CONSOLE_SCOPE CONSOLE_ISSUER_ORIGINS CONSOLE_PARENTS CONSOLE_NAME CONSOLE_ACCENT CONSOLE_DASHBOARD_URL',
  'Where callbacks go': 'CALLBACK_ALLOW_HTTP CALLBACK_ALLOW_NETWORKS CALLBACK_NAT64_PREFIXES CALLBACK_PROXY',
  Delivery:
    'SHIPPER_RETRY_DELAYS CARRIER_RETRY_DELAYS DELIVERY_MAX_AGE DELIVER_ACTIONS DELIVER_SLOTS DELIVER_WINDOW DEACTIVATE_ON_EXHAUSTED DEACTIVATE_ON_WINDOW END_ON_GONE',
  'Traces and positions': 'PASS_TRACEPARENT OTEL_* GEOCODER_RATE',
};

/** One row for all of them: their meaning is OpenTelemetry's. */
const OTEL: Setting = {
  default: '',
  desc: 'the variables of OpenTelemetry, such as `OTEL_EXPORTER_OTLP_ENDPOINT`: [traces](operating/traces.md)',
};

/** docs/settings.md: every setting once, with its default and the processes that read it. */
export function settingsPage(): string {
  const settings = new Map<string, Setting>([['OTEL_*', OTEL]]);
  const readers = new Map<string, string[]>([['OTEL_*', SERVICES]]);
  for (const [reader, specs] of Object.entries(READERS)) {
    for (const [name, setting] of Object.entries(specs).filter(([each]) => !each.startsWith('OTEL_'))) {
      settings.set(name, setting);
      readers.set(name, [...(readers.get(name) ?? []), reader]);
    }
  }
  const placed = Object.values(TOPICS).flatMap((names) => names.split(' '));
  const lost = [...settings.keys()].filter((name) => !placed.includes(name));
  if (lost.length > 0) throw new Error(`of no topic of docs/settings.md: ${lost.join(', ')}`);
  const row = (name: string) => {
    const setting = settings.get(name) ?? {};
    const what = [setting.desc, ...(setting.per === undefined ? [] : [`per ${setting.per}`])].join('; ');
    return `| \`${name}\` | ${defaultOf(setting)} | ${what} | ${readBy(readers.get(name) ?? [])} |`;
  };
  const required = [...settings].filter(([, setting]) => !('default' in setting));
  return [
    '# Settings',
    '',
    'Environment variables, read and checked at start: a process with a wrong one names all that are wrong, and exits with 2.',
    '`NAME_FILE` has the path of a file in the place of a value. An empty value counts as not set.',
    'Durations: `250ms`, `4s`, `1m`, `24h`, `90d`. Sizes: `64KiB`, `256MiB`, `1GiB`. Lists: with commas.',
    'A variable that is one letter off a setting is warned of (`setting.unknown`). A setting that is gone is refused, with what replaced it.',
    '',
    'Required:',
    '',
    '```sh',
    ...required.map(([name, { example }]) => `${name}=${example}`),
    '```',
    '',
    '**Read by**: `*` is every service; `api` is subscription-api, `router` event-router, `tracker` location-tracker, `log` delivery-log.',
    'A limit per process counts for each replica; per service, queue, client or endpoint over all replicas.',
    ...Object.entries(TOPICS).flatMap(([topic, names]) => [
      '',
      `## ${topic}`,
      '',
      '| Setting | Default | What it is | Read by |',
      '|---|---|---|---|',
      ...names.split(' ').map(row),
    ]),
    '',
  ].join('\n');
}

const SERVICES = Object.keys(READERS).filter((reader) => !reader.startsWith('`'));
const SHORT: Record<string, string> = {
  'subscription-api': 'api',
  'event-router': 'router',
  'location-tracker': 'tracker',
  'delivery-log': 'log',
  '`waybell declare`': 'declare',
};

function readBy(readers: readonly string[]): string {
  if (SERVICES.every((service) => readers.includes(service))) return '\\*';
  const others = SERVICES.filter((service) => !readers.includes(service));
  if (others.length === 1 && readers.length > 2) return `\\* but ${others.map((each) => SHORT[each] ?? each).join()}`;
  return readers.map((each) => SHORT[each] ?? each).join(', ');
}

function defaultOf(setting: Setting): string {
  if (!('default' in setting)) return 'required';
  const written = writeValue(setting.default ?? '', setting._parse);
  return written === '' ? '' : `\`${written}\``;
}

const parserOf = (spec: object) => ('_parse' in spec ? spec._parse : undefined);
const LENGTHS = [duration({}), wait({})].map(parserOf);
const DURATIONS = parserOf(durations({}));
const BYTES = parserOf(bytes({ per: 'process', default: 1 }));

export function writeValue(value: unknown, parser: unknown): string {
  if (LENGTHS.includes(parser) && typeof value === 'number') return formatDuration(value);
  if (parser === DURATIONS && Array.isArray(value)) return value.map((each) => formatDuration(Number(each))).join(',');
  if (parser === BYTES && typeof value === 'number')
    return value % 2 ** 30 === 0 ? `${value / 2 ** 30}GiB` : `${value / 2 ** 20}MiB`;
  return String(value);
}
