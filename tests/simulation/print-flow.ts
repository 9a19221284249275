/** Prints the flow to 10,000 endpoints of all kinds: `node tests/simulation/print-flow.ts [seconds]`. */
import { count, readEnvironment } from '@waybell/runtime/environment';
import { endpointSettings, readEndpoints } from '@waybell/deliverer/config';
import { receivers, type Mix } from './receivers.ts';
import { simulateFlow, type Simulated } from './simulate-flow.ts';

const [seconds = '180'] = process.argv.slice(2);
const MIX: Mix = { endpoints: 10_000, perSecond: 1_000, slow: 0.02, hung: 0.01, flapping: 0.005, bursting: 0.005 };
const SEED = 20_261_121;

const settings = readEnvironment({
  DELIVER_SLOTS: count({ per: 'process', default: 1_024, desc: 'as the deliverer has it' }),
  ...endpointSettings,
});
const HELD = 1_024;
print(
  await simulateFlow({
    receivers: receivers(MIX),
    endpoints: readEndpoints(settings, HELD),
    durationMs: Number(seconds) * 1_000,
    held: HELD,
    random: randomFrom(SEED),
  }),
);

function print({ waitsMs, slotsUsed, put }: Simulated): void {
  process.stdout.write(`${seconds} s; put: full ${put.full ?? 0}, hung ${put.hung ?? 0}\n`);
  const used = slotsUsed.toSorted((one, other) => one - other);
  process.stdout.write(`slots used: p50 ${at(used, 0.5)}, max ${at(used, 1)}\n`);
  console.table(
    Object.fromEntries(
      [...waitsMs].map(([kind, waits]) => {
        const sorted = waits.toSorted((one, other) => one - other);
        const attempted = sorted.findIndex((wait) => wait === Infinity);
        const done = attempted === -1 ? sorted.length : attempted;
        const cell = (part: number) => Math.round(at(sorted.slice(0, done), part));
        return [
          kind,
          {
            due: waits.length,
            attempted: done,
            'p50 ms': cell(0.5),
            'p99 ms': cell(0.99),
            'p99.9 ms': cell(0.999),
            'max ms': cell(1),
          },
        ];
      }),
    ),
  );
}

function at(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

/** The same sequence every time: mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
