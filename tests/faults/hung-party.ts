import { hang, type Hang } from '../testing/hang.ts';
import type { Ledger } from '../testing/ledger.ts';
import type { Ending } from '../testing/owed.ts';
import { parkByHand, parkedOf } from '../testing/park-by-hand.ts';
import { ATTEMPTS, subscribed, type Party, type Subscribed, type Subscriber } from '../testing/subscribers.ts';
import { until } from '@waybell/runtime/testing/until';
import type { Stage } from './stage.ts';

/** A subscriber whose endpoint hangs until it is told otherwise, and what is parked for it. */
export type HungParty = Subscribed &
  Hang & {
    subscription: string;
    /** Its requests that were answered with 200, each delivery once. */
    served(): number;
    parked(): Promise<number>;
    untilParked(atLeast: number): Promise<number>;
    /** Parks so many deliveries for it, past the rest of the line. */
    park(count: number): Promise<void>;
  };

type Wanted = Pick<Subscriber, 'interface' | 'action' | 'folder' | 'account' | 'ends'>;

/** `ledger`: of what is parked by hand. Without `ends`, each delivery is to be delivered, at whichever attempt. */
export async function hungParty(
  stage: Omit<Stage, 'scale'>,
  ledger: Pick<Ledger, 'owe'>,
  wanted: Wanted,
): Promise<HungParty> {
  const { receiver, stack } = stage;
  const most = ATTEMPTS[wanted.interface];
  const ends: readonly Ending[] = wanted.ends ?? [{ kind: 'delivered', answers: { most } }];
  const party = await subscribed(stage, { ...wanted, answers: [], ends });
  const { path = '', subscription = '' } = party.addresses[0] ?? {};
  const parked = () => parkedOf(stack.postgres, subscription);
  return {
    ...party,
    ...hang(receiver, path),
    subscription,
    served() {
      const answered = receiver.received.filter((each) => each.path === path && each.answered === 200);
      return new Set(answered.map(({ headers }) => headers['webhook-id'])).size;
    },
    parked,
    untilParked: (atLeast) =>
      until(`${atLeast} are parked`, async () => {
        const count = await parked();
        return count >= atLeast && count;
      }),
    async park(count) {
      const owing = Array.from({ length: count }, () => party.owes(party.anEvent())).flat();
      const deliveries = owing.flatMap(({ event, to }) => (to === undefined ? [] : [{ event, ...to }]));
      const { interface: side, action } = wanted;
      await parkByHand(stack.postgres, { subscription, interface: side, action, deliveries });
      ledger.owe(owing);
    },
  };
}

/** Publishes so many events for them, one after the other. */
export async function publishFor(party: Party, ledger: Ledger, count: number): Promise<void> {
  for (let published = 0; published < count; published += 1) await ledger.publish(party);
}
