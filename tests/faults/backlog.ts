import { until } from '@waybell/runtime/testing/until';
import { sentBy } from './crowd.ts';
import type { Stage } from './stage.ts';

/** Resolves when the router has sent on so many deliveries more, in however many messages, `meanwhile` having been begun. */
export async function untilRouted(
  { stack }: Stage,
  backlog: number,
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  const router = stack.stack.service('event-router');
  const { deliveries: before } = await sentBy(router);
  await meanwhile();
  let routed = 0;
  await until(
    'there is a backlog',
    async () => (routed = (await sentBy(router)).deliveries - before) >= backlog,
    () => routed,
  );
}
