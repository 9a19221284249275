import { bytes } from '@waybell/runtime/environment';

export const keptSettings = {
  KEPT_MAX_BYTES: bytes({
    per: 'service',
    default: 4 * 2 ** 30,
    desc: 'total size, at most, of the publications that Postgres keeps for the service while RabbitMQ does not take them',
  }),
};

export function readKept({ KEPT_MAX_BYTES }: Record<keyof typeof keptSettings, number>): { mostBytes: number } {
  return { mostBytes: KEPT_MAX_BYTES };
}
