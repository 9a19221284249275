import { Command } from 'commander';
import { writeJson, pointerTo, type JsonValue } from '@waybell/events/json';
import { readJson } from '@waybell/events/read-json';
import { CA_OPTION, clientApi, type ApiCommandOptions } from '../client-api.ts';
import { collected } from '../options.ts';
import { print, report } from '../print.ts';

const MAX_DEPTH = 32;

type Options = ApiCommandOptions & { set: string[]; everywhere?: true; json?: true };
type TriggerRecipientView = { subscription_guid: string; is_listener: boolean };

/** The API's answer. */
type TriggerAnswer = {
  event_guid: string;
  unknown_members: string[];
  deliveries: (TriggerRecipientView & { delivery_guid: string })[];
  suppressed: (TriggerRecipientView & { reason: string })[];
};

/** A place in an event, as a JSON pointer, and its new value. */
type MemberSetting = { pointer: string; value: JsonValue };

export function triggerCommand(): Command {
  return new Command('trigger')
    .description('have an example event sent to your "./waybell listen", or where none runs to your own subscription')
    .argument('<action>', 'such as order.created')
    .option('--set <place=value>', 'what is to be another than in the example; give it again for each', collected, [])
    .option('--everywhere', 'to your own subscription, too, while "./waybell listen" runs')
    .option('--api <url>', 'where the API is (default: API_URL, or that of the running stack)')
    .option('--token <token>', 'an access token that may write (default: WAYBELL_TOKEN)')
    .option(...CA_OPTION)
    .option('--json', 'the answer of the API, as JSON')
    .addHelpText(
      'after',
      [
        '',
        'The event is checked as those of the platform are, and its notifications are signed, retried and logged as any, with the',
        'header X-Webhook-Test: true. Nobody else gets them. A value is JSON, digit for digit, where it is any, and text otherwise:',
        `'payload.number="4711"' sets a text of digits. Items of lists are numbered from 0.`,
        '',
        'Example:',
        '  ./waybell trigger order.updated --set payload.price=12.50 --set payload.customer.name=Ann --set payload.stops.0.city=Austin',
        '',
      ].join('\n'),
    )
    .action(run);
}

async function run(action: string, { set, everywhere, json, ...options }: Options): Promise<void> {
  const body = triggerBody(action, set.map(readSetting), everywhere);
  const answer = (await clientApi(options, process.env).ask('POST', '/v1/triggers', body)) as TriggerAnswer;
  for (const place of answer.unknown_members)
    report(`warning: ${place}: is not known to ${action}: most notifications leave such out`);
  if (json === true) return print(JSON.stringify(answer));
  for (const { delivery_guid: delivery, ...to } of answer.deliveries)
    print(`${action}  ${delivery}  → ${recipientName(to)}`);
  for (const { reason, ...to } of answer.suppressed) print(`${action}  not sent (${reason})  → ${recipientName(to)}`);
}

const recipientName = ({ subscription_guid: guid, is_listener: isListener }: TriggerRecipientView): string =>
  `${isListener ? 'listener' : 'subscription'} ${guid}`;

/**
 * Reads `payload.customer.name=Ann`, or with a JSON pointer `/payload/a.b=1`. The value is JSON, digit for digit, where it is any, and
 * text otherwise. Throws where there is no place.
 */
export function readSetting(text: string): MemberSetting {
  const at = text.indexOf('=');
  if (at < 1) throw new Error(`"${text}" sets nothing: write --set payload.id=4711`);
  const place = text.slice(0, at);
  const pointer = place.startsWith('/') ? place : place.split('.').map(pointerTo).join('');
  return { pointer, value: valueOf(text.slice(at + 1)) };
}

function valueOf(text: string): JsonValue {
  const reading = readJson(Buffer.from(text), MAX_DEPTH);
  return reading.kind === 'value' ? reading.value : text;
}

/** The body of a request to trigger, numbers digit for digit. */
export function triggerBody(action: string, settings: readonly MemberSetting[], isEverywhere = false): string {
  const set = Object.fromEntries(settings.map(({ pointer, value }) => [pointer, value]));
  return writeJson({ action, set, ...(isEverywhere && { everywhere: true }) });
}
