import { Command } from 'commander';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { messageOf } from '@waybell/runtime/server-trouble';
import { brokerOf } from '@waybell/stack/address-of';
import { prepareBroker, prepareNotices } from '@waybell/stack/prepare';
import { harmfulPoliciesAt } from '@waybell/stack/stack-policies';
import { report } from '../print.ts';

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
        '\nPolicies that lose what these queues hold are named, where AMQP_MANAGEMENT_URL, or port 15672 of the broker, tells of them.' +
        '\n\nExample:\n  AMQP_URL=amqp://admin:secret@rabbitmq ./waybell declare\n',
    )
    .action(declare);
}

async function declare({ rejectionsFor: user }: { rejectionsFor?: string }): Promise<void> {
  const address = brokerOf(process.env);
  if (user === undefined) {
    const queues = await prepareBroker(address, process.env);
    report(`declared ${queues.length} queues`);
    return reportPolicies(address);
  }
  const queue = await prepareNotices(user, address, process.env);
  report(`declared ${queue}: let ${user} publish to waybell.events and take from there, and from no other queue`);
}

/** Reports policies that harm the declared topology. Declaring succeeds even if they cannot be read. */
async function reportPolicies(address: ServerAddress): Promise<void> {
  try {
    const harmful = await harmfulPoliciesAt(address, process.env);
    if (harmful === undefined) report('policies were not looked for: AMQP_MANAGEMENT_URL names what tells of them');
    for (const { text } of harmful ?? []) report(text);
  } catch (error) {
    report(`policies cannot be read: ${messageOf(error)}`);
  }
}
