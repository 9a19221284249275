import type { WaitingLane } from '@waybell/line/topology';
import type { Clock } from '@waybell/runtime/clock';
import { ScanPace, type ScanLimits } from './scan-pace.ts';
import { Windows, type WindowsOptions } from './windows.ts';

export type FlowLimits = Omit<WindowsOptions, 'clock' | 'onRoom'> & { scan: Record<WaitingLane, ScanLimits> };

/** Who may be called now, and how fast those are looked through who may not. */
export type Flow = Disposable & { windows: Windows; paces: Record<WaitingLane, ScanPace> };

/** Disposed of, it lets nobody wait any longer: what waited in hand is put aside, for another process or a later one. */
export function openFlow({ scan, ...limits }: FlowLimits, clock: Clock): Flow {
  const paces = { busy: new ScanPace(clock, scan.busy), hung: new ScanPace(clock, scan.hung) };
  const windows = new Windows({ ...limits, clock, onRoom: (lane) => paces[lane].wake() });
  return {
    windows,
    paces,
    [Symbol.dispose]() {
      paces.busy.close();
      paces.hung.close();
      windows.close();
    },
  };
}
