import { Command } from 'commander';
import { report } from '../report.ts';
import { brokerOf } from '@waybell/stack/address-of';
import { prepareBroker, prepareNotices } from '@waybell/stack/prepare';

export function declareCommand(): Command {
  return new Command('declare')
    .description('create the exchanges and queues in RabbitMQ that the services need')
    .option(
      '--rejections-for <user>',
      'create instead a queue in which this user of RabbitMQ, which publishes events, is told of its own that were rejected',
    )
    .addHelpText(
      'after',
      '\nAMQP_URL names the broker; without it, the running stack is meant. The user needs the right to configure.' +
        '\n\nExample:\n  AMQP_URL=amqp://admin:secret@rabbitmq ./waybell declare\n',
    )
    .action(declare);
}

async function declare({ rejectionsFor: user }: { rejectionsFor?: string }): Promise<void> {
  const address = brokerOf(process.env);
  if (user === undefined) {
    const queues = await prepareBroker(address, process.env);
    return report(`declared ${queues.length} queues`);
  }
  const queue = await prepareNotices(user, address, process.env);
  report(`declared ${queue}: let ${user} publish to waybell.events and take from there, and from no other queue`);
}
