import { describe, expect, test } from '@jest/globals';
import { readEnvironment } from './environment.ts';
import { readTracing } from './read-tracing.ts';
import { tracingSettings } from './settings.ts';

type Env = Record<string, string>;

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
const read = (env: Env) => readTracing(readEnvironment(tracingSettings, env));

const PLAN = {
  url: 'http://collector:4318/v1/traces',
  headers: {},
  sampler: 'parentbased_always_on',
  ratio: 1,
  attributes: {},
};

describe('readTracing', () => {
  test.each<[env: Env, plan: object]>([
    [{}, PLAN],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector/otlp/' }, { url: 'https://collector/otlp/v1/traces' }],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:4318/here' }, { url: 'http://traces:4318/here' }],
    [{ OTEL_SDK_DISABLED: 'false', OTEL_TRACES_EXPORTER: ' OTLP ' }, PLAN],
    [{ OTEL_TRACES_EXPORTER: 'console,otlp' }, PLAN],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'HTTP/protobuf' }, PLAN],
    [
      { OTEL_TRACES_SAMPLER: 'TraceIdRatio', OTEL_TRACES_SAMPLER_ARG: '1e-2' },
      { sampler: 'traceidratio', ratio: 0.01 },
    ],
    [{ OTEL_TRACES_SAMPLER_ARG: 'endpoint=http://jaeger:14250' }, PLAN],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'service.name=a,b=c%20d' }, { attributes: { 'service.name': 'a', b: 'c d' } }],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'service.name=a', OTEL_SERVICE_NAME: 'b' }, { attributes: { 'service.name': 'b' } }],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'a=1, b=2', OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'b=3' },
      { headers: { a: '1', b: '3' } },
    ],
    [{ OTEL_PROPAGATORS: 'b3', OTEL_METRICS_EXPORTER: 'prometheus', OTEL_LOGS_EXPORTER: 'none' }, PLAN],
  ])('of %j makes a plan, and finds nothing wrong', (env, plan) => {
    expect(read({ ...ENDPOINT, ...env })).toEqual({ plan: { ...PLAN, ...plan }, misunderstood: [] });
  });

  test.each<Env>([
    { OTEL_SDK_DISABLED: 'True' },
    { OTEL_TRACES_EXPORTER: 'none' },
    { OTEL_TRACES_EXPORTER: 'None', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
  ])('of %j makes no plan, and finds nothing wrong', (env) => {
    expect(read({ ...ENDPOINT, ...env })).toEqual({ misunderstood: [] });
  });

  const NO_TRACES: [env: Env, name: string, why: string][] = [
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL', 'http://<collector>:4318/v1/traces'],
    [{ OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'gRPC' }, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'Waybell does not speak'],
    [{ OTEL_TRACES_EXPORTER: 'console' }, 'OTEL_TRACES_EXPORTER', 'Set it to otlp, or to none'],
    [{ OTEL_TRACES_EXPORTER: 'jaeger,zipkin' }, 'OTEL_TRACES_EXPORTER', 'Set it to otlp, or to none'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 's3cret:4317' }, 'OTEL_EXPORTER_OTLP_ENDPOINT', 'Write http://<collector>:4318'],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '//s3cret' }, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'not an address with'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'authorization=%s3cret' }, 'OTEL_EXPORTER_OTLP_HEADERS', 'is not percent-encoded'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'Authorization: s3cret' }, 'OTEL_EXPORTER_OTLP_HEADERS', 'is not name=value'],
    [{ OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'a=s3cret%0A' }, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'no HTTP header'],
  ];
  test.each(NO_TRACES)('of %j makes no plan, and says what to do', (env, name, why) => {
    const { plan, misunderstood } = read({ ...ENDPOINT, ...env });
    expect([plan, misunderstood]).toEqual([undefined, [{ name, why: expect.stringContaining(why) }]]);
    expect(misunderstood[0]?.why).toMatch(/^(?!.*s3cret).*: no traces are made/);
  });

  const AT_DEFAULT: [env: Env, why: string][] = [
    [{ OTEL_SDK_DISABLED: '1' }, 'is neither true nor false: it counts as false'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }, 'is not http/protobuf'],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_jaeger_remote' }, 'it counts as parentbased_always_on'],
    [{ OTEL_TRACES_SAMPLER: 'xray' }, 'is none of always_on, always_off,'],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'a=b,s3cret' }, 'is not name=value, comma-separated: it counts as not set'],
  ];
  test.each(AT_DEFAULT)('of %j makes the plan without it, and says so', (env, why) => {
    const { plan, misunderstood } = read({ ...ENDPOINT, ...env });
    const name = Object.keys(env)[0];
    expect([plan, misunderstood]).toEqual([PLAN, [{ name, why: expect.stringContaining(why) }]]);
    expect(misunderstood[0]?.why).not.toContain('s3cret');
  });

  test.each(['2', '-1', 'a', 'NaN', '0,5'])('records all traces where the ratio is %s', (ratio) => {
    const sampler = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: ratio };
    const { plan, misunderstood } = read({ ...ENDPOINT, ...sampler });
    expect(plan).toMatchObject({ sampler: 'traceidratio', ratio: 1 });
    expect(misunderstood).toEqual([
      { name: 'OTEL_TRACES_SAMPLER_ARG', why: expect.stringContaining('is not a number from 0 to 1') },
    ]);
  });

  test.each(
    [...NO_TRACES, ...AT_DEFAULT].map(([env]) => env).filter((env) => !Object.keys(env).join().includes('ENDPOINT')),
  )('says nothing of %j where there is no endpoint', (env) => {
    expect(read(env)).toEqual({ misunderstood: [] });
  });
});
