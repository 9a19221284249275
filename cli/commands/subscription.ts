import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import type { Interface } from '@waybell/catalog/action';
import { actionsOf } from '@waybell/catalog/actions';
import { isGuid } from '@waybell/events/timestamp';
import { asClient, clientApi, type ApiCommandOptions, type ClientApi } from '../client-api.ts';
import { collected, durationMs } from '../options.ts';
import { print, report } from '../print.ts';
import { describeSubscription, type SubscriptionAnswer } from '../subscription/describe-subscription.ts';
import {
  keepOn,
  putSubscriptions,
  testFailure,
  readDesired,
  requireDistinct,
  type PutAnswer,
  type DesiredSubscriptions,
} from '../subscription/desired-subscriptions.ts';
import { startCommand, stopCommand } from '../subscription/stop-commands.ts';

type ApplyChoices = ApiCommandOptions & { auditField?: string[]; file?: string; keep?: true; json?: true };

type OneChange = { method: string; path: string; body: object };

export function subscriptionCommand(): Command {
  return new Command('subscription')
    .description(
      'see, make, change, test, pause and end subscriptions, as their client; stop and start them, as an operator',
    )
    .addCommand(listCommand())
    .addCommand(applyCommand())
    .addCommand(
      ofOne('test', 'have an example sent to one, now, also while it is off or paused')
        .addHelpText('after', '\nExits with 1 if it does not arrive.\n')
        .action(test),
    )
    .addCommand(
      ofOne('pause', 'have the deliveries of one wait')
        .option('--for <duration>', 'such as 2h; as long as a delivery may wait when left out', durationMs)
        .addHelpText('after', '\nIt stays on, and nothing counts against it. What grows too old meanwhile expires.\n')
        .action(pause),
    )
    .addCommand(ofOne('resume', 'end the pause of one').action(resume))
    .addCommand(
      ofOne('switch-on', 'switch on one that was switched off')
        .addHelpText('after', '\nTest it first. "apply --keep" tests it, switches it on, and replays what it missed.\n')
        .action(switchOn),
    )
    .addCommand(ofOne('end', 'end one: unsubscribe').action(end))
    .addCommand(stopCommand())
    .addCommand(startCommand())
    .addHelpText(
      'after',
      "\nExample:\n  ./waybell subscription apply https://receiver.example.com/waybell 'order.*' --keep\n",
    );
}

const ofOne = (name: string, description: string): Command =>
  asClient(new Command(name).description(description).argument('<subscription>', 'its guid or its action'));

function listCommand(): Command {
  return asClient(
    new Command('list').description('list the current subscriptions: action, guid, URL, and how each stands'),
  )
    .option('--json', 'one JSON object a line')
    .addHelpText('after', '\nExample:\n  ./waybell subscription list\n')
    .action(list);
}

function applyCommand(): Command {
  return asClient(
    new Command('apply').description('subscribe to what is missing, and change what differs; nothing is ended'),
  )
    .argument('[url]', 'where callbacks go')
    .argument('[actions...]', 'actions, * being any text')
    .option(
      '--audit-field <name>',
      'revision actions carry old and new values of it; give it again for each',
      collected,
    )
    .option('-f, --file <file>', 'instead of URL and actions: YAML or JSON, - being the standard input')
    .option('--keep', 'test what is off, switch it on if the receiver answers, and replay what was missed')
    .option('--json', 'the answers of the API, as JSON')
    .addHelpText(
      'after',
      [
        '',
        'The same command again changes nothing: run it at each deploy, and with --keep now and then. A file has this, or a list of it:',
        '  callback_url: https://receiver.example.com/waybell',
        "  actions: ['order.*', 'vehicle.created']",
        '  audit_field_set: [price]    (may be left out)',
        'Exits with 1 if an action is refused, or a subscription is off in the end.',
        '',
        'Example:',
        '  ./waybell subscription apply --file subscriptions.yaml --keep',
        '',
      ].join('\n'),
    )
    .action(apply);
}

async function list({ json, ...options }: ApiCommandOptions & { json?: true }): Promise<void> {
  const subscriptions = await listOf(clientApi(options, process.env));
  if (subscriptions.length === 0) report('this client is subscribed to nothing');
  for (const each of subscriptions) print(json ? JSON.stringify(each) : describeSubscription(each));
}

async function apply(url: string | undefined, actions: string[], options: ApplyChoices): Promise<void> {
  const entries = desiredOf(url, actions, options);
  const api = clientApi(options, process.env);
  if (entries.length > 1) requireDistinct(entries, namesOf(await interfaceOf(api)));
  let areAllOn = true;
  for (const entry of entries) {
    for (const answer of await putSubscriptions(api, entry)) {
      print(options.json ? JSON.stringify(answer) : described(answer));
      areAllOn = (await isOn(api, answer, options)) && areAllOn;
    }
  }
  if (!areAllOn) process.exitCode = 1;
}

function desiredOf(
  url: string | undefined,
  actions: string[],
  { file, auditField }: ApplyChoices,
): DesiredSubscriptions[] {
  if (file !== undefined && url === undefined && auditField === undefined)
    return readDesired(readFileSync(file === '-' ? 0 : file, 'utf8'), file);
  if (file !== undefined || url === undefined || actions.length === 0)
    throw new Error("say what to subscribe to: a URL and actions, such as 'order.*', or --file alone");
  return [{ callback_url: url, actions, ...(auditField && { audit_field_set: auditField }) }];
}

async function isOn(api: ClientApi, { subscription }: PutAnswer, options: ApplyChoices): Promise<boolean> {
  if (subscription === undefined) return false;
  return options.keep === undefined ? subscription.is_active : keepOn(api, subscription, report);
}

const described = ({ action, result, subscription, problem }: PutAnswer): string =>
  `${result}  ${subscription === undefined ? `${action}  ${problem?.detail ?? ''}` : describeSubscription(subscription)}`;

async function test(name: string, options: ApiCommandOptions): Promise<void> {
  const api = clientApi(options, process.env);
  const { guid, action } = await oneOf(api, name);
  const failure = await testFailure(api, guid);
  print(`${action}  ${guid}  ${failure === undefined ? 'delivered' : `not delivered: ${failure}`}`);
  if (failure !== undefined) process.exitCode = 1;
}

async function pause(name: string, { for: ms, ...options }: ApiCommandOptions & { for?: number }): Promise<void> {
  await change(name, options, {
    method: 'POST',
    path: '/pause',
    body: ms === undefined ? {} : { until: new Date(Date.now() + ms).toISOString() },
  });
}

const resume = (name: string, options: ApiCommandOptions): Promise<void> =>
  change(name, options, { method: 'POST', path: '/resume', body: {} });

const switchOn = (name: string, options: ApiCommandOptions): Promise<void> =>
  change(name, options, { method: 'PATCH', path: '', body: { is_active: true } });

async function change(name: string, options: ApiCommandOptions, { method, path, body }: OneChange): Promise<void> {
  const api = clientApi(options, process.env);
  const { guid } = await oneOf(api, name);
  const changed = await api.ask(method, `/v1/subscriptions/${guid}${path}`, JSON.stringify(body));
  print(describeSubscription(changed as SubscriptionAnswer));
}

async function end(name: string, options: ApiCommandOptions): Promise<void> {
  const api = clientApi(options, process.env);
  const { action, guid } = await oneOf(api, name);
  // Each specification has a method of its own.
  if ((await interfaceOf(api)) === 'shipper') await api.ask('POST', `/v1/public/webhooks/${action}/unsubscribe`);
  else await api.ask('DELETE', `/v1/webhooks/${action}/subscriptions/`);
  report(`${action}: ended subscription ${guid}`);
}

async function interfaceOf(api: ClientApi): Promise<Interface> {
  const token = (await api.ask('GET', '/v1/token')) as { interface: Interface };
  return token.interface;
}

const namesOf = (interfaceName: Interface): string[] => actionsOf(interfaceName).map(({ name }) => name);

async function listOf(api: ClientApi): Promise<SubscriptionAnswer[]> {
  const { objects } = (await api.ask('GET', '/v1/subscriptions')) as { objects: SubscriptionAnswer[] };
  return objects;
}

/** The current subscription of this guid or to this action. */
async function oneOf(api: ClientApi, name: string): Promise<SubscriptionAnswer> {
  const member = isGuid(name) ? 'guid' : 'action';
  const found = (await listOf(api)).find((each) => each[member] === name.toLowerCase());
  if (found !== undefined) return found;
  throw new Error(`this client has no subscription ${name}: "./waybell subscription list" shows those that it has`);
}
