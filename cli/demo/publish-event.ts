import { eventsExchange } from '@waybell/line/topology';
import type { Line } from '../open-line.ts';
import type { WrittenEvent } from './demo-events.ts';

export async function publishEvent(line: Line, { guid, routingKey, json }: WrittenEvent): Promise<void> {
  await line.publish({
    kind: 'publish',
    exchange: eventsExchange,
    routingKey,
    body: Buffer.from(json),
    messageId: guid,
    contentType: 'application/json',
  });
}
