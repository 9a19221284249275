import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { tracingSettings } from './settings.ts';

export type TracingSettings = Record<keyof typeof tracingSettings, string>;

/** OpenTelemetry's samplers: `parentbased` ones follow the decision of upstream for its traces. */
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type Sampling = (typeof SAMPLERS)[number];

export type TracingPlan = {
  url: string;
  headers: Record<string, string>;
  sampler: Sampling;
  /** Share of the traces beginning here that is sampled, 0 to 1, by the `traceidratio` samplers. */
  ratio: number;
  attributes: Record<string, string>;
};

/** A variable that is not understood. `why`: a sentence with the reason and the consequence; it shows no secret. */
export type Misunderstood = { name: keyof TracingSettings; why: string };

/**
 * Reads how to record spans; no plan if the settings want none, or if none can be sent. By OpenTelemetry's specification of
 * environment variables, case does not matter, and a value that is not understood counts as not set.
 */
export function readTracing(settings: TracingSettings): { plan?: TracingPlan; misunderstood: Misunderstood[] } {
  const endpoint = given(settings, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT');
  if (endpoint === undefined) return { misunderstood: [] };
  const misunderstood: Misunderstood[] = [];
  const warn = (name: keyof TracingSettings, why: string): void => void misunderstood.push({ name, why });
  if (!isWanted(settings, warn) || !isSendable(settings, endpoint, warn)) return { misunderstood };
  const headers = pairsOf(settings, ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'], warn);
  if (headers === undefined) return { misunderstood };
  const [sampler, ratio] = samplingOf(settings, warn);
  const attributes = pairsOf(settings, ['OTEL_RESOURCE_ATTRIBUTES'], warn);
  const name = given(settings, 'OTEL_SERVICE_NAME')?.text;
  const plan = {
    url: urlOf(endpoint),
    headers,
    sampler,
    ratio,
    attributes: { ...attributes, ...(name !== undefined && { 'service.name': name }) },
  };
  return { plan, misunderstood };
}

const urlOf = ({ name, text }: SettingText): string =>
  name === 'OTEL_EXPORTER_OTLP_ENDPOINT' ? `${text.replace(/\/$/, '')}/v1/traces` : text;

type Complain = (name: keyof TracingSettings, why: string) => void;

type SettingText = { name: keyof TracingSettings; text: string };

/** Returns the first of these that is set. */
function given(settings: TracingSettings, ...names: (keyof TracingSettings)[]): SettingText | undefined {
  return names.map((name) => ({ name, text: (settings[name] ?? '').trim() })).find(({ text }) => text !== '');
}

const wordOf = (settings: TracingSettings, name: keyof TracingSettings) =>
  given(settings, name)?.text.toLowerCase() ?? '';

function isWanted(settings: TracingSettings, warn: Complain): boolean {
  const disabled = wordOf(settings, 'OTEL_SDK_DISABLED');
  if (disabled === 'true') return false;
  if (!['', 'false'].includes(disabled)) warn('OTEL_SDK_DISABLED', 'is neither true nor false: it counts as false');
  const exporters = wordOf(settings, 'OTEL_TRACES_EXPORTER')
    .split(',')
    .map((word) => word.trim());
  if (exporters.includes('none')) return false;
  const isSent = exporters.includes('otlp') || exporters.join('') === '';
  if (!isSent)
    warn('OTEL_TRACES_EXPORTER', 'names no exporter that Waybell has: no traces are made. Set it to otlp, or to none');
  return isSent;
}

function isSendable(settings: TracingSettings, endpoint: SettingText, warn: Complain): boolean {
  const protocol = given(settings, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL');
  const word = protocol?.text.toLowerCase() ?? 'http/protobuf';
  if (word === 'grpc') {
    warn(
      protocol?.name ?? 'OTEL_EXPORTER_OTLP_PROTOCOL',
      'is grpc, which Waybell does not speak: no traces are made. Set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL to http/protobuf, and OTEL_EXPORTER_OTLP_TRACES_ENDPOINT to where the collector takes that: http://<collector>:4318/v1/traces',
    );
    return false;
  }
  if (protocol !== undefined && word !== 'http/protobuf')
    warn(protocol.name, 'is not http/protobuf, the one protocol that Waybell speaks: it is used all the same');
  const isAddress = ['http:', 'https:'].includes(URL.parse(endpoint.text)?.protocol ?? '');
  if (!isAddress)
    warn(
      endpoint.name,
      'is not an address with http:// or https://: no traces are made. Write http://<collector>:4318',
    );
  return isAddress;
}

function samplingOf(settings: TracingSettings, warn: Complain): [sampler: Sampling, ratio: number] {
  const word = wordOf(settings, 'OTEL_TRACES_SAMPLER');
  const sampler = SAMPLERS.find((each) => each === word) ?? 'parentbased_always_on';
  if (word !== '' && word !== sampler)
    warn('OTEL_TRACES_SAMPLER', `is none of ${SAMPLERS.join(', ')}: it counts as ${sampler}`);
  const text = wordOf(settings, 'OTEL_TRACES_SAMPLER_ARG');
  const ratio = text === '' ? 1 : Number(text);
  if (ratio >= 0 && ratio <= 1) return [sampler, ratio];
  if (sampler.endsWith('traceidratio'))
    warn('OTEL_TRACES_SAMPLER_ARG', 'is not a number from 0 to 1: it counts as 1, and all traces are recorded');
  return [sampler, 1];
}

/** Reads the attributes in these variables, later ones winning; undefined if one is not understood. */
function pairsOf(
  settings: TracingSettings,
  names: (keyof TracingSettings)[],
  warn: Complain,
): Record<string, string> | undefined {
  const pairs: Record<string, string> = {};
  for (const name of names) {
    try {
      const read = readPairs(settings[name] ?? '');
      if (name.endsWith('_HEADERS')) requireHeaders(read);
      Object.assign(pairs, read);
    } catch (error) {
      const instead = name.endsWith('_HEADERS') ? 'no traces are made' : 'it counts as not set';
      warn(name, `${error instanceof Error ? error.message : 'cannot be read'}: ${instead}`);
      return undefined;
    }
  }
  return pairs;
}

/** Reads `name=value,name=value`, percent-encoded. Errors do not show the text: it may hold a password. */
function readPairs(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name = '', value = ''] = /^\s*([^=\s]+)\s*=(.*)$/s.exec(pair) ?? [];
      if (name === '') throw new Error('is not name=value, comma-separated');
      return [decode(name), decode(value.trim())];
    }),
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('is not percent-encoded');
  }
}

function requireHeaders(pairs: Record<string, string>): void {
  for (const [name, value] of Object.entries(pairs)) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      throw new Error('has a name or a value that no HTTP header can have');
    }
  }
}
