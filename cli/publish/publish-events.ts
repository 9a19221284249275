import type { CommandPublisher } from '@waybell/line/operating/operator-line';
import type { PublishableEvent } from './check-events.ts';

/** The result of publishing: lines that the broker confirmed, lines it may or may not have, and lines that were never sent. */
export type PublishReport = { confirmed: number[]; unknown: number[]; unsent: number[]; failure?: Error };

const AT_ONCE = 100;

/** Publishes in the order of the lines, many at once. After a failure, or the signal, nothing more is sent. */
export async function publishEvents(
  line: Pick<CommandPublisher, 'publish'>,
  events: readonly PublishableEvent[],
  signal: AbortSignal,
): Promise<PublishReport> {
  const published: PublishReport = { confirmed: [], unknown: [], unsent: [] };
  const waiting = events.values();
  const publishSome = async () => {
    for (const { line: number, publication } of waiting) {
      if (signal.aborted || published.failure !== undefined) {
        published.unsent.push(number);
        continue;
      }
      try {
        // Unroutable it cannot be: what no queue takes, the alternate exchange does.
        await line.publish(publication);
        published.confirmed.push(number);
      } catch (error) {
        published.unknown.push(number);
        published.failure ??= error instanceof Error ? error : new Error(String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, publishSome));
  for (const numbers of [published.confirmed, published.unknown, published.unsent]) numbers.sort((a, b) => a - b);
  return published;
}
