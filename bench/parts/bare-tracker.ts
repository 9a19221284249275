import { connect, type ConsumeMessage } from 'amqplib';
import { Redis } from 'ioredis';
import { acknowledgeTogether } from '../comparators/bare-line/queues.ts';
import { serve } from '../lib/part.ts';

/** Reports written to Redis as they come, pipelined, and nothing else: no rules, no comparing, no Postgres. */
export type BareTrackerCommands = typeof commands;

const PREFETCH = 1_000;
/** The length of what the tracker stores about a vehicle. */
const VALUE = 'x'.repeat(130);
const KEPT_MS = 604_800_000;
let handled = 0;

type Reported = { parties: { shipper: string }; payload: { vehicles: { guid: string }[]; recorded_at: string } };

const commands = {
  /** Takes reports from the queue, writes each, and acknowledges it when Redis has it. */
  async track({ amqpUrl, redisUrl, queue }: { amqpUrl: string; redisUrl: string; queue: string }): Promise<void> {
    const redis = new Redis(redisUrl, { enableAutoPipelining: true });
    const connection = await connect(amqpUrl, { noDelay: true });
    const channel = await connection.createChannel();
    await channel.prefetch(PREFETCH);
    const acknowledge = acknowledgeTogether(channel);
    const handle = async ({ content, fields }: ConsumeMessage) => {
      // Its publisher is the benchmark's own.
      const { parties, payload } = JSON.parse(content.toString()) as Reported;
      await Promise.all(
        payload.vehicles.map(({ guid }) => redis.set(`${parties.shipper}:${guid}`, VALUE, 'PX', KEPT_MS)),
      );
      handled += 1;
      acknowledge(fields.deliveryTag);
    };
    await channel.consume(queue, (message) => void (message && handle(message)));
  },

  handled: (): number => handled,
};

serve(commands);
