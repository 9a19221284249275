import { describe, expect, test } from '@jest/globals';
import type { DeliveryEnd } from '@waybell/line/outcomes';
import { fatesOf } from '@waybell/line/testing/handled';
import { createMetrics } from '@waybell/runtime/metrics';
import { figuresOf } from '@waybell/runtime/testing/figures-of';
import { until } from '@waybell/runtime/testing/until';
import { silentLog } from '@waybell/runtime/testing/patience';
import { announceDeactivations } from './deactivations.ts';
import { deactivate } from './deactivate.ts';
import { startSweep } from './switch-off.ts';

const NOTHING = { kind: 'done', caused: [] };
const delivered: DeliveryEnd = { delivery: 'd', subscription: 's', generation: 1, isDelivered: true, at: 1 };
const exhausted: DeliveryEnd = { ...delivered, isDelivered: false };

describe('deactivate', () => {
  test('notes all ends of its messages in one go, and causes nothing by itself', async () => {
    const noted: (readonly DeliveryEnd[])[] = [];
    const handle = deactivate({
      noteEnds: async (ends) => void noted.push(ends),
      endGone: () => Promise.reject(exhausted),
    });
    expect(await fatesOf(handle, [[delivered], [exhausted, delivered]])).toEqual([NOTHING, NOTHING]);
    expect(noted).toEqual([[delivered, exhausted, delivered]]);
  });

  test('ends what is gone, and notes nothing of that', async () => {
    const [noted, ended]: (readonly DeliveryEnd[])[][] = [[], []];
    const gone: DeliveryEnd = { ...exhausted, isGone: true };
    const handle = deactivate({
      noteEnds: async (ends) => void noted?.push(ends),
      endGone: async (ends) => void ended?.push(ends),
    });
    await fatesOf(handle, [[exhausted, gone], [delivered]]);
    expect([noted, ended]).toEqual([[[exhausted, delivered]], [[gone]]]);
  });
});

describe('what is switched off or held', () => {
  const log = silentLog;

  test('is counted by interface and rule', async () => {
    const metrics = createMetrics('test');
    const announce = announceDeactivations({ log, metrics });
    const of = { subscription: 's', generation: 1, account: 'a', client: 'c', action: 'order.created', at: 1 };
    announce({ kind: 'deactivated', ...of, interface: 'carrier', rule: 'window' });
    const counted = (name: string, rule: string) => `waybell_deactivations_total{interface="${name}",rule="${rule}"}`;
    expect(await figuresOf(metrics)).toEqual({
      [counted('shipper', 'exhausted')]: 0,
      [counted('shipper', 'window')]: 0,
      [counted('carrier', 'exhausted')]: 0,
      [counted('carrier', 'window')]: 1,
    });
  });

  test('is shown while it is held', async () => {
    const metrics = createMetrics('test');
    let held = 2;
    await using _ = startSweep({ switchOff: async () => ({ off: 1, held }), intervalMs: 1, log, metrics });
    const isShown = async () => (await figuresOf(metrics))['waybell_deactivations_held'] === held;
    await until('it is shown', isShown);
    held = 0;
    await until('it is held no more', isShown);
  });
});
