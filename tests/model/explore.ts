import { faultMoves } from './fault-moves.ts';
import { brokenLaw, deliveriesOf, figures, isAtRest, type Limits } from './laws.ts';
import { regularMoves } from './moves.ts';
import type { Setting } from './setting.ts';
import { worldKey } from './world-key.ts';
import { start, type Move, type World } from './world.ts';

export type Exploration = {
  worlds: number;
  /** The most there was of each, in any world, of any one delivery. */
  requests: number;
  copies: number;
  /** The shortest way to a world in which a law is broken. */
  counterexample?: { broken: string; story: string[] };
};

/** The way to a world. The worlds on it are not kept. */
type Way = { label: string; from: Way } | undefined;
type Reached = { world: World; way: Way };

/** Visits every world that can be reached, shortest ways first, until a law is broken in one. */
export function explore(setting: Setting, limits: Limits): Exploration {
  const seen = new Seen();
  const most = { requests: 0, copies: 0 };
  const first = start(setting);
  seen.add(first);
  let frontier: Reached[] = [{ world: first, way: undefined }];
  while (frontier.length > 0) {
    const next: Reached[] = [];
    for (const { world, way } of frontier) {
      const moves = regularMoves(world, setting);
      const broken = brokenLaw(world, limits) ?? standstill(world, moves);
      if (broken !== undefined) return { worlds: seen.size, ...most, counterexample: { broken, story: storyOf(way) } };
      measure(world, most);
      for (const { label, to } of nextOf(world, moves, setting)) {
        const reached = to();
        if (seen.add(reached)) next.push({ world: reached, way: { label, from: way } });
      }
    }
    frontier = next;
  }
  return { worlds: seen.size, ...most };
}

/** When nothing more can go wrong, a record is confirmed at once: all else may as well happen afterwards. */
function nextOf(world: World, moves: Move[], setting: Setting): Move[] {
  if (world.faults < setting.faultLimit) return [...moves, ...faultMoves(world, setting)];
  const alone = moves.find(({ isQuiet }) => isQuiet);
  return alone === undefined ? moves : [alone];
}

/**
 * Visited worlds. A world is skipped if the same one was reached with no more faults and no fewer requests: everything that can
 * follow it can follow that one, and breaks at least the same laws.
 */
class Seen {
  readonly #best = new Map<string, Counted[]>();
  size = 0;

  add(world: World): boolean {
    const key = worldKey(world);
    const { faults, requests } = world;
    const before = this.#best.get(key) ?? [];
    if (before.some((other) => covers(other, world))) return false;
    this.#best.set(key, [...before.filter((other) => !covers(world, other)), { faults, requests }]);
    this.size += 1;
    return true;
  }
}

type Counted = Pick<World, 'faults' | 'requests'>;

function covers(one: Counted, other: Counted): boolean {
  const isAsBusy = Object.entries(one.requests).every(([name, requests]) => requests >= (other.requests[name] ?? 0));
  return isAsBusy && one.faults <= other.faults;
}

function standstill(world: World, moves: Move[]): string | undefined {
  return moves.every(({ isRelease }) => isRelease) && !isAtRest(world) ? 'the line stands still' : undefined;
}

function measure(world: World, most: { requests: number; copies: number }): void {
  for (const delivery of deliveriesOf(world)) {
    const { requests, copies } = figures(world, delivery);
    most.requests = Math.max(most.requests, requests);
    most.copies = Math.max(most.copies, copies);
  }
}

function storyOf(way: Way): string[] {
  const story: string[] = [];
  for (let at = way; at !== undefined; at = at.from) story.unshift(at.label);
  return story;
}
