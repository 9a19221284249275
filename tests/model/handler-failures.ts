/** How what a replica handles may fail: one of a batch, or all of it before anything was begun. */
import { noResult } from '@waybell/line/messages';
import { Unavailable } from '@waybell/runtime/unavailable';
import { nameOf, nameOfGuid } from './copies.ts';
import { fault, type Fault } from './fault.ts';
import { runningIn, unheardOf, withoutRunning, type Running } from './handling.ts';
import type { Asked } from './replica.ts';
import { answered, asking, hearing, subjectOf, type Place, type World } from './world.ts';

const AWAY = new Unavailable('what it needs', () => Promise.resolve());

export function handlerFailures(place: Place, asked: Asked<'run'>, dead: () => World): Fault[] {
  const { name, setting } = place;
  const each = runningIn(asked);
  const killers = each.filter(({ message }) => setting.killers.includes(nameOfGuid(message.guid)));
  return [
    ...killers.map((killer) => fault('kills', `${name} dies of ${nameIn(place, killer)}`, dead)),
    ...(asked.isRecalled ? each.flatMap((one) => failuresOf(place, one)) : []),
    ...(asked.isRecalled && !asked.hasBegun ? failuresOfAll(place, asked) : []),
  ];
}

function failuresOf(place: Place, running: Running): Fault[] {
  const { name, world } = place;
  const members = [running.member];
  const failed = (error: unknown, change: Partial<World> = {}) =>
    hearing(withoutRunning(place, members), [{ kind: 'ended', members, fates: [noResult(error)] }], change);
  const what = nameIn(place, running);
  return [
    fault('throws', `${name} fails with ${what}`, () => failed('a bug', asking(world, running.message, 1))),
    fault('outage', `${name} cannot handle ${what} for now`, () => failed(AWAY)),
    ...unheardOf(place, running, { isRetained: false }).map(({ label, to }) =>
      fault('postgres away', `${label}, and cannot ask for its row`, to),
    ),
    ...unheardOf(place, running, { isRetained: true }).map(({ label, to }) =>
      fault('commit unheard', `${label}, and does not hear of its row`, to),
    ),
  ];
}

function failuresOfAll(place: Place, asked: Asked<'run'>): Fault[] {
  const members = [...asked.members, ...(asked.repeats ?? [])];
  const threw = (error: unknown) => () => answered(place, asked, [{ kind: 'threw', members, why: noResult(error) }]);
  const what = subjectOf(place, asked);
  const thrown = fault('throws for all', `${place.name} fails before it begins ${what}`, threw('a bug'));
  if (members.length === 1) return [thrown];
  return [thrown, fault('outage', `${place.name} cannot begin ${what} for now`, threw(AWAY))];
}

function nameIn({ replica }: Place, { member }: Running): string {
  const copy = replica.state.members.get(member);
  return copy === undefined ? 'nothing' : nameOf(copy);
}
