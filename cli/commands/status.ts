import { Command } from 'commander';
import { stackOf } from '@waybell/stack/stack-folder';
import { print, report } from '../print.ts';
import { describeStatus } from '../status/describe-status.ts';
import { readStatus } from '../status/read-status.ts';
import { statusSource } from '../status/status-source.ts';

export function statusCommand(): Command {
  return new Command('status')
    .description('show each process, each server, the queues that hold something, and what waits in Postgres')
    .option('--json', 'everything, as one JSON object')
    .addHelpText(
      'after',
      [
        '',
        'AMQP_URL and DATABASE_URL name the servers; without them, the running stack is meant. METRICS_URLS names services to ask',
        'whether they are ready, as "./waybell env" prints it: http://router:9464/metrics#event-router,http://…/metrics#deliverer.',
        'On RabbitMQ the user waybell-operator is enough, on Postgres it is the owner of the tables. The delays of retries',
        '(SHIPPER_RETRY_DELAYS, CARRIER_RETRY_DELAYS) name queues: set them as "./waybell declare" had them.',
        '',
        'With --json, what could not be read is null, "troubles" says why, and processes that are not known are not there. The exit',
        'code is 1 where there is a trouble, or a policy of RabbitMQ that harms the queues: those of other brokers than the stack’s',
        'are told where AMQP_MANAGEMENT_URL, or port 15672 of the broker, is the management API. No password is printed.',
        '',
        'Examples:',
        "  ./waybell status --json | jq '.queues[] | select(.messages > 0)'",
        '  AMQP_URL_FILE=/run/secrets/amqp DATABASE_URL_FILE=/run/secrets/database ./waybell status',
        '',
      ].join('\n'),
    )
    .action(status);
}

async function status({ json }: { json?: true }): Promise<void> {
  const source = statusSource(process.env);
  if (source.home === null) report('this is what AMQP_URL and DATABASE_URL name');
  else if (source.home !== stackOf({}).home) report(`this is the stack in ${source.home}, which WAYBELL_HOME names`);
  const found = await readStatus(source);
  print(...(json ? [JSON.stringify(found)] : describeStatus(found)));
  if (found.troubles.length > 0 || (found.policies ?? []).length > 0) process.exitCode = 1;
}
