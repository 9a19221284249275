import { bytes } from '@waybell/runtime/environment';

export const keptSettings = {
  KEPT_MAX_BYTES: bytes({
    default: 4 * 2 ** 30,
    desc: 'what all publications of the service may weigh that Postgres keeps while RabbitMQ does not take them',
  }),
};

export function readKept({ KEPT_MAX_BYTES }: Record<keyof typeof keptSettings, number>): { mostBytes: number } {
  return { mostBytes: KEPT_MAX_BYTES };
}
