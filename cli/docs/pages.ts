import { randomBytes } from 'node:crypto';
import type { Action } from '@waybell/catalog/action';
import { actions, actionKey } from '@waybell/catalog/actions';
import { adminDocumentFiles, documentFiles } from '@waybell/subscription-api/operations/openapi-documents';
import { exampleEvent, exampleSubscriptionGuid } from '@waybell/contracts/example-event';
import { families } from '@waybell/contracts/families';
import { familyPage, indexPage } from '@waybell/contracts/reference-pages';
import type { SentExample, SentExamples } from '@waybell/contracts/sent-examples';
import { writeJson } from '@waybell/contracts/write-json';
import type { Event } from '@waybell/events/event';
import { readEvent } from '@waybell/events/read-event';
import { meaningOf, noSubscriptionCauses, reasonTables, type ReasonMeaning } from '@waybell/line/reasons';
import { messageGuid, notify } from '@waybell/notifications/notification';
import { readConfig } from '@waybell/subscription-api/config';
import { sourceNetworks, sourceNetworksMarkdown } from '@waybell/subscription-api/rest/documents/source-networks';
import { chartFiles } from './chart/chart-files.ts';
import { languagePages } from './language-pages.ts';
import { metricsPage } from './metrics-page.ts';
import { settingsPage } from './settings-page.ts';

const limits = { maxBytes: 1_048_576, maxDepth: 32 };

/** Networks that are not set by default, and documented nowhere. */
const NEEDED = {
  DATABASE_URL: 'postgres://postgres/waybell',
  REDIS_URL: 'redis://redis',
  SECRET_KEYS: `docs:${randomBytes(32).toString('base64')}`,
};

/** Pages that are made from the code, by their path in the repository. `./waybell docs` writes them. */
export const pages: Record<string, () => string | Promise<string>> = {
  'docs/failure-reasons.md': failureReasonsPage,
  'docs/settings.md': settingsPage,
  'docs/operating/metrics.md': metricsPage,
  'docs/firewalls.md': firewallsPage,
  ...languagePages,
  ...contractPages(),
  ...chartFiles(),
};

/** Everything that is made from the catalog, by its path in the repository. */
function contractPages(): Record<string, () => string | Promise<string>> {
  const sentExamples = makeSentExamples();
  const documents = documentFiles({ catalog: actions, interfaces: ['shipper', 'carrier'], sentExamples });
  return {
    // The API makes the same documents from these, without the router.
    'libs/contracts/sent-examples.json': () => writeJson(sentExamples),
    ...Object.fromEntries(
      Object.entries({ ...documents, ...adminDocumentFiles(actions) }).map(([path, text]) => [
        `docs/${path}`,
        () => text,
      ]),
    ),
    'docs/reference/README.md': indexPage,
    ...Object.fromEntries(
      families.map((family) => [`docs/reference/${family.name}.md`, () => familyPage(family, sentExamples)]),
    ),
  };
}

/** Returns what the router sends for the example event of each action, in each form of the action. */
function makeSentExamples(): SentExamples {
  return Object.fromEntries(actions.map((action) => [actionKey(action), examplesOf(action)]));
}

function examplesOf(action: Action): SentExample[] {
  const body = Buffer.from(JSON.stringify(exampleEvent(action)));
  const reading = readEvent({ body, routingKey: actionKey(action) }, limits);
  if (reading.kind === 'invalid') throw new Error(`the example of ${actionKey(action)} is invalid: ${reading.detail}`);
  const plain: SentExample = { form: 'plain', body: send(reading.event, null) };
  if (action.auditFields === undefined) return [plain];
  return [plain, { form: 'revision', body: send(reading.event, action.auditFields) }];
}

function send(event: Event, auditFieldSet: readonly string[] | null): string {
  const notification = notify(event)({ auditFieldSet, messageGuid: messageGuid(event.guid, exampleSubscriptionGuid) });
  if (notification.kind === 'suppressed') {
    throw new Error(`the example of ${actionKey(event.action)} is not sent: ${notification.reason}`);
  }
  return notification.body.toString('utf8');
}

/** docs/failure-reasons.md: every reason once, with its meaning and its remedy. */
function failureReasonsPage(): string {
  return [
    '# Why a callback did not arrive',
    '',
    'Every reason that the delivery log tells ([receiving.md](receiving.md#why-did-it-not-arrive)), and what can be done about it: closed lists, except the last. This',
    'page is made from the code: `./waybell docs` writes it.',
    '',
    '## An attempt failed',
    '',
    'Whatever the reason, the next attempt follows after its delay ([receiving.md](receiving.md#what-you-answer)). A 2xx status with complete headers in time is success: nothing',
    'that happens to the body changes it. `expired` and `parked_over_limit` are no failed attempts: they end a delivery that waited longer than `DELIVERY_MAX_AGE`, or that was the oldest of more than an account may have waiting: a million, or a tenth of `WAITING_ALL_MAX_BYTES`, and count against no subscription.',
    '',
    'A fault on our side is no failed attempt either: while our proxy or a file descriptor are missing deliverers wait; a delivery that our own machine or network does not let out (no name server answers; no port, no route any more, a firewall of ours; or most receivers that answered lately cannot be connected to, or are led elsewhere by their names, all at once) waits unattempted (`egress`) until it gets through or expires.',
    '',
    ...table(reasonTables.failed, 'What the receiver should do'),
    '',
    '## A delivery was dropped',
    '',
    'Its next attempt was due, or its first, and there was no subscription any more to send it to, or nothing to send. No request was made.',
    '',
    ...table(reasonTables.dropped),
    '',
    '## An event made no delivery',
    '',
    'For an account, or for one of its clients.',
    '',
    ...table(reasonTables.suppressed),
    '',
    'With `no_subscription` comes a `cause`, and with it what it means and what to do, more closely:',
    '',
    ...table(noSubscriptionCauses),
    '',
    '## An event was rejected',
    '',
    `${sentence(meaningOf('rejected', ''))} The reason and the detail say what and where ([publishing.md](publishing.md)). For the following reasons an event or a delivery is rejected that is not at fault itself:`,
    '',
    ...table(reasonTables.rejected),
    '',
  ].join('\n');
}

function table(reasons: Partial<Record<string, ReasonMeaning>>, remedies = 'What to do'): string[] {
  const rows = Object.entries(reasons).map(([reason, known]) =>
    known === undefined ? '' : `| \`${reason}\` | ${known.meaning} | ${known.remedy} |`,
  );
  return [`| Reason | What it means | ${remedies} |`, '|---|---|---|', ...rows];
}

const sentence = ({ meaning, remedy }: ReasonMeaning): string => `${meaning} ${remedy}`;

/** docs/firewalls.md: the properties of callbacks, with default settings. */
function firewallsPage(): string {
  return sourceNetworksMarkdown(sourceNetworks(readConfig(NEEDED).callbackTerms, ['shipper', 'carrier']));
}
