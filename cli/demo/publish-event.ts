import type { CommandPublisher } from '@waybell/line/operating/operator-line';
import { eventsExchange } from '@waybell/line/topology';
import type { WrittenDemoEvent } from './demo-events.ts';

export async function publishEvent(
  line: CommandPublisher,
  { guid, routingKey, json }: WrittenDemoEvent,
): Promise<void> {
  await line.publish({
    kind: 'publish',
    exchange: eventsExchange,
    routingKey,
    body: Buffer.from(json),
    messageId: guid,
    contentType: 'application/json',
  });
}
