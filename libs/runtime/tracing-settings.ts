import { address, checked, fraction, str } from './environment.ts';

/** What each of OpenTelemetry's samplers does with a trace that begins here, and with one that comes from elsewhere. */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** As OpenTelemetry names them. Off unless there is an endpoint. */
export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: address(
    'http',
    'https',
  )({
    default: '',
    desc: 'where spans are sent, by OTLP over HTTP, to /v1/traces there; empty: none are made',
    example: 'http://otel-collector:4318',
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: str({
    default: 'http/protobuf',
    choices: ['http/protobuf'],
    desc: 'how spans are sent',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: checked(
    str({
      default: '',
      desc: 'headers to send them with, comma-separated, percent-encoded',
      example: 'authorization=Bearer%20…',
    }),
    readPairs,
  ),
  OTEL_TRACES_SAMPLER: str({
    default: 'parentbased_always_on',
    choices: SAMPLERS,
    desc: 'which traces are recorded; parentbased: as upstream says, and of those that begin here all, none or a part',
  }),
  OTEL_TRACES_SAMPLER_ARG: fraction({ default: 1, desc: 'that part, from 0 to 1' }),
  OTEL_SERVICE_NAME: str({
    default: '',
    desc: 'service.name of the spans; empty: waybell- and the name of the service',
  }),
  OTEL_RESOURCE_ATTRIBUTES: checked(
    str({
      default: '',
      desc: 'more that is said of the process with its spans, comma-separated, percent-encoded',
      example: 'deployment.environment.name=staging',
    }),
    readPairs,
  ),
};

/** Reads `name=value,name=value`, percent-encoded. Throws without showing it: it may hold a password. */
export function readPairs(text: string): Record<string, string> {
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
