/** The settings of `settings.ts` in the form in which services use them. */
import { readNetworks, readPorts } from './networks.ts';
import type { ProcessSettings } from './process-parts.ts';
import {
  brokerAddress,
  postgresAddress,
  redisAddress,
  requireUseOfTls,
  type BrokerAddressSettings,
  type PostgresAddressSettings,
  type RedisAddressSettings,
} from './server-address.ts';
import type { requestLimitSettings } from './settings.ts';

export function processConfig(settings: ProcessSettings & Parameters<typeof requireUseOfTls>[0]) {
  // A setting that a process does not read could not be asked for.
  requireUseOfTls({ ...settings });
  return { process: settings };
}

type PostgresSettings = {
  DATABASE_ROLE: string;
  DATABASE_POOL_SIZE: number;
  DATABASE_TIMEOUT: number;
  CLOCK_LIMIT: number;
};

export function postgresConfig(settings: PostgresAddressSettings & PostgresSettings) {
  return {
    postgres: {
      ...postgresAddress(settings),
      role: settings.DATABASE_ROLE,
      poolSize: settings.DATABASE_POOL_SIZE,
      timeoutMs: settings.DATABASE_TIMEOUT,
    },
    clockLimitMs: settings.CLOCK_LIMIT,
  };
}

export function redisConfig(settings: RedisAddressSettings & { REDIS_TIMEOUT: number }) {
  return { redis: { ...redisAddress(settings), timeoutMs: settings.REDIS_TIMEOUT } };
}

type BrokerSettings = { AMQP_MANAGEMENT_URL: string; CONFIRM_TIMEOUT: number; UNCONFIRMED_LIMIT: number };

export function brokerConfig(settings: BrokerAddressSettings & BrokerSettings) {
  return {
    broker: {
      ...brokerAddress(settings),
      managementUrl: settings.AMQP_MANAGEMENT_URL,
      confirmTimeoutMs: settings.CONFIRM_TIMEOUT,
      unconfirmedLimit: settings.UNCONFIRMED_LIMIT,
    },
  };
}

/** Limits of a request from its start: until it is handed over, and until the status line. */
export function requestLimits(settings: Record<keyof typeof requestLimitSettings, number>) {
  return {
    shipper: { handoverMs: settings.SHIPPER_HANDOVER_LIMIT, responseMs: settings.SHIPPER_RESPONSE_LIMIT },
    carrier: { responseMs: settings.CARRIER_RESPONSE_LIMIT },
  };
}

type CallbackSettings = {
  CALLBACK_ALLOW_NETWORKS: string[];
  CALLBACK_DENY_NETWORKS: string[];
  CALLBACK_NAT64_PREFIXES: string[];
  CALLBACK_DENY_PORTS: string[];
};

export function callbackConfig(settings: CallbackSettings) {
  return {
    networks: readNetworks(
      settings.CALLBACK_ALLOW_NETWORKS,
      settings.CALLBACK_DENY_NETWORKS,
      settings.CALLBACK_NAT64_PREFIXES,
    ),
    deniedPorts: readPorts(settings.CALLBACK_DENY_PORTS),
  };
}
