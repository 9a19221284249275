/** The operations of each listener, in the order of its document. */
import type { Interface } from '@waybell/catalog/action';
import { carrierOperations, shipperOperations } from './interface-subscriptions.ts';
import { consoleSession, operatorToken, ownToken } from './access.ts';
import { accountOperations } from './accounts.ts';
import { belowClient } from './acting.ts';
import { lineOperations } from './line.ts';
import type { Operation } from './operation.ts';
import { operatorLogOperations } from './operator-log.ts';
import { overviewOperation, type OverviewServices } from './overview.ts';
import type { ActingServices, ClientServices, OperatorServices } from './services.ts';
import { stopOperations } from './stops.ts';
import { subscriptionOperations } from './subscriptions.ts';

const ofInterface = { shipper: shipperOperations, carrier: carrierOperations } satisfies Record<Interface, unknown>;

/** Clients' operations that operators may ask for in a client's place: without its secrets and its experiments. */
const forOperatorsToo = (interfaces: readonly Interface[]): Operation<ActingServices>[] => [
  ...interfaces.flatMap((name) => ofInterface[name]),
  ...subscriptionOperations,
  ownToken,
];

/** The operations of clients of these interfaces. */
export const clientOperations = (interfaces: readonly Interface[]): Operation<ClientServices>[] => [
  ...forOperatorsToo(interfaces),
  consoleSession,
];

/** The operations of operators. */
export const operatorOperations: Operation<OperatorServices & OverviewServices>[] = [
  ...accountOperations,
  operatorToken,
  ...operatorLogOperations,
  ...stopOperations,
  overviewOperation,
  ...lineOperations,
];

/** Those of clients that operators have below the place of a client. */
export const actingOperations = forOperatorsToo(['shipper', 'carrier']).flatMap(belowClient);
