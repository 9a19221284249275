import { describe, expect, test } from '@jest/globals';
import { describeMetrics } from '@waybell/cli/docs/metrics-page';
import { DAY_MS } from '@waybell/delivery-log/write/partitions';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { integrator } from '../testing/integrator.ts';
import { receiver, stack } from './stand.ts';

async function metricsOf(service: string): Promise<string> {
  const response = await fetch(`${stack.stack.service(service).spec.health}/metrics`);
  return response.text();
}

const namesIn = (text: string) => [...text.matchAll(/^# TYPE (waybell_\w+) /gm)].map(([, name = '']) => name);

/** Returns the counts for carriers, by series. */
async function countsOf(service: string): Promise<Map<string, number>> {
  const lines = (await metricsOf(service)).split('\n');
  const counts = lines.filter(
    (line) => line.includes('interface="carrier"') && /_(count|outcomes_total|routed_total)\{/.test(line),
  );
  return new Map(
    counts.map((line) => {
      const [, series = '', count] =
        /^(.*\}) (\S+)$/.exec(line.replace(/service="[\w-]+",|,service="[\w-]+"/, '')) ?? [];
      return [series, Number(count)];
    }),
  );
}

/** Resolves with the increases since, once they are as expected. */
async function untilCounted(service: string, { since, rises }: { since: Map<string, number>; rises: string[] }) {
  let risen = new Map<string, number>();
  await until(`${service} has counted it`, async () => {
    const counts = [...(await countsOf(service))];
    const by = counts.map(([series, count]): [string, number] => [series, count - (since.get(series) ?? 0)]);
    risen = new Map(by.filter(([, times]) => times !== 0));
    return risen.size >= rises.length;
  });
  expect(risen).toEqual(new Map(rises.map((series) => [series, 1])));
}

export function metrics(): void {
  test('the delivery log makes room for the records of tomorrow', async () => {
    const tomorrow = new Date(wallClockMs() + DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
    await until('it is there', async () => {
      const { rows } = await stack.postgres.query('select to_regclass($1) as there', [
        `delivery_log.attempts_${tomorrow}`,
      ]);
      return rows[0]?.there !== null;
    });
  });

  describe('the metrics of running services', () => {
    test.each(['subscription-api', 'event-router', 'location-tracker', 'deliverer', 'deactivator', 'delivery-log'])(
      'of %s are those that docs/operating/metrics.md says',
      async (service) => {
        const documented = describeMetrics().filter(
          ({ by }) => by === 'every service' || by.split(', ').includes(service),
        );
        const names = documented.map(({ name }) => name);
        expect(new Set(namesIn(await metricsOf(service)))).toEqual(new Set(names));
      },
    );

    test('follow a delivery that fails, is made again and arrives', async () => {
      const carrier = await integrator({ stack, receiver, interfaceName: 'carrier' });
      carrier.answer((response, { headers }) =>
        response.writeHead(headers['x-webhook-attempt'] === '1' ? 500 : 200).end(),
      );
      const [byDeliverer, byRouter] = [await countsOf('deliverer'), await countsOf('event-router')];
      await carrier.hear();
      await untilCounted('deliverer', {
        since: byDeliverer,
        rises: [
          'waybell_outcomes_total{interface="carrier",end="failed",reason="http_5xx",by_hand=""}',
          'waybell_outcomes_total{interface="carrier",end="delivered",reason="",by_hand=""}',
          'waybell_attempt_duration_seconds_count{interface="carrier",result="refused"}',
          'waybell_attempt_duration_seconds_count{interface="carrier",result="delivered"}',
          'waybell_attempt_lateness_seconds_count{interface="carrier",step="deliverer",attempt="first"}',
          'waybell_attempt_lateness_seconds_count{interface="carrier",step="deliverer",attempt="retry"}',
          'waybell_delivery_duration_seconds_count{interface="carrier",step="deliverer",attempt="retry"}',
        ],
      });
      await untilCounted('event-router', {
        since: byRouter,
        rises: ['waybell_deliveries_routed_total{interface="carrier"}'],
      });
    });
  });
}
