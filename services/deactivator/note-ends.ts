import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import type { DeliveryEnd, InterfaceName } from '@waybell/line/outcomes';

/**
 * Notes how deliveries ended. A subscription with an exhausted delivery is due to be switched off, which `switch-off.ts` decides.
 * Noting the same deliveries twice changes only the number of failures that notices report.
 */
export type NoteEnds = (ends: readonly DeliveryEnd[]) => Promise<void>;

const TIMES = (parameter: string) =>
  `(select array_agg(to_timestamp(ms / 1000.0) order by place) from unnest(${parameter}::float8[]) with ordinality ended(ms, place))`;

const NOTE_ENDS = {
  name: 'note-ends',
  text: `select waybell.note_ends($1::uuid[], $2::int[], $3::uuid[], $4::boolean[], ${TIMES('$5')}, $6::text[])`,
};

const NOTE_EXHAUSTED = {
  name: 'note-exhausted',
  text: `select waybell.note_exhausted($1::uuid[], $2::uuid[], ${TIMES('$3')}, $4::text[], $5::int[])`,
};

/** `offOnExhausted`: interfaces whose subscriptions are switched off for it (carrier-webhooks, States and transitions). */
export function noteEndsIn(postgres: Postgres, { offOnExhausted }: { offOnExhausted: InterfaceName[] }): NoteEnds {
  const ask = (statement: { name: string; text: string }, values: unknown[]) =>
    whenAvailable(postgres, () => postgres.query({ ...statement, values }));

  return async (ends) => {
    const counted = ends.filter(({ isUncounted }) => isUncounted !== true);
    const exhausted = ends.filter(({ isDelivered }) => !isDelivered);
    if (counted.length > 0) {
      await ask(NOTE_ENDS, [
        counted.map(({ subscription }) => subscription),
        counted.map(({ generation }) => generation),
        counted.map(({ delivery }) => delivery),
        counted.map(({ isDelivered }) => isDelivered),
        counted.map(({ at }) => at),
        offOnExhausted,
      ]);
    }
    // Last: if anything fails before, the ends are redelivered, and counted once.
    if (exhausted.length > 0) {
      await ask(NOTE_EXHAUSTED, [
        exhausted.map(({ subscription }) => subscription),
        exhausted.map(({ delivery }) => delivery),
        exhausted.map(({ at }) => at),
        exhausted.map(({ reason = null }) => reason),
        exhausted.map(({ status = null }) => status),
      ]);
    }
  };
}
