import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { messageGuid } from '@waybell/event-router/message-guid';
import { anEvent } from '../../testing/event.ts';
import type { Ledger } from '../../testing/ledger.ts';
import type { Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import type { Stage } from '../stage.ts';
import { underLoad } from '../under-load.ts';

const CULPRITS = { short: 10, release: 100 };
const CULPRIT_EVERY_MS = 100;
/** A killer is taken three times beside others, once as a suspect and three times alone. */
const KILLS = 7;
const KILLERS = { short: 2, release: 10 };
const KILLER_EVERY_MS = 1_000;
/** A request to here ends the deliverer that is about to send it. */
const DEADLY_PATH = '/deadly/';
const DEADLY = {
  NODE_OPTIONS: `--import=${new URL('../kill-by-request.ts', import.meta.url).href}`,
  KILLING: `POST ${DEADLY_PATH}`,
};

let culprits: string[] = [];

export const culpritsAmongOthers: Fault[] = [
  {
    row: 'L13',
    name: 'a handler that throws for one message in a thousand',
    isDaily: true,
    bars: { duplicates: 0, movingAgainSeconds: 5 },
    run: underLoad(
      async (stage, ledger) => {
        const culprit = await subscribed(stage, '/culprit/');
        // A token that cannot be opened, as after a botched restore: the handler throws at each delivery to it.
        await stage.stack.postgres.query(
          "update waybell.subscriptions set verification_token_sealed = '\\x00' where guid = $1",
          [culprit.subscription],
        );
        await publishEach(stage, ledger, { culprit, count: CULPRITS[stage.scale], everyMs: CULPRIT_EVERY_MS });
      },
      { check: (_stage, ledger) => areRejected(ledger, 'handler_failed') },
    ),
  },
  {
    row: 'L13',
    name: 'a message that kills its process each time',
    isDaily: true,
    settings: DEADLY,
    bars: { duplicates: HELD },
    run: async (stage) => ({ ...(await amongKillers(stage)), times: KILLS * KILLERS[stage.scale] }),
  },
];

const amongKillers = underLoad(
  async (stage, ledger) => {
    const culprit = await subscribed(stage, DEADLY_PATH);
    await publishEach(stage, ledger, { culprit, count: KILLERS[stage.scale], everyMs: KILLER_EVERY_MS });
  },
  { check: (_stage, ledger) => areRejected(ledger, 'process_killed') },
);

type Culprit = { account: string; subscription: string };

async function subscribed({ stack, receiver }: Stage, path: string): Promise<Culprit> {
  const { account, subscribe } = await stack.client('shipper');
  const url = receiver.url(path + randomUUID());
  await subscribe('order.paid', url);
  return { account, subscription: await stack.subscriptionAt(url) };
}

type Plan = { culprit: Culprit; count: number; everyMs: number };

async function publishEach({ stack }: Stage, ledger: Ledger, { culprit, count, everyMs }: Plan): Promise<void> {
  const { account, subscription } = culprit;
  culprits = [];
  for (let published = 0; published < count; published += 1) {
    const event = anEvent({ interface: 'shipper', action: 'order.paid', parties: { shipper: account } });
    const sentAt = performance.now();
    await stack.upstream.publishUntilConfirmed(event);
    ledger.confirmed(event, [subscription], sentAt);
    culprits.push(messageGuid(event.guid, subscription));
    await sleep(everyMs);
  }
}

/** Each culprit for its own reason, and nobody beside it for that reason. */
function areRejected(ledger: Ledger, reason: string): string[] {
  const rejected = ledger.rejections.filter((each) => each.reason === reason).map(({ messageId }) => messageId);
  const missing = culprits.filter((guid) => !rejected.includes(guid)).length;
  const innocents = rejected.filter((guid) => !culprits.includes(guid)).length;
  return [
    ...(missing === 0 ? [] : [`${missing} of ${culprits.length} culprits are not rejected as ${reason}`]),
    ...(innocents === 0 ? [] : [`${innocents} innocents are rejected as ${reason}`]),
  ];
}
