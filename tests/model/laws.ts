import type { State, Work } from './state.ts';
import type { World } from './world.ts';

/** What must hold of one delivery, whatever happens. */
export type Limits = {
  retries: number;
  /** At most, with all faults there may be. */
  requests: number;
  /** Copies of one attempt on the line at the same time. */
  copies: number;
  /** Whether there is reason to reject the first delivery; there never is for another. */
  isRejectable: boolean;
};

const SUSPECT_DELIVERIES = 3;

/** The first law that does not hold here, in words; undefined where all do. */
export function brokenLaw(state: State, world: World, limits: Limits): string | undefined {
  const isAtRest = state.waiting.length + state.works.length === 0;
  for (let delivery = 0; delivery < world.deliveries; delivery += 1) {
    const broken = brokenFor(state, delivery, limits) ?? (isAtRest ? incomplete(state, delivery) : undefined);
    if (broken !== undefined) return `${broken} (delivery ${'AB'[delivery]})`;
  }
  return undefined;
}

function brokenFor(state: State, delivery: number, limits: Limits): string | undefined {
  const { attempts, copies, requests } = figures(state, delivery);
  if (attempts.length === 0 && !hasEnded(state, delivery)) return 'lost: no copy is left, and no end was recorded';
  if (attempts.some((attempt) => attempt > limits.retries + 1)) return 'an attempt beyond the schedule';
  if (state.works.some(isHandledTooOften)) return `handled after ${SUSPECT_DELIVERIES} deliveries`;
  if (requests > limits.requests) return `more than ${limits.requests} requests`;
  if (copies > limits.copies) return `more than ${limits.copies} copies of one attempt`;
  const isRejectable = limits.isRejectable && delivery === 0;
  return state.records.includes(`${delivery} rejected`) && !isRejectable ? 'rejected without reason' : undefined;
}

function isHandledTooOften({ stage, copy }: Work): boolean {
  return stage.kind === 'publishing' && stage.why === 'handled' && copy.deliveryCount >= SUSPECT_DELIVERIES;
}

/** What is counted of a delivery at this moment. */
export function figures(state: State, delivery: number): { attempts: number[]; copies: number; requests: number } {
  const held = state.works.flatMap(({ copy, isHeld }) => (isHeld ? [copy] : []));
  const attempts = [...state.waiting, ...held]
    .filter((copy) => copy.delivery === delivery)
    .map(({ attempt }) => attempt);
  const byAttempt = Map.groupBy(attempts, (attempt) => attempt);
  return {
    attempts,
    copies: Math.max(0, ...[...byAttempt.values()].map((same) => same.length)),
    requests: state.requests[delivery] ?? 0,
  };
}

function hasEnded({ records }: State, delivery: number): boolean {
  return records.includes(`${delivery} ended`) || records.includes(`${delivery} rejected`);
}

/** At rest, there is a record of every attempt up to the last. */
function incomplete({ records }: State, delivery: number): string | undefined {
  const attempts = records.flatMap((each) => {
    const [of, attempt] = each.split(' ').map(Number);
    return of === delivery && attempt !== undefined && attempt > 0 ? [attempt] : [];
  });
  const last = Math.max(0, ...attempts);
  return attempts.length < last ? `records of ${attempts.length} of ${last} attempts` : undefined;
}
