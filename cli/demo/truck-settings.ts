import { withConstants } from '@waybell/runtime/gone-settings';

/** A stack that is to show the demo says soon that a truck is silent. */
const TRUCK_SETTINGS = { GPS_SILENCE: '10s', GPS_SWEEP_INTERVAL: '1s' };

/** The environment of such a stack. */
export function withTruckSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...withConstants(TRUCK_SETTINGS), ...env };
}
