import { Command } from 'commander';
import { report } from '../report.ts';
import { brokerOf } from '@waybell/stack/address-of';
import { prepareBroker } from '@waybell/stack/prepare';

export function declareCommand(): Command {
  return new Command('declare')
    .description('create the exchanges and queues in RabbitMQ that the services need')
    .addHelpText(
      'after',
      '\nAMQP_URL names the broker; without it, the running stack is meant. The user needs the right to configure.' +
        '\n\nExample:\n  AMQP_URL=amqp://admin:secret@rabbitmq ./waybell declare\n',
    )
    .action(declare);
}

async function declare(): Promise<void> {
  const queues = await prepareBroker(brokerOf(process.env), process.env);
  report(`declared ${queues.length} queues`);
}
