import { describe, expect, test } from '@jest/globals';
import { createMetrics } from './metrics.ts';
import { watchReadiness } from './readiness.ts';

describe('the metrics of readiness', () => {
  test('name what is waited for, for as long as it is', async () => {
    let waitingFor = ['postgres', 'queue a'];
    const metrics = createMetrics('test');
    watchReadiness(() => waitingFor, metrics);
    const shown = async () => (await metrics.metrics()).split('\n').filter((line) => line.startsWith('waybell_'));
    expect(await shown()).toEqual([
      'waybell_ready{service="test"} 0',
      'waybell_waiting_for{dependency="postgres",service="test"} 1',
      'waybell_waiting_for{dependency="queue a",service="test"} 1',
    ]);
    waitingFor = [];
    expect(await shown()).toEqual(['waybell_ready{service="test"} 1']);
  });
});
