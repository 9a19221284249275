import type { Action, Interface } from '@waybell/catalog/action';
import { damageActions, carrierOrderActions } from '@waybell/catalog/carrier';
import { escalationActions } from '@waybell/catalog/shipper/escalations';
import { insuranceActions } from '@waybell/catalog/shipper/insurance';
import { loadRequestActions } from '@waybell/catalog/shipper/load-requests';
import { offerActions } from '@waybell/catalog/shipper/offers';
import { orderActions } from '@waybell/catalog/shipper/orders';
import { paymentProgramActions } from '@waybell/catalog/shipper/payment-program';
import { revisionActions } from '@waybell/catalog/shipper/revisions';
import { vehicleLocationActions } from '@waybell/catalog/shipper/vehicle-location';

/** Actions that are documented together; `name` is a file's name. */
export type Family = {
  readonly name: string;
  readonly interface: Interface;
  readonly title: string;
  readonly actions: readonly Action[];
};

const family = (interfaceName: Interface, name: string, title: string, actions: readonly Action[]): Family => ({
  name: `${interfaceName}-${name}`,
  interface: interfaceName,
  title,
  actions,
});

/** Every action of the catalog, in its order. */
export const families: readonly Family[] = [
  family('shipper', 'revisions', 'Orders and vehicles, with old and new values', revisionActions),
  family('shipper', 'orders', 'Orders', orderActions),
  family('shipper', 'offers', 'Offers', offerActions),
  family('shipper', 'load-requests', 'Load requests', loadRequestActions),
  family('shipper', 'vehicle-location', 'Vehicle location', vehicleLocationActions),
  family('shipper', 'escalations', 'Shipper to broker', escalationActions),
  family('shipper', 'insurance', 'Insurance', insuranceActions),
  family('shipper', 'payment-program', 'Payment program', paymentProgramActions),
  family('carrier', 'orders', 'Carrier orders', carrierOrderActions),
  family('carrier', 'damages', 'Carrier damage reports', damageActions),
];
