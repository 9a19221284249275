import { Tables } from './0001-tables.ts';
import { Grants } from './0002-grants.ts';
import { SettleDeliveries } from './0003-settle-deliveries.ts';
import { TrackedVehicles } from './0004-tracked-vehicles.ts';
import { SigningSecrets } from './0005-signing-secrets.ts';
import { AuditLog } from './0006-audit-log.ts';
import { AuditSigningSecrets } from './0007-audit-signing-secrets.ts';
import { LeastGrants } from './0008-least-grants.ts';
import { DeliveryLog } from './0009-delivery-log.ts';
import { Sendings } from './0010-sendings.ts';
import { Parked } from './0012-parked.ts';
import { OpenRequests } from './0013-open-requests.ts';
import { KeptPublications } from './0014-kept-publications.ts';
import { ParkedEgress } from './0015-parked-egress.ts';
import { ParkedWithoutRecords } from './0016-parked-without-records.ts';
import { SecretsOfClients } from './0017-secrets-of-clients.ts';
import { ClaimedRequests } from './0018-claimed-requests.ts';
import { SwitchedOnTogether } from './0019-switched-on-together.ts';
import { KnownAccounts } from './0020-known-accounts.ts';
import { Deactivations } from './0021-deactivations.ts';
import { AccountNames } from './0023-account-names.ts';
import { MadeAgain } from './0024-made-again.ts';
import { SwitchedOff } from './0025-switched-off.ts';
import { SchemaVersion } from './0026-schema-version.ts';
import { ActionsOfDeliverers } from './0027-actions-of-deliverers.ts';
import { RetriedTests } from './0028-retried-tests.ts';
import { Listeners } from './0029-listeners.ts';
import { DueDeactivations } from './0030-due-deactivations.ts';
import { ParkedBusy } from './0031-parked-busy.ts';
import { LogOfRows } from './0032-log-of-rows.ts';
import { WaitingRooms } from './0033-waiting-rooms.ts';
import { PausesAndStops } from './0034-pauses-and-stops.ts';
import { Notices } from './0035-notices.ts';
import { Stopped } from './0036-stopped.ts';
import { Credentials } from './0037-credentials.ts';
import { SentByHand } from './0038-sent-by-hand.ts';
import { ConsoleLinks } from './0039-console-links.ts';
import { ClosedAccounts } from './0040-closed-accounts.ts';
import { Outboxes } from './0041-outboxes.ts';

/**
 * Every migration, oldest first. One that was released is never changed; the next one changes the tables, and only adds to them:
 * services of the version before run on (docs/decisions/0012-versions.md). Each is a transaction of its own; `transaction = false`
 * makes one none.
 */
export const migrations = [
  Tables,
  Grants,
  SettleDeliveries,
  TrackedVehicles,
  SigningSecrets,
  AuditLog,
  AuditSigningSecrets,
  LeastGrants,
  DeliveryLog,
  Sendings,
  Parked,
  OpenRequests,
  KeptPublications,
  ParkedEgress,
  ParkedWithoutRecords,
  SecretsOfClients,
  ClaimedRequests,
  SwitchedOnTogether,
  KnownAccounts,
  Deactivations,
  AccountNames,
  MadeAgain,
  SwitchedOff,
  SchemaVersion,
  ActionsOfDeliverers,
  RetriedTests,
  Listeners,
  DueDeactivations,
  ParkedBusy,
  LogOfRows,
  WaitingRooms,
  PausesAndStops,
  Notices,
  Stopped,
  Credentials,
  SentByHand,
  ConsoleLinks,
  ClosedAccounts,
  Outboxes,
];
