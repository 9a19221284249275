import type { Action, Interface } from './action.ts';
import { carrierOrderActions, damageActions } from './carrier.ts';
import { escalationActions } from './shipper/escalations.ts';
import { insuranceActions } from './shipper/insurance.ts';
import { loadRequestActions } from './shipper/load-requests.ts';
import { offerActions } from './shipper/offers.ts';
import { orderActions } from './shipper/orders.ts';
import { paymentProgramActions } from './shipper/payment-program.ts';
import { revisionActions } from './shipper/revisions.ts';
import { locationReported, vehicleLocationActions } from './shipper/vehicle-location.ts';

/** Every action of both interfaces that clients can subscribe to, family by family. */
export const actions: readonly Action[] = [
  ...revisionActions,
  ...orderActions,
  ...offerActions,
  ...loadRequestActions,
  ...vehicleLocationActions,
  ...escalationActions,
  ...insuranceActions,
  ...paymentProgramActions,
  ...carrierOrderActions,
  ...damageActions,
];

/**
 * Reports that upstream publishes for Waybell alone. Shaped as actions, so that they are read, checked and documented like them.
 */
export const reports: readonly Action[] = [locationReported];

type ActionName = { interface: string; name: string };

const keys = new Map<ActionName, string>(actions.map((action) => [action, keyOf(action)]));
const byName = new Map<string, Map<string, Action>>();
for (const action of actions) {
  const those = byName.get(action.interface) ?? new Map<string, Action>();
  byName.set(action.interface, those.set(action.name, action));
}

/** `<interface>.<name>`: the routing key of the action's events and the name of its queue. */
export function actionKey(action: ActionName): string {
  return keys.get(action) ?? keyOf(action);
}

function keyOf(action: ActionName): string {
  return `${action.interface}.${action.name}`;
}

export function findAction(interfaceName: string, name: string): Action | undefined {
  return byName.get(interfaceName)?.get(name);
}

/** An action, or a report: whatever upstream may publish. */
export function findPublished(interfaceName: string, name: string): Action | undefined {
  return (
    findAction(interfaceName, name) ??
    reports.find((report) => report.interface === interfaceName && report.name === name)
  );
}

/** The actions of one interface, family by family. */
export function actionsOf(interfaceName: Interface): readonly Action[] {
  return actions.filter((action) => action.interface === interfaceName);
}
