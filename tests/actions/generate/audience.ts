import { orderFields, otherName, vehicleFields } from '../oracle/audit-fields.ts';
import { messageGuidOf } from '../oracle/message-guid.ts';
import { expectedOf } from '../oracle/expected-body.ts';
import type { Dice } from './dice.ts';
import { announcedName, type GeneratedEvent, parties } from './event.ts';
import { aGuid } from './values.ts';

/** The router's knowledge of a subscription. */
export type Known = {
  guid: string;
  client: string;
  generation: number;
  auditFieldSet: readonly string[] | null;
  isFeatureOn: boolean;
};

export type Audience = {
  subscriptions: ReadonlyMap<string, readonly Known[]>;
  /** `<action> <subscription> <message guid> <body>`, or `<subscription or account> <reason>`, the gate, and how much is unknown; sorted. */
  expected: readonly string[];
};

export const audienceKey = (interfaceName: string, action: string, account: string): string =>
  `${interfaceName}.${action} ${account.toLowerCase()}`;

/** Subscribers to the event, and others that are near it and must get nothing. */
export function anAudience(event: GeneratedEvent, dice: Dice): Audience {
  const { action, accounts } = event;
  const subscriptions = new Map<string, Known[]>();
  const expected: string[] = [];
  const heard = new Set(action.receivers.map((party) => accounts[party].toLowerCase()));
  const keyFor = (account: string) => audienceKey(action.interface, announcedName(event), account);
  for (const key of nearKeys(event, dice)) subscriptions.set(key, [aSubscription(event, dice)]);
  for (const account of heard) {
    const clients = Array.from({ length: dice.below(3) }, () => aSubscription(event, dice));
    subscriptions.set(keyFor(account), clients);
    expected.push(...clients.map((client) => outcome(event, client)));
    if (clients.length === 0) expected.push(`${account} no_subscription`);
  }
  expected.push(`gate ${action.gate ?? 'none'}`);
  return { subscriptions, expected: [...expected, `unknown members ${event.unknownMembers}`].toSorted() };
}

/** Another account, action or interface than the event's: its subscribers must get nothing. */
function nearKeys(event: GeneratedEvent, dice: Dice): string[] {
  const { action, accounts } = event;
  const others = [
    ...Object.values(accounts).filter((_, index) => !action.receivers.includes(parties[index] ?? 'shipper')),
    aGuid(dice),
  ];
  const own = Object.values(accounts);
  const isPlainName = announcedName(event) === action.name;
  return [
    ...others.map((account) => audienceKey(action.interface, announcedName(event), account)),
    ...own.map((account) =>
      audienceKey(action.interface, isPlainName ? `${action.name}.ignored` : action.name, account),
    ),
    ...own.map((account) =>
      audienceKey(action.interface === 'carrier' ? 'shipper' : 'carrier', announcedName(event), account),
    ),
  ];
}

function outcome(event: GeneratedEvent, { guid, auditFieldSet, isFeatureOn }: Known): string {
  if (!isFeatureOn) return `${guid} feature_off`;
  const messageGuid = messageGuidOf(event.guid, guid);
  const told = expectedOf(event, { auditFieldSet, messageGuid });
  return 'nothing' in told
    ? `${guid} ${told.nothing}`
    : `${event.action.interface}.${announcedName(event)} ${guid} ${messageGuid} ${told.body}`;
}

/** Chooses either name of each field. */
const spelled = (fields: readonly string[], dice: Dice) =>
  fields.map((field) => (dice.oneIn(2) ? field : otherName(field)));

function aSubscription({ action }: GeneratedEvent, dice: Dice): Known {
  const fields = action.family === 'vehicle revision' ? vehicleFields : orderFields;
  const share = dice.pick([1, 2, 10]);
  const sets = [null, [], fields, fields.filter(() => dice.oneIn(share))];
  const isRevised = action.family === 'vehicle revision' || action.family === 'order revision';
  return {
    guid: aGuid(dice).toLowerCase(),
    client: 'default',
    generation: dice.below(9) + 1,
    auditFieldSet: isRevised ? dice.pick(sets.map((set) => set && spelled(dice.shuffled(set), dice))) : null,
    isFeatureOn: !dice.oneIn(8),
  };
}
