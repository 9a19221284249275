import { absentReceivers } from './absent-receivers.ts';
import { closingReceivers } from './closing-receivers.ts';
import { endlessReceivers } from './endless-receivers.ts';
import { garblingReceivers } from './garbling-receivers.ts';
import type { HostileReceivers } from './hostile-receiver.ts';
import { redirectingReceivers } from './redirecting-receivers.ts';
import { secureReceivers } from './secure-receivers.ts';
import { slowReceivers } from './slow-receivers.ts';

/** Every way to misbehave that is known, with how it ends: docs/failure-reasons.md. */
export const hostileReceivers: HostileReceivers = {
  ...absentReceivers,
  ...secureReceivers,
  ...slowReceivers,
  ...closingReceivers,
  ...garblingReceivers,
  ...redirectingReceivers,
  ...endlessReceivers,
};
