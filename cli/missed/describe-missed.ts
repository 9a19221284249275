import type { MissedOfAction } from '@waybell/subscription-api/by-hand/missed-by-action';

/** Describes a client's missed events of an action, as a line for a terminal. */
export function describeMissed(client: string, missed: MissedOfAction): string {
  const { action, exhausted, dropped, suppressed, gone, reasons } = missed;
  const counts = [
    `${exhausted} given up`,
    `${dropped} dropped`,
    `${suppressed} not sent`,
    ...(gone === 0 ? [] : [`${gone} no longer kept`]),
  ];
  return [
    `client ${client}`,
    action,
    counts.join(', '),
    ...(reasons.length === 0 ? [] : [reasons.map(({ reason, count }) => `${reason} ${count}`).join(', ')]),
    ...stateOf(missed),
  ].join('  ');
}

/** How many deliveries a replay sends. */
export const replayable = ({ isActive, exhausted, dropped, suppressed }: MissedOfAction): number =>
  isActive ? exhausted + dropped + suppressed : 0;

function stateOf({ subscription, isActive }: MissedOfAction): string[] {
  if (isActive) return [];
  return subscription === null
    ? ['not subscribed any more: nothing can be replayed']
    : [`subscription ${subscription} is switched off: switch it on before a replay`];
}
