import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessSpec } from '@waybell/stack/supervised-process';
import { readable } from '@waybell/line/outcome-batch';
import type { Topology } from '@waybell/line/topology';
import { connect, type ConsumeMessage } from 'amqplib';

/** Something that somebody could look at: where, and what is there. */
export type Saw = {
  channel: 'log' | 'metrics' | 'answer' | 'message' | 'store' | 'output' | 'command' | 'span';
  place: string;
  text: string;
};

/** The logs of all processes there were, servers too. */
export function readLogs(folder: string): Saw[] {
  return readdirSync(folder).map((place) => ({
    channel: 'log',
    place,
    text: readFileSync(join(folder, place), 'latin1'),
  }));
}

export async function readMetrics(services: readonly { spec: ProcessSpec }[]): Promise<Saw[]> {
  return Promise.all(
    services.map(async ({ spec: { name, health } }) => {
      const texts = ['/metrics', '/readyz'].map(async (path) => (await fetch(`${health}${path}`)).text());
      return { channel: 'metrics', place: name, text: (await Promise.all(texts)).join('\n') } as const;
    }),
  );
}

export type MessageSpy = AsyncDisposable & { messages: ConsumeMessage[]; saw(): Saw[] };

/** Gets a copy of every message of the line: what is bound to a queue is bound to one more. */
export async function spyOn(brokerUrl: string, { queues }: Topology): Promise<MessageSpy> {
  const connection = await connect(brokerUrl);
  connection.on('error', () => undefined);
  const channel = await connection.createChannel();
  channel.on('error', () => undefined);
  const { queue } = await channel.assertQueue('', { exclusive: true });
  for (const { exchange, routingKey } of queues.flatMap(({ bindings }) => bindings)) {
    await channel.bindQueue(queue, exchange, routingKey);
  }
  const messages: ConsumeMessage[] = [];
  await channel.consume(queue, (message) => message !== null && messages.push(message), { noAck: true });
  return {
    messages,
    saw: () =>
      messages.map(({ fields, properties, content }) => ({
        channel: 'message',
        place: `${fields.exchange} ${fields.routingKey}`,
        text: `${JSON.stringify(properties)}\n${readable(content).toString('latin1')}`,
      })),
    async [Symbol.asyncDispose]() {
      await connection.close().catch(() => undefined);
    },
  };
}
