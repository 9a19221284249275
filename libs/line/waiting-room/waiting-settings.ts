import { bytes } from '@waybell/runtime/environment';

export const waitingSettings = {
  WAITING_ALL_MAX_BYTES: bytes({
    per: 'service',
    default: 10 * 2 ** 30,
    desc: 'size of what waits in Postgres, a tenth of it for an account; beyond, the oldest are given up',
  }),
};

export function readWaiting(settings: Record<keyof typeof waitingSettings, number>): { allBytes: number } {
  return { allBytes: settings.WAITING_ALL_MAX_BYTES };
}
