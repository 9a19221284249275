import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { until } from '@waybell/runtime/testing/until';
import type { Ledger } from '../../testing/ledger.ts';
import { Load } from '../../testing/load.ts';
import { Receiver } from '../../testing/receiver.ts';
import { logOf } from '../../testing/replica.ts';
import { ACTIONS, ATTEMPTS, subscribed, type Party } from '../../testing/subscribers.ts';
import { TestStack } from '../../testing/test-stack.ts';
import type { Course, Fault } from '../fault.ts';
import { SLOTS } from '../fault-settings.ts';
import type { BuiltStage, Scale, Settings, Stage } from '../stage.ts';

const HOSTS = Array.from({ length: 12 }, (_, number) => `127.0.0.${number + 10}`);
const AWAY_MS = { short: 10_000, release: 60_000 };
const EVENTS_PER_SECOND = { short: 60, release: 300 };
const ENOUGH = { short: 200, release: 3_000 };
/** Connections are made for most attempts: one that is kept tells nothing of the way out. */
const settings = { KEEP_ALIVE: '100ms' };

/** A fault of our own network or machine is no receiver's fault, and costs receivers only time. */
export const egress: Fault[] = [
  {
    row: 'L23',
    name: 'no receiver can be reached from here for a while',
    settings,
    buildStage,
    // The last attempts of some, made just as it began.
    bars: { duplicates: SLOTS, movingAgainSeconds: 15 },
    run: (stage, ledger) => breakUnderLoad(stage, ledger, loseTheWayOut),
  },
  {
    row: 'L23',
    name: 'the deliverer without a file descriptor for a while',
    settings,
    buildStage,
    bars: { duplicates: 0, movingAgainSeconds: 15 },
    run: (stage, ledger) => breakUnderLoad(stage, ledger, takeDescriptors),
  },
];

async function breakUnderLoad(
  stage: Stage,
  ledger: Ledger,
  breakIt: (stage: Stage) => Promise<Broken>,
): Promise<Course> {
  const { scale, stack } = stage;
  const parties = await Promise.all(
    HOSTS.flatMap((_, number) => [party(stage, 'shipper', number), party(stage, 'carrier', number)]),
  );
  const offBefore = await switchedOff(stack);
  using load = new Load({ ledger, parties, eventsPerSecond: EVENTS_PER_SECOND[scale] });
  await until('there is load', () => ledger.published >= ENOUGH[scale]);
  const { endedAt, problems } = await breakIt(stage);
  const movingAgainSeconds = await ledger.movedAgain(endedAt);
  const before = ledger.published;
  await until('there is load again', () => ledger.published >= before + ENOUGH[scale]);
  await load.stop();
  await ledger.untilSettled();
  const off = (await switchedOff(stack)) - offBefore;
  if (off > 0) problems.push(`${off} subscriptions were switched off`);
  return { movingAgainSeconds, problems };
}

async function switchedOff({ postgres }: TestStack): Promise<number> {
  return (await postgres.query('select from waybell.subscriptions where not is_active')).rowCount ?? 0;
}

/** When it was over, and what did not hold meanwhile. */
type Broken = { endedAt: number; problems: string[] };

/** Answers everything with success, at an address that few share; attempts made just as the way was lost may not arrive. */
function party(stage: Stage, side: 'shipper' | 'carrier', number: number): Promise<Party> {
  const action = ACTIONS[side][number % ACTIONS[side].length] ?? '';
  const answers = { most: ATTEMPTS[side], mayGetLost: true } as const;
  const ends = [{ kind: 'delivered', answers }] as const;
  return subscribed(stage, { interface: side, action, folder: `/${side}/${number}`, answers: ALWAYS_WELL, ends });
}

const ALWAYS_WELL = Array.from({ length: Math.max(...Object.values(ATTEMPTS)) }, () => 200);

const ENOUGH_SPARED = 50;
const SPARED_OR_GIVEN_UP = `
  select (select count(*) from waybell.deliverer_waiting)::int
    + (select count(*) from delivery_log.attempts where kind = 'exhausted')::int as count`;

async function loseTheWayOut({ receiver, scale, stack }: Stage): Promise<Broken> {
  await receiver.shut();
  await sleep(AWAY_MS[scale]);
  // However slow the machine: some have been spared by then, or have been attempted for the last time.
  await until('some wait for the way out, or are given up', async () => {
    const { rows } = await stack.postgres.query(SPARED_OR_GIVEN_UP);
    return rows[0]?.count >= ENOUGH_SPARED;
  });
  await receiver.open();
  const endedAt = performance.now();
  const { spec } = stack.stack.service('deliverer');
  const told = () =>
    logOf(spec).flatMap(({ msg }) => (typeof msg === 'string' && msg.startsWith('egress.') ? [msg] : []));
  await until('it has said that the way out is back', () => told().includes('egress.back'));
  return { endedAt, problems: told()[0] === 'egress.suspected' ? [] : ['it did not say what it suspected'] };
}

const run = promisify(execFile);
/** Fewer than any service has open. */
const NONE_LEFT = 16;

async function takeDescriptors({ scale, stack }: Stage): Promise<Broken> {
  const { pid } = stack.stack.service('deliverer').identity ?? {};
  const limit = async (most: string) => run('prlimit', ['--pid', String(pid), `--nofile=${most}:`]);
  const { stdout } = await run('prlimit', ['--pid', String(pid), '--nofile', '--output=SOFT', '--noheadings']);
  await limit(String(NONE_LEFT));
  await sleep(AWAY_MS[scale] / 2);
  await limit(stdout.trim());
  const endedAt = performance.now();
  const lines = logOf(stack.stack.service('deliverer').spec);
  const isTold = lines.some(({ msg, dependency }) => msg === 'dependency.away' && dependency === 'file descriptors');
  return { endedAt, problems: isTold ? [] : ['it did not miss a file descriptor'] };
}

/** Receivers at many addresses, as they are outside. */
async function buildStage(given: Settings, scale: Scale): Promise<BuiltStage> {
  await using started = new AsyncDisposableStack();
  const stack = started.use(await TestStack.startAlone(given));
  const receiver = started.use(await Receiver.start(HOSTS));
  const all = started.move();
  return { stack, receiver, scale, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
