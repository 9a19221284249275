import { expect } from '@jest/globals';
import { runDoomed, type Extent } from './run-doomed.ts';
import { startOutboxStand } from './outbox-stand.ts';

/** Expects that the broker has exactly the committed events, whichever process died, and that copies of one are equal. */
export async function expectSurvival(extent: Extent): Promise<void> {
  await using stand = await startOutboxStand();
  const committed = await runDoomed(stand, extent);
  const arrived = new Map<string, string>();
  let repeats = 0;
  for (const { content, properties } of await stand.broker.take(stand.queue)) {
    const [guid, event] = [String(properties.messageId), content.toString()];
    if (arrived.has(guid)) repeats += 1;
    expect(arrived.get(guid) ?? event).toBe(event);
    arrived.set(guid, event);
  }
  expect(arrived).toEqual(committed);
  expect(committed.size).toBeGreaterThanOrEqual(extent.events);
  // Without repeats nothing was proven.
  expect(repeats).toBeGreaterThan(0);
}
