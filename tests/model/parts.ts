/** Effects of a message in parts. */
import type { Delivery } from '@waybell/line/delivery';
import type { Input, State } from '@waybell/line/hand-over/state';
import type { InParts, Outgoing } from '@waybell/line/messages';

/** Unlike all else in a world it changes: each world has its own. */
export class Parts implements InParts {
  readonly #all: readonly (readonly Outgoing[])[];
  asked = 0;
  ends = 0;
  /** One was asked for in this move. */
  isFurther = false;

  constructor(all: readonly (readonly Outgoing[])[]) {
    this.#all = all;
  }

  next(): readonly Outgoing[] | undefined {
    if (this.ends > 0) this.ends += 1;
    this.isFurther = true;
    return this.#all[this.asked++];
  }

  end(): void {
    this.ends += 1;
  }

  copy(): Parts {
    return Object.assign(new Parts(this.#all), { asked: this.asked, ends: this.ends });
  }
}

/** The parts that come with inputs. */
export function partsIn(inputs: readonly Input[]): Parts[] {
  return inputs
    .flatMap((input) => (input.kind === 'ended' ? input.fates : []))
    .flatMap((fate) => (fate.kind === 'done' && fate.caused instanceof Parts ? [fate.caused] : []));
}

/** Gives a copied state parts of its own, and returns them. */
export function withParts(state: State<Delivery>, all: readonly Parts[]): Parts[] {
  if (all.length === 0) return [];
  const copies = new Map<InParts, Parts>(all.map((parts) => [parts, parts.copy()]));
  for (const member of state.members.values()) {
    const parts = member.parts && copies.get(member.parts);
    if (parts !== undefined) member.parts = parts;
  }
  return [...copies.values()];
}

/** Returns those parts whose message is still held. */
export function partsOf({ members }: State<Delivery>, all: readonly Parts[]): readonly Parts[] {
  if (all.length === 0) return all;
  const had = hadBy(members);
  return all.filter((parts) => had.has(parts));
}

const hadBy = (members: State<Delivery>['members']) => new Set([...members.values()].map(({ parts }) => parts));

/** Says what is wrong with parts; `wasClosing`: they were to go no further. */
export function misusedParts({ members }: State<Delivery>, all: readonly Parts[], wasClosing: boolean) {
  if (all.length === 0) return undefined;
  const had = hadBy(members);
  if (all.some(({ ends }) => ends > 1)) return 'parts ended twice, or asked for after that';
  if (all.some((parts) => parts.ends === 0 && !had.has(parts))) return 'parts never ended';
  return wasClosing && all.some(({ isFurther }) => isFurther) ? 'a part asked for while closing' : undefined;
}
