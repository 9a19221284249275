/** The operations of each listener, in the order of its document. */
import type { Interface } from '@waybell/catalog/action';
import { consoleSession, operatorToken, ownToken } from './access.ts';
import { accountOperations } from './accounts.ts';
import { belowClient } from './acting.ts';
import { byHandOperations } from './by-hand.ts';
import { credentialsOperations } from './credentials.ts';
import { deliveryLogOperations, liveOperation, missedOperation, statisticsOperation } from './delivery-log.ts';
import { carrierOperations, shipperOperations } from './interface-subscriptions.ts';
import { documentOperations, operatorDocument, operatorRoot } from './documents.ts';
import { lineOperations } from './line.ts';
import { listenerOperations } from './listeners.ts';
import type { Operation } from './operation.ts';
import { operatorLogOperations } from './operator-log.ts';
import { overviewOperation, type OverviewServices } from './overview.ts';
import type { ActingServices, ClientServices, OperatorServices } from './services.ts';
import { signingSecretOperations } from './signing-secrets.ts';
import { stopOperations } from './stops.ts';
import { subscriptionOperations } from './subscriptions.ts';
import { triggerOperations } from './triggers.ts';

const ofInterface = { shipper: shipperOperations, carrier: carrierOperations } satisfies Record<Interface, unknown>;

/** The operations of clients of these interfaces. */
export const clientOperations = (interfaces: readonly Interface[]): Operation<ClientServices>[] => [
  ...interfaces.flatMap((name) => ofInterface[name]),
  ownToken,
  consoleSession,
  ...subscriptionOperations,
  ...signingSecretOperations,
  ...credentialsOperations,
  ...deliveryLogOperations,
  liveOperation,
  ...listenerOperations,
  statisticsOperation,
  ...byHandOperations,
  missedOperation,
  ...triggerOperations,
  ...documentOperations,
];

/** The operations of clients that operators have below the place of a client: without its secrets and its experiments. */
export const actingOperations = (
  [
    ownToken,
    ...shipperOperations,
    ...carrierOperations,
    ...subscriptionOperations,
    ...deliveryLogOperations,
    liveOperation,
    statisticsOperation,
    missedOperation,
    ...byHandOperations,
  ] satisfies Operation<ActingServices>[]
).flatMap(belowClient);

/** The operations of operators. */
export const operatorOperations: Operation<OperatorServices & OverviewServices>[] = [
  ...accountOperations,
  operatorToken,
  operatorRoot,
  ...operatorLogOperations,
  ...stopOperations,
  overviewOperation,
  ...lineOperations,
  operatorDocument,
];
