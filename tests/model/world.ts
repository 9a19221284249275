import { verdictOf } from '@waybell/line/hand-over/suspicion';
import type { AnswerKind, StepTable } from './step-table.ts';
import type { Copy, State, Work } from './state.ts';

/** What happens in a model: who there is, how the hand-over goes, and what may go wrong how often. */
export type World = {
  step: StepTable;
  handOver: HandOver;
  deliveries: number;
  replicas: number;
  /** Every delivery but the first is a suspect at the start. */
  isBesideSuspects: boolean;
  /** How attempts may end. */
  answers: readonly AnswerKind[];
  /** What may go wrong, and how often all of it together. */
  faultKinds: readonly FaultKind[];
  faultLimit: number;
};

export type FaultKind =
  /** A replica dies, between any two of its steps, and a new one is there at once. */
  | 'crash'
  /** So does one that handles the first delivery, and of that. */
  | 'kills'
  /** A replica's connection for consuming breaks: the broker takes back what it held. */
  | 'cut'
  /** The broker confirms negatively, or the message is lost on its way. */
  | 'refused'
  /** The broker has the message, and its confirm does not arrive. */
  | 'unconfirmed'
  /** No queue is bound where the message goes. */
  | 'returned'
  /** A delay queue brings a message twice. */
  | 'expired twice'
  /** One call of Redis fails. */
  | 'redis away'
  | 'redis forgets'
  /** The handler throws after its request. */
  | 'throws'
  /** A dependency is away for so long that the message is given back. */
  | 'outage';

/** What the order of the wrapper's steps rests on; each of these can be had otherwise, to see that it matters. */
export type HandOver = {
  acknowledges: 'when confirmed' | 'when sent';
  remembers: 'when confirmed' | 'when sent' | 'never';
  hearsRefusals: boolean;
  hearsReturns: boolean;
  /** Copies of one attempt in one replica wait for each other. */
  takesTurns: boolean;
  verdictOf: typeof verdictOf;
  /** A suspect that is given back goes to the end of its lane, with its count begun anew. */
  givesBackSuspects: 'put aside' | 'to the broker';
};

/** As `libs/line/run-step.ts` does it. */
export const asBuilt: HandOver = {
  acknowledges: 'when confirmed',
  remembers: 'when confirmed',
  hearsRefusals: true,
  hearsReturns: true,
  takesTurns: true,
  verdictOf,
  givesBackSuspects: 'put aside',
};

/** One step of the world. */
export type Move = {
  label: string;
  to: State;
  /** It neither keeps anything else from happening nor lets anything happen that could not before. */
  isQuiet?: boolean;
};

export const replicaName = (replica: number): string => `deliverer ${replica + 1}`;
export const nameOf = ({ delivery, attempt }: Copy): string => `attempt ${attempt} of ${'AB'[delivery]}`;

/** Beyond this nothing depends on how often the broker took a copy back. */
const COUNTED_DELIVERIES = 3;

/** The state with one work in another's place, or gone; and whatever else is different. */
export function replaced(state: State, work: Work, next: Work | undefined, change: Partial<State> = {}): State {
  const others = state.works.filter((each) => each !== work);
  return { ...state, works: next === undefined ? others : [...others, next], ...change };
}

/** What is in the queue again of works whose copies the broker takes back. */
export function takenBack(works: readonly Work[]): Copy[] {
  return works.filter(({ isHeld }) => isHeld).map(({ copy }) => again(copy));
}

function again(copy: Copy): Copy {
  return { ...copy, deliveryCount: Math.min(copy.deliveryCount + 1, COUNTED_DELIVERIES) };
}

/** With so many more requests of this delivery. */
export function asked(state: State, { copy }: Work, requests: number): Pick<State, 'requests'> {
  return { requests: state.requests.map((made, delivery) => (delivery === copy.delivery ? made + requests : made)) };
}
