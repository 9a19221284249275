import { readFigures } from '@waybell/stack/service-process';
import { until } from '@waybell/runtime/testing/until';
import { hang, type Hang } from '../../testing/hang.ts';
import type { Ledger } from '../../testing/ledger.ts';
import type { Answers } from '../../testing/owed.ts';
import type { TestStack } from '../../testing/test-stack.ts';
import { subscribed, type Party, type Subscribed } from '../../testing/subscribers.ts';
import type { Course, Fault } from '../fault.ts';
import type { Stage } from '../stage.ts';

const FOLDER = '/together';
const BATCHES = { short: 40, release: 400 };
const MEMBERS = { short: 4, release: 16 };
/** Requests at once, all of those that hang among them. As long as they hang it takes to make and send all of them. */
const HANGING = { DELIVER_SLOTS: '', DELIVER_HELD: '', SHIPPER_RESPONSE_LIMIT: '30s', REDIS_TIMEOUT: '1s' };

/** An account whose events are a batch each, of which the first member hangs at its first attempt. */
type Hung = Hang & Subscribed;

/** Deliveries share a batch but not a fate. */
export const deliveryBatches: Fault[] = [
  {
    row: 'L21',
    name: 'a member of each batch hangs',
    settings: HANGING,
    bars: { duplicates: 0 },
    run: async (stage, ledger) => {
      const all = await hungBatches(stage, ledger, [undefined, 200]);
      const notes = await untilApart(stage, ledger, all);
      await ledger.untilSettled();
      return { notes };
    },
  },
  {
    row: 'L21',
    name: 'deliverer killed while one of each hangs, Redis away',
    settings: HANGING,
    // The one of each batch that hangs.
    bars: { duplicates: 1 },
    run: killBesideTheHung,
  },
];

async function killBesideTheHung(stage: Stage, ledger: Ledger): Promise<Course> {
  const { stack, receiver, scale } = stage;
  // The receiver serves other rows too.
  const before = receiver.received.length;
  const all = await hungBatches(stage, ledger, [200]);
  const redis = stack.stack.servers.process('redis');
  await redis.stop();
  const notes = await untilApart(stage, ledger, all);
  for (const each of all) each.recover(200);
  await stack.stack.service('deliverer').kill();
  await ledger.untilSettled();
  await redis.start();
  const hanging = new Set(all.map(({ path }) => path));
  const others = receiver.received.slice(before).filter(({ path }) => !hanging.has(path) && path.startsWith(FOLDER));
  const repeated = others.length - new Set(others.map(({ headers }) => headers['webhook-id'])).size;
  const problems = repeated > 0 ? [`${repeated} requests repeated that were in a batch with one that hung`] : [];
  return { times: BATCHES[scale], notes, problems };
}

/** Each endpoint has answered once before: it is called at once. */
async function hungBatches({ stack, receiver, scale }: Stage, ledger: Ledger, answers: Answers): Promise<Hung[]> {
  const wanted = { interface: 'shipper', action: 'order.paid', folder: FOLDER, answers: [200] } as const;
  const all: Subscribed[] = [];
  const before = receiver.received.length;
  for (let count = 0; count < BATCHES[scale]; count += 1) {
    const party = await subscribed({ stack, receiver }, { ...wanted, clients: MEMBERS[scale] });
    await ledger.publish(party);
    all.push(party);
  }
  const members = BATCHES[scale] * MEMBERS[scale];
  await until('each was asked once', () => receiver.received.length - before >= members);
  return all.map((party) => {
    const path = party.addresses[0]?.path ?? '';
    const owes: Party['owes'] = (event) =>
      party
        .owes(event)
        .map((owed) => (owed.to?.path === path ? { ...owed, ends: [{ kind: 'delivered', answers }] } : owed));
    return { ...party, owes, ...hang(receiver, path, ({ headers }) => headers['x-webhook-attempt'] === '1') };
  });
}

/** One event each: resolves when all others are delivered, and their messages acknowledged, while one of each hangs. */
async function untilApart({ stack, receiver, scale }: Stage, ledger: Ledger, all: readonly Hung[]): Promise<string[]> {
  const [before, since] = [receiver.received.length, performance.now()];
  const seconds = () => ((performance.now() - since) / 1_000).toFixed(1);
  await Promise.all(all.map((party) => ledger.publish(party)));
  const members = BATCHES[scale] * MEMBERS[scale];
  await until('all are asked', () => receiver.received.length - before >= members);
  const asked = seconds();
  let held: number | undefined;
  await until(
    'no batch is held, and each has a request that hangs',
    async () => {
      held = await heldBy(stack);
      return held === 0 && all.every(({ open }) => open() === 1);
    },
    () => held,
  );
  return [`all ${members} asked after ${asked} s, ${all.length} batches acknowledged after ${seconds()} s`];
}

/** Messages that the deliverer has not acknowledged; undefined while it does not say. */
async function heldBy({ stack }: TestStack): Promise<number | undefined> {
  const figures = await readFigures(stack.service('deliverer').spec.health ?? '');
  return figures?.sumOf('waybell_messages_held');
}
