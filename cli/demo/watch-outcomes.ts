import { outcomesExchange } from '@waybell/line/topology';
import { readOutcomes, type Outcome } from '@waybell/line/outcomes';
import { closeInOrder, connectOnce } from '../open-line.ts';
import { brokerOf } from '@waybell/stack/address-of';

/** Shows every outcome from now on, by a queue of its own beside those of the services. */
export async function watchOutcomes(
  env: NodeJS.ProcessEnv,
  onOutcome: (outcome: Outcome) => void,
): Promise<AsyncDisposable> {
  const connection = await connectOnce(brokerOf(env));
  const channel = await connection.createChannel();
  channel.on('error', () => undefined);
  const { queue } = await channel.assertQueue('', { exclusive: true, autoDelete: true, durable: false });
  await channel.bindQueue(queue, outcomesExchange, '');
  await channel.consume(queue, (message) => message !== null && readOutcomes(message.content).forEach(onOutcome), {
    noAck: true,
  });
  return { [Symbol.asyncDispose]: () => closeInOrder(connection, channel) };
}
