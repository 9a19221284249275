import { expect, test } from '@jest/globals';
import { createMetrics } from '@waybell/runtime/metrics';
import { lineMetrics } from './line-metrics.ts';

test('a step shows a zero for each way out before any message has taken it, so that the first is an increase', async () => {
  const metrics = createMetrics('test');
  lineMetrics(metrics).watchHeld('router', () => 0);
  expect(await metrics.metrics()).toContain(
    'waybell_messages_total{step="router",result="given_back",service="test"} 0',
  );
});
