import { allAtOnce, type Handler } from '@waybell/line/messages';
import { readEnds } from '@waybell/line/outcome-batch';
import type { DeliveryEnd, InterfaceName } from '@waybell/line/outcomes';
import type { Step } from '@waybell/line/run-step';
import { deactivatorQueue } from '@waybell/line/topology';
import type { Log } from '@waybell/runtime/log';
import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import type { Config } from './config.ts';

type DeactivateOptions = { noteEnds: NoteEnds; endGone: EndGone };

/** Messages of up to 100 ends, noted in one statement. */
const LARGEST_BATCH = 20;

/** The deactivator's step. Needs no `once`: noting the same ends twice changes nothing. */
export function deactivateStep({ config, ...options }: DeactivateOptions & { config: Config }): Step<DeliveryEnd[]> {
  return {
    name: 'deactivator',
    queues: [deactivatorQueue],
    inHandLimit: config.inHandLimit,
    parse: readEnds,
    handle: deactivate(options),
    gathering: { largest: LARGEST_BATCH },
    traces: 'of a batch',
    describe: (ends) => ({ ends: ends.length }),
  };
}

/**
 * Notes ends of deliveries; subscriptions whose deliveries only fail are switched off. Ends those whose receiver is gone. The deliverer
 * decides which ends count
 * (`libs/line/outcome-batch.ts`). `switch_off` stores each deactivation, and `deactivations.ts` publishes it from there.
 */
export function deactivate({ noteEnds, endGone }: DeactivateOptions): Handler<DeliveryEnd[]> {
  return allAtOnce(async (batch) => {
    const ends = batch.flat();
    const gone = ends.filter(({ isGone }) => isGone);
    if (gone.length > 0) await endGone(gone);
    await noteEnds(ends.filter(({ isGone }) => !isGone));
    return [];
  });
}

/** Ends subscriptions whose receiver answered 410. Repeated, it changes nothing. */
type EndGone = (gone: readonly DeliveryEnd[]) => Promise<void>;

const END_GONE = {
  name: 'end-gone',
  text: 'select subscription, interface, action from waybell.end_gone($1::uuid[], $2::int[], $3::text[])',
};

/** `endOnGone`: interfaces whose subscriptions end for it. */
export function endGoneIn(
  postgres: Postgres,
  { endOnGone, log }: { endOnGone: InterfaceName[]; log: Pick<Log, 'info'> },
): EndGone {
  return async (gone) => {
    if (endOnGone.length === 0) return;
    const values = [gone.map(({ subscription }) => subscription), gone.map(({ generation }) => generation), endOnGone];
    const { rows } = await whenAvailable(postgres, () => postgres.query<object>({ ...END_GONE, values }));
    for (const ended of rows) log.info({ ...ended, reason: 'gone' }, 'subscription.ended');
  };
}

/**
 * Notes how deliveries ended. A subscription with an exhausted delivery is due to be switched off, which `switch-off.ts` decides.
 * Noting the same deliveries twice changes only the number of failures that notices report.
 */
type NoteEnds = (ends: readonly DeliveryEnd[]) => Promise<void>;

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
