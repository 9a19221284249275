/** How a replica ends that was told to. */
import { Unavailable } from '@waybell/runtime/unavailable';
import { hearing, renewed, type Move, type Place, type World } from './world.ts';

const OVER = new Unavailable('time', () => Promise.resolve());

/** It releases the room, which is claimed by its own. */
function leftBy({ world: { claimed, ranOutOf }, index }: Place): Partial<World> {
  if (claimed === index) return { claimed: undefined, crashes: 0 };
  return ranOutOf === index ? { ranOutOf: undefined } : {};
}

export function closingMoves(place: Place): Move[] {
  const { replica, name } = place;
  if (!replica.state.isClosing) return [];
  const { state } = replica;
  const ends = () => ({ ...renewed(place), ...leftBy(place) });
  const running = [...state.members.values()].filter(({ isRunning }) => isRunning).map(({ id }) => id);
  // Their results may still arrive.
  const cut = () => hearing(place, [{ kind: 'threw', members: running, error: OVER }]);
  return [
    ...(running.length === 0 ? [] : [{ label: `${name} ends what is at work`, to: cut }]),
    { label: `${name} gives back what it has, and ends; a new one begins`, to: ends },
  ];
}
