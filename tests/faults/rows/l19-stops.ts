import { serviceNames } from '@waybell/stack/services';
import type { SupervisedProcess } from '@waybell/stack/supervised-process';
import { until } from '@waybell/runtime/testing/until';
import type { Ledger } from '../../testing/ledger.ts';
import type { Received } from '../../testing/receiver.ts';
import { logOf } from '../../testing/replica.ts';
import { alarmed } from '../alarmed.ts';
import type { Fault } from '../fault.ts';
import { freeze } from '../freeze.ts';
import { HELD } from '../fault-settings.ts';
import { hungParty, publishFor } from '../hung-party.ts';
import type { Settings, Stage } from '../stage.ts';
import { underLoad } from '../under-load.ts';

const HUNG_EACH = 3;

/** Requests that hang outlast it. */
const tooShort = { SHUTDOWN_GRACE: '8s', SHUTDOWN_ALLOW_SHORT: 'true' };

/** Has something be away, or blocked, while the service ends. */
type Meanwhile = (stage: Stage, end: () => Promise<void>) => Promise<void>;

const withoutServer =
  (name: 'redis' | 'postgres'): Meanwhile =>
  async ({ stack }, end) => {
    const server = stack.stack.servers.process(name);
    await server.stop();
    try {
      await end();
    } finally {
      await server.start();
    }
  };

const whileFrozen: Meanwhile = async ({ stack }, end) => {
  const goOn = freeze(stack.stack.servers.process('rabbitmq'));
  try {
    await end();
  } finally {
    goOn();
  }
};

/** Only what is away is not waited for: what is slow on a busy machine is there. */
const ways: Record<string, { meanwhile: Meanwhile; settings?: Settings }> = {
  'requests that hang': { meanwhile: (_stage, end) => end() },
  'requests that hang, during an alarm': { meanwhile: (stage, end) => alarmed(stage, 'memory', end) },
  'requests that hang, Redis away': { meanwhile: withoutServer('redis'), settings: { REDIS_TIMEOUT: '1s' } },
  'requests that hang, Postgres away': { meanwhile: withoutServer('postgres'), settings: { DATABASE_TIMEOUT: '2s' } },
  'requests that hang, RabbitMQ frozen': { meanwhile: whileFrozen },
};

/** `areAnswered`: what hangs is answered once nothing more is taken; else it is cut. */
type How = { meanwhile: Meanwhile; areAnswered: boolean };

/** SIGTERM: not ready at once, nothing taken any more, what is in hand ends or is given back, exit code 0. */
export const stops: Fault[] = [
  ...Object.entries(ways).flatMap(([name, { meanwhile, settings = {} }]): Fault[] => [
    {
      row: 'L19',
      name: `a deliverer told to stop with ${name}`,
      settings,
      bars: { duplicates: 0 },
      run: stopping({ meanwhile, areAnswered: true }),
    },
    {
      row: 'L19',
      name: `a deliverer told to stop sooner than they end, with ${name}`,
      settings: { ...settings, ...tooShort },
      bars: { duplicates: HELD },
      run: stopping({ meanwhile, areAnswered: false }),
    },
  ]),
  ...serviceNames
    .filter((name) => name !== 'deliverer')
    .map((name): Fault => {
      return {
        row: 'L19',
        name: `${name} told to stop during an alarm`,
        bars: { duplicates: 0 },
        run: underLoad((stage) => stopDuringAlarm(stage, name)),
      };
    }),
];

function stopping(how: How): Fault['run'] {
  return (stage, ledger) => {
    // Repeats of earlier rows, for example after a kill, do not count.
    const from = stage.receiver.received.length;
    const check = () => answeredAgain(stage.receiver.received.slice(from));
    return underLoad(() => stopWithHung(stage, ledger, how), { check })(stage, ledger);
  };
}

async function stopDuringAlarm(stage: Stage, name: string): Promise<string[]> {
  const service = stage.stack.stack.service(name);
  await alarmed(stage, 'memory', () => service.stop());
  const problems = exitOf(service);
  await service.start();
  return problems;
}

async function stopWithHung(stage: Stage, ledger: Ledger, { meanwhile, areAnswered }: How): Promise<string[]> {
  const deliverer = stage.stack.stack.service('deliverer');
  const [shipper, carrier] = await Promise.all([
    hungParty(stage, ledger, { interface: 'shipper', action: 'order.paid', folder: '/hung' }),
    hungParty(stage, ledger, { interface: 'carrier', action: 'order.created', folder: '/hung' }),
  ]);
  await Promise.all([shipper, carrier].map((party) => publishFor(party, ledger, HUNG_EACH)));
  await until('requests hang', () => shipper.open() > 0 && carrier.open() > 0);
  const answer = () => {
    shipper.answer(200);
    carrier.answer(500);
  };
  let problems: string[] = [];
  await meanwhile(stage, async () => {
    problems = await stopInOrder(deliverer, ledger, () => areAnswered && answer());
  });
  for (const party of [shipper, carrier]) party.answer(200);
  await deliverer.start();
  return problems;
}

/** Resolves when it has ended, with what was not as promised. */
async function stopInOrder(service: SupervisedProcess, ledger: Ledger, onTakingEnded: () => void): Promise<string[]> {
  const { spec } = service;
  const before = logOf(spec).length;
  const said = () =>
    logOf(spec)
      .slice(before)
      .map(({ msg }) => msg);
  const ended = service.stop();
  const ask = (path: string) => fetch(`${spec.health}${path}`);
  await until('it has heard', () => said().includes('shutdown.begun'));
  const [ready, alive] = [await ask('/readyz'), await ask('/livez')];
  const { waitingFor } = (await ready.json()) as { waitingFor: string[] };
  await until('it takes nothing more', () => said().includes('taking.ended'));
  const takingEndedAt = performance.now();
  onTakingEnded();
  await ended;
  const isTold = ready.status === 503 && waitingFor.includes('shutdown') && alive.status === 200;
  return [
    ...(isTold ? [] : [`/readyz said ${ready.status}, ${waitingFor.join()}, and /livez ${alive.status}`]),
    ...(ledger.hasMovedSince(takingEndedAt) ? ['what was published after it took nothing more was delivered'] : []),
    ...exitOf(service),
  ];
}

function exitOf({ spec, howItEnded = 'has not ended' }: SupervisedProcess): string[] {
  return howItEnded === 'ended with exit code 0' ? [] : [`${spec.name} ${howItEnded}`];
}

/** Requests that were made again although they had an answer. */
function answeredAgain(received: readonly Received[]): string[] {
  const answered = new Set<string>();
  const again = new Set<string>();
  for (const { headers, answered: status } of received) {
    const request = `${String(headers['webhook-id'])}, attempt ${String(headers['x-webhook-attempt'])}`;
    if (answered.has(request)) again.add(request);
    if (status !== undefined) answered.add(request);
  }
  return [...again].map((request) => `${request}: answered, and made again`);
}
