import { useTold } from '../../../api/use-told.ts';

/** A subscription or host that an operator can stop. */
export type Stoppable = { kind: 'subscription'; guid: string; action: string } | { kind: 'host'; host: string };

const LOOK_EVERY_MS = 15_000;

/** Returns everything that is stopped now. */
export const useStops = () =>
  useTold(['stops'], ({ operator }) => operator.GET('/v1/admin/stops'), { refetchInterval: LOOK_EVERY_MS });

/** Returns its name for people. */
export const stoppableName = (what: Stoppable): string =>
  what.kind === 'host' ? `host ${what.host}` : `subscription ${what.guid.slice(0, 8)} to ${what.action}`;
