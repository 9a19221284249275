import { connect, type ConsumeMessage } from 'amqplib';
import { serve } from '../../lib/part.ts';
import { findCallbackIn, type BareEvent } from '../find-callback.ts';
import { acknowledgeTogether, bareDeliveriesQueue, bareEventsQueue } from './queues.ts';

const PREFETCH = 256;

/** First hop of the bare line: reads an event, finds its subscriber, hands it on, confirmed, and acknowledges. */
async function route({ amqpUrl, databaseUrl }: { amqpUrl: string; databaseUrl: string }): Promise<void> {
  const findCallback = findCallbackIn(databaseUrl);
  const [publishing, consuming] = await Promise.all([1, 2].map(() => connect(amqpUrl, { noDelay: true })));
  const out = await publishing!.createConfirmChannel();
  const into = await consuming!.createChannel();
  await into.prefetch(PREFETCH);
  const acknowledge = acknowledgeTogether(into);
  const handle = async ({ content, fields }: ConsumeMessage) => {
    // Its publisher is the benchmark's own.
    const event = JSON.parse(content.toString()) as BareEvent;
    const callbackUrl = await findCallback(event);
    const body = Buffer.from(JSON.stringify({ guid: event.guid, action: event.action, ...event.payload }));
    const options = { persistent: true, mandatory: true, messageId: event.guid, correlationId: callbackUrl ?? '' };
    out.publish('', bareDeliveriesQueue, body, options, (error: unknown) => {
      if (error === null) acknowledge(fields.deliveryTag);
    });
  };
  await into.consume(bareEventsQueue, (message) => void (message && handle(message)));
}

serve({ route });
