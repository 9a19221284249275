/** How what a replica handles may end: each by itself, or together with others in one turn of the event loop. */
import type { Delivery } from '@waybell/line/delivery';
import type { Fate } from '@waybell/line/messages';
import type { Mark } from '@waybell/line/once';
import { nameOf } from './copies.ts';
import type { AnswerKind } from './deliverer.ts';
import { Parts } from './parts.ts';
import type { Asked } from './replica.ts';
import type { Setting } from './setting.ts';
import { isLate, isWaiting, knowing, retaining } from './rooms.ts';
import { asking, hearing, subjectOf, type Move, type Place, type World } from './world.ts';

/** A member of a running batch that has not ended. */
export type Running = { member: number; message: Delivery };

/** A running member, and its possible fate. Each fate is made separately, because fates in parts change. */
type Ending = Running & { answer: AnswerKind; what: string; requests: number; isOver: boolean; fate: () => Fate };

export function handlingMoves(place: Place): Move[] {
  const each = place.replica.inFlight
    .flatMap((asked) => (asked.kind === 'run' && asked.isRecalled ? runningIn(asked) : []))
    .map((running) => answersTo(place.world, running.message, place.setting).map(ending(place, running)));
  const alone = each.flat().map((one) => [one]);
  const together = each.length < 2 ? [] : combinationsOf(each);
  return [...[...alone, ...together].map((endings) => ended(place, endings)), ...notBegun(place)];
}

/** Nothing is heard of whether it waits already, though it does, and it is handled: `isRetained`: the row was found all the same. */
export function unheardOf(place: Place, running: Running, { isRetained }: { isRetained: boolean }): Move[] {
  const { world, setting } = place;
  if (!isWaiting(world, running.message)) return [];
  const rows = isRetained ? retaining(world, running.message) : {};
  return setting.answers.map((answer) =>
    ended({ ...place, world: { ...world, ...rows } }, [ending(place, running)(answer)]),
  );
}

/** No request begins for a member that was taken back before, however late in its batch. */
function notBegun(place: Place): Move[] {
  const { inFlight, state } = place.replica;
  return inFlight.flatMap((asked) => {
    if (asked.kind !== 'run') return [];
    const members = asked.members.filter((member) => !isInHand({ state }, member));
    if (members.length === 0) return [];
    const fates = members.map((): Fate => ({ kind: 'failed', error: 'another process has it' }));
    const to = () => hearing(withoutRunning(place, members), [{ kind: 'ended', members, fates }]);
    return [{ label: `${place.name} begins no request of what was taken back`, to }];
  });
}

function isInHand({ state }: Pick<Place['replica'], 'state'>, member: number): boolean {
  return state.sources.get(state.members.get(member)?.source ?? 0)?.isInHand === true;
}

export function runningIn({ members, messages }: Asked<'run'>): Running[] {
  return members.flatMap((member, at) => {
    const message = messages[at];
    return message === undefined ? [] : [{ member, message }];
  });
}

/**
 * The recall of a batch is answered by one who has these marks: repeats run no more. Its query may be answered before or after
 * that, which makes a difference to nobody: either is heard of once both are answered.
 */
export function recalling(place: Place, asked: Asked<'run'>, marks: readonly Mark[]): Move {
  const { replica, name, setting } = place;
  const { members, messages } = asked;
  const keys = messages.map((message) => setting.rules.once?.keyOf(message).key);
  const known = keys.map((key) => marks.find((mark) => mark.key === key)?.fingerprint);
  const repeats = members.filter((_, at) => known[at] !== undefined);
  const of = {
    members: members.filter((member) => !repeats.includes(member)),
    messages: messages.filter((_, at) => known[at] === undefined),
  };
  const left = of.members.length === 0 ? [] : [{ ...asked, ...of, isRecalled: true, repeats } as const];
  const inFlight = replica.inFlight.flatMap((each) => (each === asked ? left : [each]));
  return {
    label: `${name} ${repeats.length > 0 ? 'recognises' : 'does not know'} ${subjectOf(place, asked)}`,
    to: () => hearing({ ...place, replica: { ...replica, inFlight } }, [{ kind: 'recalled', members, known }]),
  };
}

/** One of each, in every way. */
function combinationsOf<T>([first = [], ...rest]: readonly (readonly T[])[]): T[][] {
  if (rest.length === 0) return first.map((one) => [one]);
  const others = combinationsOf(rest);
  return first.flatMap((one) => others.map((other) => [one, ...other]));
}

/** How handling it may go: what waits already is not handled. */
function answersTo(world: World, delivery: Delivery, { answers }: Setting): readonly AnswerKind[] {
  return isWaiting(world, delivery) ? ['waits already'] : answers;
}

function ending(place: Place, running: Running) {
  const { setting, replica } = place;
  const { member, message } = running;
  const isOver = message.waited !== undefined && isLate(place);
  const copy = replica.state.members.get(member);
  const name = copy === undefined ? 'nothing' : nameOf(copy);
  return (answer: AnswerKind): Ending => {
    const { requests, caused } = setting.deliverer.handled(message, answer);
    const what = `${name}: ${answer}${isOver ? ', too late' : ''}`;
    return { ...running, answer, what, requests, isOver, fate: () => fateOf(caused) };
  };
}

function fateOf(caused: ReturnType<Setting['deliverer']['handled']>['caused']): Fate {
  return { kind: 'done', caused: 'parts' in caused ? new Parts(caused.parts) : caused };
}

/** A replica that finds only now that its claim is over learns it by that. */
function ended(place: Place, endings: readonly Ending[]): Move {
  const members = endings.map(({ member }) => member);
  const isOver = endings.some((one) => one.isOver);
  const to = () => {
    const left = withoutRunning(isOver ? knowing(place) : place, members);
    return hearing(
      left,
      [{ kind: 'ended', members, fates: endings.map(({ fate }) => fate()) }],
      changesBy(place, endings),
    );
  };
  return { label: `${place.name} handles ${endings.map(({ what }) => what).join(' and ')}`, to };
}

function changesBy({ world }: Place, endings: readonly Ending[]): Partial<World> {
  let after = world;
  for (const { message, requests, answer } of endings) {
    after = { ...after, ...asking(after, message, requests) };
    if (answer === 'waits already') after = { ...after, ...retaining(after, message) };
  }
  return { requests: after.requests, rows: after.rows };
}

/** The place once nothing more is to be heard of these. */
export function withoutRunning(place: Place, members: readonly number[]): Place {
  const { replica } = place;
  const inFlight = replica.inFlight.flatMap((asked) => {
    if (asked.kind !== 'run' || !asked.members.some((member) => members.includes(member))) return [asked];
    const left = runningIn(asked).filter(({ member }) => !members.includes(member));
    if (left.length === 0) return [];
    const still = { members: left.map(({ member }) => member), messages: left.map(({ message }) => message) };
    return [{ ...asked, ...still, hasBegun: true } as const];
  });
  return { ...place, replica: { ...replica, inFlight } };
}
