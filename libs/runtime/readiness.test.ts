import { describe, expect, test } from '@jest/globals';
import { createMetrics } from './metrics.ts';
import { Readiness, watchReadiness } from './readiness.ts';
import { silentLog } from './testing/patience.ts';

const aReadiness = () => new Readiness(silentLog);

describe('Readiness', () => {
  test('waits for whatever any part of the process waits for', () => {
    const readiness = aReadiness();
    const parts = [['rabbitmq'], [] as string[]];
    for (const part of parts) readiness.watch(() => part);
    expect(readiness.waitingFor()).toEqual(['rabbitmq']);
    parts[0]?.pop();
    expect(readiness.waitingFor()).toEqual([]);
  });

  test('names once what several parts wait for', () => {
    const readiness = aReadiness();
    for (const part of [['rabbitmq', 'postgres'], ['rabbitmq']]) readiness.watch(() => part);
    expect(readiness.waitingFor()).toEqual(['rabbitmq', 'postgres']);
  });

  test('waits until a probe resolves, and says meanwhile for what', async () => {
    const readiness = aReadiness();
    const seen: string[][] = [];
    let probes = 0;
    await readiness.until('postgres', async () => {
      seen.push(readiness.waitingFor());
      probes += 1;
      if (probes < 3) throw new Error('not yet');
    });
    expect(seen).toEqual([['postgres'], ['postgres'], ['postgres']]);
    expect(readiness.waitingFor()).toEqual([]);
  });
});

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
