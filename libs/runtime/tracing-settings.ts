import { tolerated, str } from './environment.ts';

/**
 * OpenTelemetry's names. Settings of traces never keep a process from starting: any text is accepted, and `readTracing` reports
 * its faults.
 */
export const tracingSettings = {
  OTEL_SDK_DISABLED: tolerated(str({ default: 'false', desc: 'true: no spans are made, whatever else is set' })),
  OTEL_TRACES_EXPORTER: tolerated(str({ default: 'otlp', desc: 'otlp, or none: no spans are made' })),
  OTEL_EXPORTER_OTLP_ENDPOINT: tolerated(
    str({
      default: '',
      desc: 'where spans are sent, by OTLP over HTTP, to /v1/traces there; empty: none are made',
      example: 'http://otel-collector:4318',
    }),
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: tolerated(
    str({
      default: '',
      desc: 'the same, with its path, before OTEL_EXPORTER_OTLP_ENDPOINT',
      example: 'http://otel-collector:4318/v1/traces',
    }),
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: tolerated(
    str({ default: 'http/protobuf', desc: 'how spans are sent: http/protobuf; with grpc none are' }),
  ),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: tolerated(
    str({ default: '', desc: 'the same, before OTEL_EXPORTER_OTLP_PROTOCOL' }),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: tolerated(
    str({
      default: '',
      desc: 'headers to send them with, comma-separated, percent-encoded',
      example: 'authorization=Bearer%20…',
    }),
  ),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: tolerated(
    str({ default: '', desc: 'more of them, each before one of OTEL_EXPORTER_OTLP_HEADERS' }),
  ),
  OTEL_TRACES_SAMPLER: tolerated(
    str({
      default: 'parentbased_always_on',
      desc: 'which traces are recorded: always_on, always_off, traceidratio, or each of these after parentbased_: as upstream says, and of those that begin here all, none or a part',
    }),
  ),
  OTEL_TRACES_SAMPLER_ARG: tolerated(str({ default: '1', desc: 'that part, from 0 to 1' })),
  OTEL_SERVICE_NAME: tolerated(
    str({ default: '', desc: 'service.name of the spans; empty: waybell- and the name of the service' }),
  ),
  OTEL_RESOURCE_ATTRIBUTES: tolerated(
    str({
      default: '',
      desc: 'more that is said of the process with its spans, comma-separated, percent-encoded',
      example: 'deployment.environment.name=staging',
    }),
  ),
};
