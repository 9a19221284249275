import type { Door } from '@waybell/line/hand-over/suspicion';

/** Where the world stands between two steps: what the broker has, what the replicas are at, and what was done. */
export type State = {
  /** On the line and held by nobody. */
  waiting: readonly Copy[];
  works: readonly Work[];
  /** Keys in Redis. */
  remembered: readonly string[];
  /** Of the records that are safe in their queues: attempts that have one, and deliveries that ended or were rejected. */
  records: readonly string[];
  /** Requests made, by delivery. */
  requests: readonly number[];
  /** Faults so far. */
  faults: number;
};

/** One message of a delivery, counted from 0. There may be several of the same attempt. */
export type Copy = {
  delivery: number;
  attempt: number;
  door: Door;
  /** How often the broker took it back. */
  deliveryCount: number;
  /** How often its handler threw as a suspect. */
  failures: number;
};

/** What one replica is at with one copy. */
export type Work = {
  replica: number;
  copy: Copy;
  /** False once the broker has taken the copy back: the replica goes on and cannot acknowledge. */
  isHeld: boolean;
  stage: Stage;
};

export type Stage =
  | { kind: 'taken' }
  | { kind: 'publishing'; why: 'handled' | 'put aside'; isToBeRemembered: boolean; publications: readonly Sent[] }
  | { kind: 'handed over' };

export type Publishing = Extract<Stage, { kind: 'publishing' }>;

export type Sent = { what: Publication; fate: Fate };

export type Fate = 'sent' | 'confirmed' | 'returned' | 'given up';

export type Publication = { kind: 'copy'; copy: Copy } | { kind: 'record'; record: string };

export const record = (delivery: number, attempt: number, end: string): string => `${delivery} ${attempt} ${end}`;

/** Each delivery on its way to its first attempt, and those after the first already suspects where the world says so. */
export function start(deliveries: number, isBesideSuspects: boolean): State {
  const all = Array.from({ length: deliveries }, (_, delivery) => delivery);
  const doorOf = (delivery: number): Door => (isBesideSuspects && delivery > 0 ? 'suspects' : 'queue');
  return {
    waiting: all.map((delivery) => ({ delivery, attempt: 1, door: doorOf(delivery), deliveryCount: 0, failures: 0 })),
    works: [],
    remembered: [],
    records: [],
    requests: all.map(() => 0),
    faults: 0,
  };
}

/** The same for states from which the same can happen. What was counted on the way is not in it. */
export function keyOf({ waiting, works, remembered, records }: State): string {
  const rest = [waiting.map(copyKey).toSorted(), remembered.toSorted(), records.toSorted()].join('|');
  return `${rest}|${worksKey(works)}`;
}

/** Replicas are alike: it does not matter which of them is at what. */
function worksKey(works: readonly Work[]): string {
  const byReplica: string[][] = [];
  for (const work of works) (byReplica[work.replica] ??= []).push(workKey(work));
  return byReplica
    .map((keys) => keys.toSorted().join('+'))
    .toSorted()
    .join('/');
}

const copyKey = remembering(({ delivery, attempt, door, deliveryCount, failures }: Copy) => {
  return `${delivery}${attempt}${door[0]}${deliveryCount}${failures}`;
});

const workKey = remembering(({ copy, isHeld, stage }: Work) => {
  const at = stage.kind === 'publishing' ? publishingKey(stage) : stage.kind[0];
  return `${copyKey(copy)}${isHeld ? 'held' : 'gone'}${at}`;
});

function publishingKey({ why, isToBeRemembered, publications }: Publishing): string {
  const sent = publications.map(({ what, fate }) => {
    return `${what.kind === 'copy' ? copyKey(what.copy) : what.record}${fate}`;
  });
  return `${why}${isToBeRemembered}${sent.join()}`;
}

// Most of a state is in its successors too, and nothing in it changes.
function remembering<T extends object>(key: (value: T) => string): (value: T) => string {
  const known = new WeakMap<T, string>();
  return (value) => {
    const before = known.get(value);
    if (before !== undefined) return before;
    const made = key(value);
    known.set(value, made);
    return made;
  };
}
