import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import type { DeliveryEnd, InterfaceName } from '@waybell/line/outcomes';

/**
 * Notes how deliveries ended. A subscription with an exhausted delivery is due to be switched off, which `switch-off.ts` decides.
 * Noting the same deliveries twice changes nothing.
 */
export type NoteEnds = (ends: readonly DeliveryEnd[]) => Promise<void>;

const NOTE_ENDS = {
  name: 'note-ends',
  text: `select waybell.note_ends($1::uuid[], $2::int[], $3::uuid[], $4::boolean[],
           (select array_agg(to_timestamp(ms / 1000.0) order by place) from unnest($5::float8[]) with ordinality ended(ms, place)),
           $6::text[])`,
};

/** `offOnExhausted`: interfaces whose subscriptions are switched off for it (carrier-webhooks, States and transitions). */
export function noteEndsIn(postgres: Postgres, { offOnExhausted }: { offOnExhausted: InterfaceName[] }): NoteEnds {
  return async (ends) => {
    const values = [
      ends.map(({ subscription }) => subscription),
      ends.map(({ generation }) => generation),
      ends.map(({ delivery }) => delivery),
      ends.map(({ isDelivered }) => isDelivered),
      ends.map(({ at }) => at),
      offOnExhausted,
    ];
    await whenAvailable(postgres, () => postgres.query({ ...NOTE_ENDS, values }));
  };
}
