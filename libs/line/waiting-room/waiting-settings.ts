import { bytes } from '@waybell/runtime/environment';

export const waitingSettings = {
  WAITING_ALL_MAX_BYTES: bytes({
    per: 'service',
    default: 10 * 2 ** 30,
    desc: 'total size, at most, of what waits in Postgres for endpoints, and beside it of what waits for RabbitMQ: beyond it, the oldest deliveries of the largest account end, and publications are refused',
  }),
};

export function readWaiting(settings: Record<keyof typeof waitingSettings, number>): { allBytes: number } {
  return { allBytes: settings.WAITING_ALL_MAX_BYTES };
}
