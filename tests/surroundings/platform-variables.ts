import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { carrierOf, expectOn, publicAddress, stack, untilServed } from './stand.ts';

/** Variables that platforms and sidecars set for every process. */
const PLATFORMS: [string, Record<string, string>][] = [
  ['another protocol, without an endpoint', { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
  [
    'an endpoint of gRPC',
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4317' },
  ],
  ['an endpoint without a scheme', { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }],
  [
    'a sampler of others',
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
      OTEL_TRACES_SAMPLER: 'jaeger_remote',
      OTEL_TRACES_SAMPLER_ARG: 'endpoint=http://127.0.0.1:5778',
    },
  ],
  [
    'what cannot be read',
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
      OTEL_EXPORTER_OTLP_HEADERS: '%zz',
      OTEL_RESOURCE_ATTRIBUTES: 'a=%,b',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: 'all',
    },
  ],
  [
    'words for off',
    {
      OTEL_SDK_DISABLED: 'true',
      OTEL_TRACES_EXPORTER: 'none',
      OTEL_PROPAGATORS: 'b3multi',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'nowhere',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    },
  ],
];

export function platformVariables(): void {
  describe('variables of a platform that are about traces', () => {
    const own = new Map<string, NodeJS.ProcessEnv>();
    const startWith = (variables: Record<string, string>) =>
      Promise.all(
        stack.stack.services.map(async (service) => {
          service.spec.env = { ...own.get(service.spec.name), ...variables };
          await service.restart();
        }),
      );

    beforeAll(() => {
      for (const { spec } of stack.stack.services) own.set(spec.name, spec.env);
    });

    afterAll(() => startWith({}));

    test.each(PLATFORMS)('keep nothing from starting and delivering: %s', async (_, variables) => {
      await startWith(variables);
      const carrier = await carrierOf(publicAddress(32));
      await carrier.hear();
      await untilServed([carrier], 1);
      await expectOn([carrier]);
    });
  });
}
