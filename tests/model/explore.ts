import { brokenLaw, figures, type Limits } from './laws.ts';
import { faultMoves } from './fault-moves.ts';
import { regularMoves } from './moves.ts';
import { keyOf, start, type State } from './state.ts';
import type { Move, World } from './world.ts';

export type Exploration = {
  states: number;
  /** The most there was of each, in any state, of any one delivery. */
  requests: number;
  copies: number;
  /** The shortest way to a state in which a law is broken. */
  counterexample?: { broken: string; story: string[] };
};

type Visited = { state: State; from: Visited | undefined; label: string };

/** Visits every state that can be reached, shortest ways first, until a law is broken in one. */
export function explore(world: World, limits: Limits): Exploration {
  const first: Visited = { state: start(world.deliveries, world.isBesideSuspects), from: undefined, label: '' };
  const seen = new Seen();
  seen.add(first.state);
  const most = { requests: 0, copies: 0 };
  let frontier = [first];
  while (frontier.length > 0) {
    const next: Visited[] = [];
    for (const visited of frontier) {
      const moves = regularMoves(visited.state, world);
      const broken = brokenLaw(visited.state, world, limits) ?? standstill(visited.state, moves);
      if (broken !== undefined)
        return { states: seen.size, ...most, counterexample: { broken, story: storyOf(visited) } };
      measure(visited.state, most);
      for (const { label, to } of nextOf(visited.state, moves, world)) {
        if (seen.add(to)) next.push({ state: to, from: visited, label });
      }
    }
    frontier = next;
  }
  return { states: seen.size, ...most };
}

/** When nothing more can go wrong, a record is confirmed at once: all else may as well happen afterwards. */
function nextOf(state: State, moves: Move[], world: World): Move[] {
  if (state.faults < world.faultLimit) return [...moves, ...faultMoves(state, world)];
  const alone = moves.find(({ isQuiet }) => isQuiet);
  return alone === undefined ? moves : [alone];
}

/**
 * What was visited. A state is no news where the same was reached with no more faults and no fewer requests: all that
 * can happen from it can happen from there, and breaks at least the same laws.
 */
class Seen {
  readonly #best = new Map<string, State[]>();
  size = 0;

  add(state: State): boolean {
    const key = keyOf(state);
    const before = this.#best.get(key) ?? [];
    if (before.some((other) => covers(other, state))) return false;
    this.#best.set(key, [...before.filter((other) => !covers(state, other)), state]);
    this.size += 1;
    return true;
  }
}

function covers(one: State, other: State): boolean {
  const isAsBusy = one.requests.every((requests, delivery) => requests >= (other.requests[delivery] ?? 0));
  return isAsBusy && one.faults <= other.faults;
}

function standstill({ waiting, works }: State, moves: Move[]): string | undefined {
  return moves.length === 0 && waiting.length + works.length > 0 ? 'the line stands still' : undefined;
}

function measure(state: State, most: { requests: number; copies: number }): void {
  for (const delivery of state.requests.keys()) {
    const { requests, copies } = figures(state, delivery);
    most.requests = Math.max(most.requests, requests);
    most.copies = Math.max(most.copies, copies);
  }
}

function storyOf(last: Visited): string[] {
  const story: string[] = [];
  for (let at = last; at.from !== undefined; at = at.from) story.unshift(at.label);
  return story;
}
