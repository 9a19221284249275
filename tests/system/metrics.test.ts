import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeMetrics } from '@waybell/cli/docs/metrics-page';
import { integrator } from '../testing/integrator.ts';
import { PATIENT } from '../testing/patience.ts';
import { Receiver } from '../testing/receiver.ts';
import { TestStack } from '../testing/test-stack.ts';
import { until } from '@waybell/runtime/testing/until';

let stack: TestStack;
let receiver: Receiver;

beforeAll(async () => {
  stack = await TestStack.start(PATIENT);
  receiver = await Receiver.start();
});

afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

async function metricsOf(service: string): Promise<string> {
  const response = await fetch(`${stack.stack.service(service).spec.health}/metrics`);
  return response.text();
}

const namesIn = (metrics: string) => [...metrics.matchAll(/^# TYPE (waybell_\w+) /gm)].map(([, name = '']) => name);

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
    await carrier.hear();
    const metrics = await until('both attempts are counted', async () => {
      const counted = await metricsOf('deliverer');
      return counted.includes('end="failed"') && counted.includes('end="delivered"') && counted;
    });
    const carrierCounts = metrics
      .split('\n')
      .filter((line) => line.includes('interface="carrier"') && /_(count|outcomes_total)\{/.test(line))
      .map((line) => line.replace('service="deliverer",', '').replace(',service="deliverer"', ''));
    expect(new Set(carrierCounts)).toEqual(
      new Set([
        'waybell_outcomes_total{interface="carrier",end="failed",reason="http_5xx",by_hand=""} 1',
        'waybell_outcomes_total{interface="carrier",end="delivered",reason="",by_hand=""} 1',
        'waybell_attempt_duration_seconds_count{interface="carrier",result="refused"} 1',
        'waybell_attempt_duration_seconds_count{interface="carrier",result="delivered"} 1',
        'waybell_attempt_lateness_seconds_count{interface="carrier",step="deliverer",attempt="first"} 1',
        'waybell_attempt_lateness_seconds_count{interface="carrier",step="deliverer",attempt="retry"} 1',
        'waybell_delivery_duration_seconds_count{interface="carrier",step="deliverer",attempt="retry"} 1',
      ]),
    );
    // The router may hear that a delivery is published after its deliverer has made it.
    await until('the router has counted it', async () =>
      (await metricsOf('event-router')).includes(
        'waybell_deliveries_routed_total{interface="carrier",service="event-router"} 1',
      ),
    );
  });
});
