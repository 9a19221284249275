/** One step of the hand-over: the state of applying an input. */
import type { Message, Outgoing } from '../messages.ts';
import type { Effect, SourceInHand, Leaving, Member, State, StepRules } from './state.ts';
import type { Lane } from './suspicion.ts';

/** One input being applied, and its results so far. Effects for many members are gathered, and added once at the end. */
export type Turn<M> = {
  state: State<M>;
  rules: StepRules<M>;
  effects: Effect<M>[];
  /** Members none of whose sendings is under way any more. */
  settled: Member<M>[];
  leaving: Leaving[];
  /** Members that are to run, if they may. */
  toRun: Member<M>[];
  /** Batches that are to run by themselves. */
  toRunAlone: Member<M>[][];
  toAcknowledge: number[];
};

export function newTurn<M>(state: State<M>, rules: StepRules<M>): Turn<M> {
  return {
    state,
    rules,
    effects: [],
    settled: [],
    leaving: [],
    toRun: [],
    toRunAlone: [],
    toAcknowledge: [],
  };
}

export function newSource<M>(state: State<M>, id: number, size: number): SourceInHand {
  const source = { id, isInHand: true, size, open: size, back: [], backAfterMs: 0, isPartlyDone: false };
  state.sources.set(id, source);
  return source;
}

const NOTHING: readonly Outgoing[] = [];

export function addMember<M>({ state }: Turn<M>, source: number, lane: Lane, message: Message): Member<M> {
  const member: Member<M> = {
    id: ++state.lastId,
    source,
    lane,
    message,
    purpose: 'handle',
    isRepeat: false,
    isWorthRemembering: false,
    isRunning: false,
    isLeaseAsked: false,
    caused: NOTHING,
    underWay: 0,
    isSettling: false,
    isAbandoned: false,
  };
  state.members.set(member.id, member);
  return member;
}

export function isInHand<M>({ state }: Pick<Turn<M>, 'state'>, { source }: Member<M>): boolean {
  return state.sources.get(source)?.isInHand === true;
}

/** The members of these ids that are still in the step. */
export function membersOf<M>({ state }: Turn<M>, ids: Iterable<number>): Member<M>[] {
  const members: Member<M>[] = [];
  for (const id of ids) {
    const member = state.members.get(id);
    if (member !== undefined) members.push(member);
  }
  return members;
}
