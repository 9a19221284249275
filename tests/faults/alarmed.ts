import { rabbitmqctl } from '@waybell/stack/rabbitmqctl';
import type { Stage } from './stage.ts';

export const ALARMS = {
  memory: { on: ['set_vm_memory_high_watermark', '0.000001'], off: ['set_vm_memory_high_watermark', '0.4'] },
  disk: { on: ['set_disk_free_limit', '1000000GB'], off: ['set_disk_free_limit', '50MB'] },
} as const;

/** Has the broker take nothing from publishers, as when it is short of memory or disk, while `meanwhile` goes on. */
export async function alarmed(
  { stack }: Stage,
  kind: keyof typeof ALARMS,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  const broker = stack.stack.servers.process('rabbitmq').spec;
  await rabbitmqctl(broker, ...ALARMS[kind].on);
  try {
    await meanwhile();
  } finally {
    await rabbitmqctl(broker, ...ALARMS[kind].off);
  }
}
