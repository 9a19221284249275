import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { aLocationReport } from '../../testing/location-report.ts';
import type { Scene } from '../scene.ts';

/** Reports of vehicles, each of another and elsewhere, until it is disposed of, or its cause is over. */
export async function reporting({ stack, loads }: Scene): Promise<Disposable> {
  const { account } = await stack.client('shipper');
  let reports = 0;
  const timer = setInterval(() => {
    reports += 1;
    const report = aLocationReport({
      shipper: account,
      vehicles: { [crypto.randomUUID()]: true },
      latitude: 50 + reports / 10,
      longitude: 13,
      recordedAt: wallClockMs(),
    });
    void stack.upstream.publishUntilConfirmed(report);
  }, 200);
  const ended = { [Symbol.dispose]: () => clearInterval(timer) };
  loads.add(ended);
  return ended;
}
