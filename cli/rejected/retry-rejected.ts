import type { CommandPublisher } from '@waybell/line/broker/command-publisher';
import type { Rejected } from '@waybell/line/broker/rejected-queue';
import { doorOf } from './door-of.ts';
import { publishAgain } from '@waybell/line/messages';

/** Where a message went; or why it stays. */
export type Retried = { kind: 'retried'; to: string } | { kind: 'stays'; why: string };

/**
 * Puts a message back on the line; the caller then removes it, so that a crash in between leaves it twice and not never.
 * Rejects when the broker does not say that it has it.
 */
export async function retryRejected(line: Pick<CommandPublisher, 'publish'>, rejected: Rejected): Promise<Retried> {
  const door = doorOf(rejected);
  if (door === undefined) {
    return { kind: 'stays', why: 'it does not tell how it came onto the line; save it with "show --raw"' };
  }
  const to = door.exchange === '' ? door.routingKey : `${door.exchange} ${door.routingKey}`;
  const answer = await line.publish(publishAgain(rejected, door));
  if (answer === 'confirmed') return { kind: 'retried', to };
  return {
    kind: 'stays',
    why: `no queue takes ${to}: is the line declared with all its actions ("./waybell declare")?`,
  };
}
