import { Command } from 'commander';
import { deliveryHistory, eventHistory, timelineOf } from '@waybell/delivery-log/read/history';
import type { Cursor, DeliveryEntry, EventEntry } from '@waybell/delivery-log/read/entries';
import { positive } from '../count-option.ts';
import { print } from '../print.ts';
import { report } from '../report.ts';
import { describeDelivery, describeEvent } from '../why/describe-history.ts';
import { readGuid } from '../why/read-guid.ts';
import { withDatabase } from '../with-database.ts';

const PAGE = 100;

type Options = { subject?: string; event?: string; delivery?: string; limit: number; json?: true };

export function whyCommand(): Command {
  return new Command('why')
    .description('tell why a callback did, or did not, arrive: what became of everything about an order')
    .option('--subject <guid>', 'an order, a vehicle, an offer, a load request …: all about it, newest first')
    .option('--event <guid>', 'one event')
    .option('--delivery <guid>', 'one delivery: the webhook-id that a receiver saw')
    .option('--limit <count>', 'events, at most', positive, 100)
    .option('--json', 'one JSON object a line')
    .addHelpText(
      'after',
      '\nDATABASE_URL names the database; without it, the running stack is meant. Times are UTC.' +
        '\n\nExample:\n  ./waybell why --subject 5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11\n',
    )
    .action(why);
}

async function why(options: Options): Promise<void> {
  const { kind, guid } = readQuestion(options);
  const { limit } = options;
  const tell = <T extends object>(entry: T, describe: (entry: T) => string[]) =>
    print(...(options.json ? [JSON.stringify(entry)] : [...describe(entry), '']));
  const found = await withDatabase(process.env, async (postgres) => {
    if (kind === 'delivery') {
      const delivery = await deliveryHistory(postgres, guid, 'operator');
      if (delivery !== undefined) tell<DeliveryEntry>(delivery, describeDelivery);
      return delivery === undefined ? 0 : 1;
    }
    if (kind === 'event') {
      const entries = await eventHistory(postgres, guid, 'operator');
      for (const entry of entries) tell<EventEntry>(entry, describeEvent);
      return entries.length;
    }
    let told = 0;
    let before: Cursor | undefined;
    do {
      const page = await timelineOf(postgres, {
        subject: guid,
        reader: 'operator',
        before,
        limit: Math.min(PAGE, limit - told),
      });
      for (const entry of page.entries) tell<EventEntry>(entry, describeEvent);
      told += page.entries.length;
      before = page.next;
    } while (before !== undefined && told < limit);
    if (before !== undefined) report(`there are earlier events: --limit ${limit * 10} shows more`);
    return told;
  });
  if (found === 0) throw new Error(unknown(kind, guid));
}

type Kind = 'subject' | 'event' | 'delivery';

function readQuestion({ subject, event, delivery }: Options): { kind: Kind; guid: string } {
  const given = Object.entries({ subject, event, delivery }).filter(([, guid]) => guid !== undefined);
  const [[kind, guid] = []] = given;
  if (given.length !== 1 || kind === undefined || guid === undefined)
    throw new Error('give one of --subject, --event and --delivery');
  return { kind: kind as Kind, guid: readGuid(guid, `--${kind}`) };
}

function unknown(kind: Kind, guid: string): string {
  const seen = `nothing is known of ${kind} ${guid}`;
  const kept = 'or it is longer ago than LOG_RETENTION';
  if (kind === 'delivery') return `${seen}: no such delivery was made, ${kept}`;
  return `${seen}: no event that names it has come, ${kept}. One whose guid cannot be read is in "./waybell rejected list"`;
}
