import { randomUUID } from 'node:crypto';
import { clockSettings, HOUR_MS, rightClocks, setClocks } from '../../testing/clocks.ts';
import { Fleet } from '../../testing/fleet.ts';
import type { Ledger } from '../../testing/ledger.ts';
import type { Ending } from '../../testing/owed.ts';
import { Receiver } from '../../testing/receiver.ts';
import { subscribed, type Party, type Subscribed } from '../../testing/subscribers.ts';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { until } from '@waybell/runtime/testing/until';
import type { Course, Fault } from '../fault.ts';
import { shippedDatabaseTimeout } from '../fault-settings.ts';
import { hungParty, publishFor, type HungParty } from '../hung-party.ts';
import { missingInLog } from '../missing-in-log.ts';
import { backUpPostgres } from '../postgres-backup.ts';
import type { Stage } from '../stage.ts';
import { underLoad } from '../under-load.ts';

const EVENTS = 5;
const WAITING = 20;
const MINUTE_MS = 60_000;
/** A report of that much later is written to Postgres, whatever Redis remembers. */
const NOTED_MS = 10 * MINUTE_MS;
const NOBODY: Ending[] = [{ kind: 'suppressed', reason: 'no_subscription' }];
const GONE: Ending = { kind: 'dropped', reason: 'unsubscribed', answers: [500] };

/** Postgres as it was a while ago, under services that were not told. */
export const restored: Fault[] = [
  {
    row: 'L25',
    name: 'Postgres restored to what it was a while ago',
    settings: {
      ...clockSettings,
      ...shippedDatabaseTimeout,
      GPS_SILENCE: '1h',
      GPS_SWEEP_INTERVAL: '200ms',
      // Long enough that a retry waits in the broker while Postgres is restored.
      SHIPPER_RETRY_DELAYS: '20s,300ms,300ms,300ms,300ms',
    },
    // Not even of what waited in the backup and has been delivered since.
    bars: { duplicates: 0, movingAgainSeconds: 75 },
    run: goBackInTime,
  },
];

async function goBackInTime(stage: Stage, ledger: Ledger): Promise<Course> {
  // The ledger knows nothing of trucks.
  await using beside = await Receiver.start();
  const fleets = [
    await Fleet.assemble({ stack: stage.stack, receiver: beside }),
    await Fleet.assemble({ stack: stage.stack, receiver: beside }),
  ] as const;
  let restoredAt = 0;
  const inject = async () => {
    const before = await beforeBackup(stage, ledger);
    await legOf(fleets[0]);
    const restore = await backUpPostgres(stage);
    await Promise.all(fleets.map(legOf));
    const since = await sinceBackup(stage, ledger, before);
    const { waiting } = await restore();
    restoredAt = wallClockMs();
    // docs/operating/runbooks/restore.md: deliveries that began to wait since the backup are gone.
    for (const delivery of waiting) ledger.takenAway.add(delivery);
    return afterwards(stage, ledger, { ...before, ...since });
  };
  const { services } = stage.stack.stack;
  const began = services.map(({ restarts }) => restarts);
  const course = await underLoad(inject)(stage, ledger);
  const [problems, notes] = await trucksGoOn(fleets);
  await ledger.untilQuiet();
  return {
    ...course,
    books: { published: ledger.published, balance: ledger.balance() },
    notes: [
      ...notes,
      `${ledger.takenAway.size} deliveries waited in Postgres when it was stopped, and may be gone with it`,
    ],
    problems: [
      ...(course.problems ?? []),
      ...problems,
      ...services.filter(({ restarts }, place) => restarts !== began[place]).map(({ spec }) => `${spec.name} ended`),
      ...ledger.unexpected(),
      ...(await missingInLog(stage.stack, ledger, restoredAt)),
    ],
  };
}

const shipper = (folder: string) => ({ interface: 'shipper', action: 'order.booked', folder }) as const;

type Before = { ended: Subscribed; moved: Subscribed; hung: HungParty };

/** Events before the backup. */
async function beforeBackup(stage: Stage, ledger: Ledger): Promise<Before> {
  const hung = await hungParty(stage, ledger, shipper('/hung'));
  await hung.put(WAITING);
  await until('it hangs', () => hung.open() > 0);
  const ended = await subscribed(stage, { ...shipper('/ended'), answers: [200] });
  return { ended, moved: await subscribed(stage, { ...shipper('/moved'), answers: [200] }), hung };
}

type Since = { made: Subscribed };

/** Events after the backup, which the restore forgets. */
async function sinceBackup({ ...stage }: Stage, ledger: Ledger, { ended, moved, hung }: Before): Promise<Since> {
  const { stack, receiver } = stage;
  await (await stack.clientOf(ended.account, 'shipper')).unsubscribe('order.booked');
  await publishFor(owing(ended, NOBODY), ledger, EVENTS);
  const path = `/moved/${randomUUID()}`;
  await (await stack.clientOf(moved.account, 'shipper')).subscribe('order.booked', receiver.url(path));
  await publishFor(owing(moved, undefined, path), ledger, EVENTS);
  await receiver.untilReceived(path, EVENTS);
  hung.answer(200);
  await until('what waited is delivered', async () => (await hung.waiting()) === 0, hung.served);
  const made = await subscribed(stage, { ...shipper('/made'), answers: [200] });
  await publishFor(made, ledger, EVENTS);
  await receiver.untilReceived(pathOf(made), EVENTS);
  const failing = await subscribed(stage, { ...shipper('/made'), answers: [500, 200], ends: [GONE] });
  await publishFor(failing, ledger, EVENTS);
  // Their retries wait in the broker.
  await receiver.untilReceived(pathOf(failing), EVENTS);
  return { made };
}

/** Resolves with what is not as it was. */
async function afterwards(
  stage: Stage,
  ledger: Ledger,
  { ended, moved, made, hung }: Before & Since,
): Promise<string[]> {
  await stage.stack.untilReady();
  await ledger.movedAgain(performance.now());
  const served = hung.served();
  await publishFor(ended, ledger, EVENTS);
  await publishFor(moved, ledger, EVENTS);
  await publishFor(owing(made, NOBODY), ledger, EVENTS);
  await Promise.all([ended, moved].map((party) => stage.receiver.untilReceived(pathOf(party), EVENTS)));
  await until('what waits again is gone again', async () => (await hung.waiting()) === 0, hung.waiting);
  return served === WAITING ? [] : [`${served} of ${WAITING} deliveries that waited came before the restore`];
}

/** On the road before the backup, and only since. All are heard of again, and fall silent. */
async function trucksGoOn(fleets: readonly [Fleet, Fleet]): Promise<[problems: string[], notes: string[]]> {
  await Promise.all(fleets.map(legOf));
  setClocks(NOTED_MS);
  try {
    await Promise.all(fleets.map((fleet) => legOf(fleet, NOTED_MS)));
    for (const fleet of fleets) fleet.park();
    setClocks(3 * HOUR_MS);
    await Promise.all(fleets.map((fleet) => fleet.untilTold()));
  } finally {
    rightClocks();
  }
  const [known, unknown] = fleets;
  const again = unknown.toldTooOften().filter((fact) => fact.startsWith('on '));
  return [
    [
      ...fleets.flatMap((fleet) => fleet.missing().map((fact) => `never told: ${fact}`)),
      ...known.toldTooOften().map((fact) => `told too often: ${fact}`),
      ...unknown
        .toldTooOften()
        .filter((fact) => !again.includes(fact))
        .map((fact) => `told too often: ${fact}`),
    ].slice(0, 10),
    [`${again.length} vehicles that were switched on since the backup were announced so once more`],
  ];
}

async function legOf(fleet: Fleet, offMs = 0): Promise<void> {
  await fleet.drive([offMs]);
  await fleet.untilTold();
}

const pathOf = ({ addresses }: Subscribed): string => addresses[0]?.path ?? '';

function owing(party: Party, ends?: readonly Ending[], path?: string): Party {
  return {
    ...party,
    owes: (event) =>
      party.owes(event).map(({ to, ...owed }) => ({
        ...owed,
        ...(to && { to: { ...to, ...(path !== undefined && { path }) } }),
        ...(ends && { ends }),
      })),
  };
}
