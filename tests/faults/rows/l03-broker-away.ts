import { stopServer } from '../break-server.ts';
import type { Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import { underLoad, type Inject } from '../under-load.ts';

const AWAY_MS = { short: 5_000, release: 20_000 };

const faults: Record<string, Inject> = {
  'RabbitMQ stopped for a while': (stage) => stopServer(stage, 'rabbitmq', AWAY_MS[stage.scale]),
  'RabbitMQ killed': ({ stack }) => stack.killRabbitmq(),
};

export const brokerAway: Fault[] = Object.entries(faults).map(([name, inject]) => ({
  row: 'L3',
  name,
  gates: name === 'RabbitMQ killed',
  bars: { duplicates: HELD, movingAgainSeconds: 60 },
  run: underLoad(noServiceEnds(inject), { releaseTimes: 3 }),
}));

/** Services wait for their broker; they do not end and begin again. */
function noServiceEnds(inject: Inject): Inject {
  return async (stage, ledger) => {
    const { services } = stage.stack.stack;
    const before = services.map(({ restarts }) => restarts);
    await inject(stage, ledger);
    await ledger.movedAgain(performance.now());
    return services
      .filter(({ restarts }, place) => restarts !== before[place])
      .map(({ spec }) => `${spec.name} ended with its broker`);
  };
}
