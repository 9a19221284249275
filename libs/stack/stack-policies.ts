import { harmfulPolicies, type HarmfulPolicy } from '@waybell/line/broker/policies';
import { readPolicies, vhostOf } from '@waybell/line/broker/read-policies';
import { readEnvironment } from '@waybell/runtime/environment';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { brokerSettings } from '@waybell/runtime/settings';
import { managementOf } from './rabbitmq.ts';
import { stackAt } from './stack-at.ts';
import { readRecord } from './stack-record.ts';

const MANAGEMENT = { AMQP_MANAGEMENT_URL: brokerSettings.AMQP_MANAGEMENT_URL };

/**
 * The policies that harm the line there, by the management API that is named, or that of a stack of this machine; undefined
 * where there is none. Throws where it does not tell.
 */
export async function harmfulPoliciesAt(
  address: ServerAddress,
  env: NodeJS.ProcessEnv,
): Promise<HarmfulPolicy[] | undefined> {
  const named = readEnvironment(MANAGEMENT, env).AMQP_MANAGEMENT_URL;
  const stack = named === '' ? stackAt(address.url) : undefined;
  const managementUrl = stack === undefined ? named : managementOf(readRecord(stack));
  if (managementUrl === undefined || managementUrl === '') return undefined;
  return harmfulPolicies(await readPolicies({ managementUrl, address }), vhostOf(address.url));
}
