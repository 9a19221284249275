import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { secretOf } from './memory-subscriptions.ts';
import { attemptsOwed, attemptTold, DELAYS_MS, owedBy, owedByAll, verdictOn } from './owed.ts';
import { happen, story, type Happened, type Mortality } from './story.ts';

type Laws = Record<string, (happened: Happened) => void>;

const inOrder = (lines: Iterable<string>) => [...new Set(lines)].toSorted();

/** Does what `expect` does, which is too slow for so many. */
function same(told: unknown, expected: unknown): void {
  if (JSON.stringify(told) !== JSON.stringify(expected)) expect(told).toEqual(expected);
}

function among(told: readonly string[], allowed: readonly string[]): void {
  if (!told.every((each) => allowed.includes(each))) expect(allowed).toEqual(expect.arrayContaining([...told]));
}

const recordsByDelivery = ({ attempted }: Happened) => Map.groupBy(attempted, ({ delivery }) => delivery);
const requestsByDelivery = ({ line }: Happened) => Map.groupBy(line.requests, ({ guid }) => guid);

const always: Laws = {
  'nothing is left on the line, and only what breaks the contract is rejected': (happened) => {
    const { line, events } = happened;
    same(line.left, []);
    const broken = events.flatMap((told) => {
      if (told.twist === 'not an event') return ['not_json {'];
      if (told.twist !== 'guid reused' || !verdictOn(told, happened).hasReached) return [];
      return [`guid_reused ${JSON.stringify({ ...told.event, occurred_at: '2026-11-20T09:30:01Z' })}`];
    });
    same(inOrder(line.rejections.map(({ reason, body }) => `${reason} ${body.toString()}`)), inOrder(broken));
  },
  'the record of an event names whoever subscribed to it, with a delivery or the reason, and nobody else': (
    happened,
  ) => {
    for (const told of happened.events.filter(({ twist }) => twist !== 'not an event')) {
      const owed = owedBy(told, happened.line.subscriptions.rows);
      const linesOf = (some: typeof owed) =>
        some.map(({ row, delivery, suppressed }) => `${row.guid} ${suppressed ?? delivery}`);
      // Subscriptions that were switched off at some time may have been off by then.
      const certain = linesOf(owed.filter(({ row }) => row.offAt === undefined));
      const nobody = `${told.event.parties[told.event.interface]} no_subscription`;
      const { lines } = verdictOn(told, happened);
      among(owed.length === 0 ? [nobody] : certain, lines);
      among(lines, certain.length > 0 ? linesOf(owed) : [...linesOf(owed), nobody]);
    }
  },
  'an event that is rejected is on record, and upstream is told, whatever can be read of it': (happened) => {
    const { events, rejected, line } = happened;
    const guids = events.flatMap((told) => {
      if (told.twist === 'not an event') return ['none'];
      return told.twist === 'guid reused' && verdictOn(told, happened).hasReached ? [told.event.guid] : [];
    });
    const hasNone = ({ detail }: (typeof rejected)[number]) => detail.includes('no guid can be read');
    same(inOrder(rejected.map((each) => (hasNone(each) ? 'none' : each.event))), inOrder(guids));
    same(inOrder(line.notices.map(({ guid }) => guid ?? 'none')), inOrder(guids));
  },
  'an event that comes again is recognised if it reached somebody': (happened) => {
    for (const told of happened.events.filter(({ twist }) => twist === 'again')) {
      const { hasReached, isRepeated } = verdictOn(told, happened);
      same(isRepeated, hasReached);
    }
  },
  'each receiver is asked as often as its answers demand, and each attempt and the end are on record': (happened) => {
    const [records, requests] = [recordsByDelivery(happened), requestsByDelivery(happened)];
    for (const owed of owedByAll(happened)) {
      const made = inOrder((requests.get(owed.delivery) ?? []).map(({ attempt }) => String(attempt)));
      const told = inOrder((records.get(owed.delivery) ?? []).map(attemptTold));
      const lines = owed.suppressed === undefined ? attemptsOwed(owed, happened) : [];
      if (owed.row.offAt === undefined) {
        same(told, inOrder(lines));
        same(
          made,
          lines.map((_, index) => String(index + 1)),
        );
      } else {
        among(told, [...lines, ...[1, 2, 3, 4].map((attempt) => `dropped ${attempt} deactivated`)]);
        same(
          made,
          made.map((_, index) => String(index + 1)),
        );
        if (told.length > 0)
          same(
            told.some((line) => !line.startsWith('failed')),
            true,
          );
      }
    }
  },
  'every request has the bytes, the token and the signature that its subscription is owed': (happened) => {
    const owed = new Map(owedByAll(happened).map((each) => [each.delivery, each]));
    for (const { guid, body, url, headers, attempt, at } of happened.line.requests) {
      const { row, body: bytes = '' } = owed.get(guid) ?? {};
      const signature = new Webhook(secretOf(row?.account ?? '')).sign(guid, new Date(at), bytes);
      same(
        [body.toString(), url, headers['webhook-id'], headers['X-Webhook-Attempt'], headers['webhook-signature']],
        [bytes, row?.callbackUrl, guid, String(attempt), signature],
      );
      same(headers['X-Service-Verification-Token'], `token of ${row?.guid}`);
    }
  },
  'a record says whose it is, and keeps the body of what did not arrive': (happened) => {
    const owed = new Map(owedByAll(happened).map((each) => [each.delivery, each]));
    for (const { delivery, subscription, generation, kind, body, attempt } of happened.attempted) {
      const expected = owed.get(delivery);
      const isKept = attempt === 1 || kind === 'exhausted' || kind === 'dropped';
      same(
        [subscription, generation, body?.toString()],
        [expected?.row.guid, expected?.row.generation, isKept ? expected?.body : undefined],
      );
    }
  },
  'each retry is due one delay after its failure, and no attempt comes before it is due': (happened) => {
    for (const requests of requestsByDelivery(happened).values()) {
      for (const { attempt, dueAt, at, interface: interfaceName } of requests.filter((each) => each.attempt > 1)) {
        const failed = requests.filter((each) => each.attempt === attempt - 1);
        const delayMs = DELAYS_MS[interfaceName][attempt - 2] ?? Number.NaN;
        among(
          [String(dueAt)],
          failed.map(({ endedAt }) => String(endedAt + delayMs)),
        );
        same(at >= (dueAt ?? Infinity), true);
      }
    }
  },
  'no more requests are under way at once than there are slots': ({ line: { requests }, slots }) => {
    for (const { at } of requests) {
      same(requests.filter((each) => each.at <= at && at < each.endedAt).length <= slots, true);
    }
  },
  "a subscription is off if, and only if, it is a carrier's and a delivery of its is exhausted": (happened) => {
    const exhausted = new Set(
      happened.attempted.filter(({ kind }) => kind === 'exhausted').map((each) => each.subscription),
    );
    for (const { guid, interface: interfaceName, state } of happened.line.subscriptions.rows) {
      same(state, interfaceName === 'carrier' && exhausted.has(guid) ? 'deactivated' : 'active');
    }
  },
};

const whereNoneForgets: Laws = {
  'no delivery has two ends, and none is tried after its end': (happened) => {
    for (const records of recordsByDelivery(happened).values()) {
      same(inOrder(records.filter(({ kind }) => kind !== 'failed').map(attemptTold)).length, 1);
      const attempts = inOrder(records.map(({ attempt }) => String(attempt)));
      same(
        attempts,
        attempts.map((_, index) => String(index + 1)),
      );
    }
  },
  'no attempt is recorded twice': ({ attempted }) => {
    const told = attempted.map((record) => `${record.delivery} ${attemptTold(record)}`).toSorted();
    same(told, inOrder(told));
  },
};

const whereNoneDies: Laws = {
  'no request is made twice': ({ line }) => {
    const made = line.requests.map(({ guid, attempt }) => `${guid} ${attempt}`).toSorted();
    same(made, inOrder(made));
  },
};

/** Holds all of these laws against each of many stories in which processes die as they may. */
async function hold(laws: Laws, { mortality, stories }: { mortality: Mortality; stories: number }): Promise<void> {
  const kept = fc.asyncProperty(story, async (told) => {
    const happened = await happen(told, mortality);
    for (const [name, check] of Object.entries(laws)) {
      try {
        check(happened);
      } catch (cause) {
        throw new Error(`broken: ${name}`, { cause });
      }
    }
  });
  await fc.assert(kept, { numRuns: stories, includeErrorInReport: true });
}

test.each([
  ['whatever happens, and wherever a process dies', always, { mortality: 'any', stories: 400 }],
  [
    'where no process dies between handing over and remembering',
    { ...always, ...whereNoneForgets },
    { mortality: 'none forgets', stories: 100 },
  ],
  ['where no process dies', { ...always, ...whereNoneForgets, ...whereNoneDies }, { mortality: 'none', stories: 60 }],
] as const)('%s, the laws hold', async (_where, laws, stories) => {
  await expect(hold(laws, stories)).resolves.toBeUndefined();
});
