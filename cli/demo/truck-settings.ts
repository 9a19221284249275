import { parseDurationMs } from '@waybell/runtime/duration';

/** A stack that is to show the demo says soon that a truck is silent, where the caller's settings say nothing else. */
export const TRUCK_SETTINGS = { GPS_SILENCE: '10s', GPS_SWEEP_INTERVAL: '1s' };

const LONGEST_WAIT_MS = 30_000;

/** The environment of such a stack. */
export function withTruckSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...TRUCK_SETTINGS, ...env };
}

/** Whether a truck's silence is announced while somebody still watches. */
export function isSilenceShort(env: NodeJS.ProcessEnv): boolean {
  return parseDurationMs(env['GPS_SILENCE'] || TRUCK_SETTINGS.GPS_SILENCE) <= LONGEST_WAIT_MS;
}
