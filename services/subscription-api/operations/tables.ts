/** The operations of each listener, in the order of its document. */
import type { Interface } from '@waybell/catalog/action';
import { byHandOperations } from './by-hand.ts';
import { credentialsOperations } from './credentials.ts';
import { carrierOperations, shipperOperations } from './interface-subscriptions.ts';
import { deliveryLogOperations, liveOperation, missedOperation, statisticsOperation } from './delivery-log.ts';
import { listenerOperations } from './listeners.ts';
import type { Operation } from './operation.ts';
import type { ActingServices, ClientServices } from './services.ts';
import { signingSecretOperations } from './signing-secrets.ts';
import { subscriptionOperations } from './subscriptions.ts';
import { triggerOperations } from './triggers.ts';

const ofInterface = { shipper: shipperOperations, carrier: carrierOperations } satisfies Record<Interface, unknown>;

/** Clients' operations that operators may ask for in a client's place: without its secrets and its experiments. */
const forOperatorsToo = (interfaces: readonly Interface[]): Operation<ActingServices>[] => [
  ...interfaces.flatMap((name) => ofInterface[name]),
  ...subscriptionOperations,
  ...deliveryLogOperations,
  liveOperation,
  statisticsOperation,
  missedOperation,
  ...byHandOperations,
];

/** The operations of clients of these interfaces. */
export const clientOperations = (interfaces: readonly Interface[]): Operation<ClientServices>[] => [
  ...forOperatorsToo(interfaces),
  ...signingSecretOperations,
  ...credentialsOperations,
  ...listenerOperations,
  ...triggerOperations,
];

/** Those of clients that operators have below the place of a client. */
export const actingOperations = forOperatorsToo(['shipper', 'carrier']);
