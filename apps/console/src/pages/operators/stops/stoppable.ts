import { useTold } from '../../../api/use-told.ts';

/** What an operator can stop. */
export type Stoppable = { kind: 'subscription'; guid: string; action: string } | { kind: 'host'; host: string };

const LOOK_EVERY_MS = 15_000;

/** What is stopped now. */
export const useStops = () =>
  useTold(['stops'], ({ operator }) => operator.GET('/v1/admin/stops'), { refetchInterval: LOOK_EVERY_MS });

/** As people call it. */
export const nameOf = (what: Stoppable): string =>
  what.kind === 'host' ? `host ${what.host}` : `subscription ${what.guid.slice(0, 8)} to ${what.action}`;
