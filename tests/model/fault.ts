import type { FaultKind } from './setting.ts';
import type { Move, World } from './world.ts';

export type Fault = Move & { kind: FaultKind };

export const fault = (kind: FaultKind, label: string, to: () => World): Fault => ({ kind, label, to });
