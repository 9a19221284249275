/**
 * State, inputs and effects of the hand-over, as plain data: a test can copy a state and try everything that may follow. Below
 * them the `Transition`: one input being applied, and the results that it has so far.
 */
import type { BrokerState } from '../broker.ts';
import type {
  Fate,
  InParts,
  Message,
  NoResult,
  Outgoing,
  Parse,
  Publication,
  Rejection,
  Waiting,
} from '../messages.ts';
import type { Mark, OncePolicy } from '../once.ts';
import type { DeliveryEnd, Outcome } from '../outcomes.ts';
import type { Lane } from './suspicion.ts';

/** How a step reads and recognises messages. `M` is the result of `parse`. */
export type StepRules<M> = {
  /** Names the step's suspects lane. */
  name: string;
  /** Suspects of the step have a lane; else what fails is rejected at once. */
  hasLane: boolean;
  parse: Parse<M>;
  once?: OncePolicy<M>;
  /** Publications that the broker does not take now may wait in a room, to be sent on later. */
  hasRooms?: boolean;
  /**
   * Goes on while the broker blocks publishers, its effects waiting in a room: this drains the backlog that may have caused the
   * alarm. Other steps wait.
   */
  drainsWhileBlocked?: boolean;
  /** Returns further effects of a rejection, such as a record for the delivery log. */
  reportRejection?: (message: Message, rejection: Rejection) => readonly Outgoing[];
  /** Returns milliseconds since the epoch, for people to read. */
  now: () => number;
};

/** A message or row that a step took at once: an AMQP message, or a row of a room. Closes with its last member. */
export type SourceInHand = {
  id: number;
  /** False once it was taken back: another process has it, or will. */
  isInHand: boolean;
  /** Number of members it came with. */
  size: number;
  /** Number of members that are not closed. */
  open: number;
  /** Members to give back, and the delay; if none, the source is acknowledged. */
  back: Message[];
  backAfterMs: number;
  /** A member is done and must not be redelivered. */
  isPartlyDone: boolean;
};

/** One message in the step. Those of a batch advance together until their fates differ. */
export type Member<M> = {
  id: number;
  source: number;
  lane: Lane;
  message: Message;
  parsed?: M;
  /** The mark that recognises it. Members with the same key run one after the other. */
  mark?: Mark;
  /** The next member with the same key. */
  twin?: number;
  isRepeat: boolean;
  isWorthRemembering: boolean;
  /** Its handler is at work. */
  isRunning: boolean;
  /** Its storing was requested: Postgres is to have it instead of its batch. */
  isStoreRequested: boolean;
  /** The purpose of its effects under way. */
  purpose: 'handle' | 'reject' | 'put aside' | 'send alone';
  caused: readonly Outgoing[];
  rejection?: Rejection;
  /** The parts still to send, for effects in parts. */
  parts?: InParts;
  /** Number of its effects not yet known to be safe. */
  underWay: number;
  /** It is among those that the transition settles. */
  isSettling: boolean;
  failure?: Failure;
  /** An effect could not be made safe while the message was in hand. */
  isAbandoned: boolean;
};

/** The first error. */
export type Failure = { error: unknown };

/** A publication, or a delivery that is to wait, under way. Its result applies to exactly its members. */
export type Sending = {
  id: number;
  what: Publication | Waiting;
  shares: Share[];
  /** How often it was sent without a confirm, in a row. */
  failures: number;
  /** Number of unanswered requests for it: it may be published and put into a room at once. */
  asked: number;
  /** The last request was to put it into a room. */
  isPut: boolean;
};

/** One member whose effect a sending is. */
export type Share = {
  member: number;
  /** Approximate size of the record or end; 0 if it is neither. */
  characters: number;
  /** Its delivery, if the sending joins several. */
  publication?: Publication;
};

/** A delivery that leaves with others of the same transition. */
export type Leaving = { member: number; publication: Publication };

/** A record or end that leaves with the next flush, with its trace if that is recorded. */
export type BufferedRecord = Share & { outcome?: Outcome; end?: DeliveryEnd; traceparent?: string };

export type State<M> = {
  sources: Map<number, SourceInHand>;
  members: Map<number, Member<M>>;
  /** The last member of each key that is in the step. */
  keys: Map<string, number>;
  /** Members that run when a dependency is back. */
  deferred: Set<number>;
  sendings: Map<number, Sending>;
  bufferedRecords: BufferedRecord[];
  /** Characters of `bufferedRecords`. */
  bufferedCharacters: number;
  broker: BrokerState;
  /** During a short outage messages are deferred; in a long one everything is given back. */
  outage: 'none' | 'short' | 'long';
  isClosing: boolean;
  lastId: number;
};

export function emptyState<M>(): State<M> {
  return {
    sources: new Map(),
    members: new Map(),
    keys: new Map(),
    deferred: new Set(),
    sendings: new Map(),
    bufferedRecords: [],
    bufferedCharacters: 0,
    broker: 'away',
    outage: 'none',
    isClosing: false,
    lastId: 0,
  };
}

/** The messages of one source, as a step took them. */
export type Arrived = { id: number; lane: Lane; messages: readonly Message[] };

/**
 * An event that the hand-over reacts to; one input for a whole batch if it is the same for all. Lists of members, and of values
 * for them, have the same order.
 */
export type Input =
  | { kind: 'came'; sources: readonly Arrived[] }
  /** The source was taken back: its channel is closed, or its claim has run out. */
  | { kind: 'cut'; source: number }
  /** The fingerprint remembered under each one's key: it was handled before. */
  | { kind: 'recalled'; members: readonly number[]; known: readonly (string | undefined)[] }
  | { kind: 'ended'; members: readonly number[]; fates: readonly Fate[] }
  /** The handler threw for all of them, before anything was begun for any. */
  | { kind: 'threw'; members: readonly number[]; why: NoResult }
  | { kind: 'confirmed'; sendings: readonly number[] }
  | { kind: 'unconfirmed'; sending: number }
  /** Its queue confirms nothing for now, so it was not sent. */
  | { kind: 'stalled'; sending: number }
  /** It is unroutable, or no room can take it. */
  | { kind: 'refused'; sending: number; error: unknown }
  | { kind: 'remembered'; members: readonly number[] }
  /** Batches that have been in hand for too long. */
  | { kind: 'slow'; sources: ReadonlySet<number> }
  /** The stored copy, which has the member now instead of its batch; undefined if it could not be stored. */
  | { kind: 'stored'; member: number; source: number | undefined }
  /** Records have waited long enough for others. */
  | { kind: 'flush due' }
  | { kind: 'broker'; is: BrokerState }
  /** The dependency is back; or the outage is long, and nothing in hand waits for it. */
  | { kind: 'back' | 'outlasted' }
  /** The step ends: messages that have not begun are given back. */
  | { kind: 'closing' };

/** An effect to run; one effect for all members that an input concerns. */
export type Effect<M> =
  /** They run unless a recall shows that they are repeats. `isAlone`: these must not run in one batch with others. */
  | { kind: 'run'; members: readonly number[]; messages: readonly M[]; isAlone: boolean }
  /** `deliveries`: how many it joins; 0: it is none. */
  | { kind: 'publish'; sending: number; publication: Publication; deliveries: number; afterMs: number }
  /** It waits: a delivery in its endpoint's room; a publication, which the broker does not take for now, in its destination's. */
  | { kind: 'put'; sending: number; what: Publication | Waiting; afterMs: number }
  | { kind: 'remember'; members: readonly number[]; marks: readonly Mark[] }
  /** Its handler takes long: put it into another store, so that its batch can be acknowledged. */
  | { kind: 'store'; member: number; message: Message; parsed: M }
  | { kind: 'acknowledge'; sources: readonly number[] }
  | { kind: 'give back'; source: number; afterMs: number }
  /** Another process has it already. */
  | { kind: 'forget'; source: number }
  | { kind: 'flush later' }
  /** The broker takes nothing. */
  | { kind: 'wait for broker' }
  | { kind: 'report'; report: Report<M> };

/** Reports for the log, the metrics and the traces. */
export type Report<M> =
  | { kind: 'handled'; members: readonly Member<M>[] }
  | { kind: 'rejected'; message: Message; rejection: Rejection }
  | { kind: 'failed'; message: Message; error: unknown }
  | { kind: 'put aside'; message: Message }
  | { kind: 'given back' }
  /** Not even the suspects lane takes it: the topology is broken. */
  | { kind: 'stuck'; message: Message; error: unknown };

/** One input being applied, and its results so far. Effects for many members are gathered, and added once at the end. */
export type Transition<M> = {
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

export function newTransition<M>(state: State<M>, rules: StepRules<M>): Transition<M> {
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

export function addMember<M>({ state }: Transition<M>, source: number, lane: Lane, message: Message): Member<M> {
  const member: Member<M> = {
    id: ++state.lastId,
    source,
    lane,
    message,
    purpose: 'handle',
    isRepeat: false,
    isWorthRemembering: false,
    isRunning: false,
    isStoreRequested: false,
    caused: NOTHING,
    underWay: 0,
    isSettling: false,
    isAbandoned: false,
  };
  state.members.set(member.id, member);
  return member;
}

const NOTHING: readonly Outgoing[] = [];

/**
 * Whether something of a member may go out of this process. No other code asks whether the member's message is still this process's:
 * each effect passes here, each time that it is to go out.
 *
 * | its source was taken back | a message of a queue | a row of a room |
 * |---|---|---|
 * | `work`: its work begins or goes on; itself to another queue; a publication again | no: whoever has it does that | no |
 * | `result`: all that its work caused, for the first time | yes: the work is done, and remembered | no: whoever has it makes the attempt, and two would be retried |
 * | `record`: a record or end again | until the step ends: the work is on record | likewise |
 */
export function mayGoOut<M>(
  { state }: Pick<Transition<M>, 'state'>,
  { source, message }: Member<M>,
  what: 'work' | 'result' | 'record',
): boolean {
  if (state.sources.get(source)?.isInHand === true) return true;
  if (what === 'result') return message.waited === undefined;
  return what === 'record' && !state.isClosing;
}

/** The members of these ids that are still in the step. */
export function membersOf<M>({ state }: Transition<M>, ids: Iterable<number>): Member<M>[] {
  const members: Member<M>[] = [];
  for (const id of ids) {
    const member = state.members.get(id);
    if (member !== undefined) members.push(member);
  }
  return members;
}
