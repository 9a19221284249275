import { Command } from 'commander';
import { grantedOn } from '@waybell/stack/rabbitmq-definitions';
import { print } from '../print.ts';

export function permissionsCommand(): Command {
  return new Command('permissions')
    .description('print what each user of RabbitMQ may do, as commands for rabbitmqctl')
    .option('--vhost <name>', 'the virtual host that AMQP_URL names', '/')
    .option('--definitions', 'as definitions, for "rabbitmqctl import_definitions" or the management interface')
    .addHelpText(
      'after',
      '\nMake the users first, each with a password of its own. Only waybell-declare may create anything.' +
        '\nwaybell-operator is for the commands rejected, publish and status.' +
        '\n\nExample:\n  rabbitmqctl add_user waybell-deliverer    # and so on\n  ./waybell permissions | ssh broker sh\n',
    )
    .action(printPermissions);
}

function printPermissions({ vhost, definitions }: { vhost: string; definitions?: true }): void {
  const granted = grantedOn(vhost);
  if (definitions) print(...JSON.stringify({ permissions: granted }, null, 2).split('\n'));
  else for (const each of granted) print(command(each));
}

function command({ user, vhost, configure, write, read }: ReturnType<typeof grantedOn>[number]): string {
  const patterns = [configure, write, read].map((pattern) => `'${pattern}'`);
  return ['rabbitmqctl set_permissions --vhost', vhost, user, ...patterns].join(' ');
}
