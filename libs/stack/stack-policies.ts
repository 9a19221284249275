import {
  harmfulPolicies,
  readPolicies,
  vhostOf,
  type Governed,
  type HarmfulPolicy,
} from '@waybell/line/broker/policies';
import { addressesIn } from '@waybell/runtime/addresses';
import { readEnvironment } from '@waybell/runtime/environment';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { brokerSettings } from '@waybell/runtime/settings';
import { managementOf } from './rabbitmq.ts';
import { stackAt, readRecord } from './stack-record.ts';

const MANAGEMENT = { AMQP_MANAGEMENT_URL: brokerSettings.AMQP_MANAGEMENT_URL };

/**
 * Returns the policies that harm the line there, from the named management API, that of a stack of this machine, or the broker's
 * usual one; undefined if the usual one does not answer. Throws if one that is named, or of a stack, does not.
 */
export async function harmfulPoliciesAt(
  address: ServerAddress,
  env: NodeJS.ProcessEnv,
): Promise<HarmfulPolicy[] | undefined> {
  const named = readEnvironment(MANAGEMENT, env).AMQP_MANAGEMENT_URL;
  const stack = named === '' ? stackAt(address.url) : undefined;
  const managementUrl = stack === undefined ? named : managementOf(readRecord(stack));
  if (managementUrl === undefined) return undefined;
  const reading = managementUrl === '' ? readUsual(address) : readPolicies({ managementUrl, address });
  const found = await reading;
  return found && harmfulPolicies(found, vhostOf(address.url));
}

/** Reads policies at the default address of the management plugin, encrypted or not as the broker is. */
async function readUsual(address: ServerAddress): Promise<Governed[] | undefined> {
  const { protocol, hostname } = new URL(addressesIn(address.url)[0]);
  const managementUrl = protocol === 'amqps:' ? `https://${hostname}:15671` : `http://${hostname}:15672`;
  return readPolicies({ managementUrl, address }).catch(() => undefined);
}
