import { readEnvironment, str } from '@waybell/runtime/environment';
import { brokerAddress, postgresAddress, type ServerAddress } from '@waybell/runtime/server-address';
import { tlsSettings } from '@waybell/runtime/settings';
import { stackOf } from './stack-folder.ts';
import { requireRunning } from './stack-state.ts';

// The running stack names what the environment does not.
const optional = str({ default: '' });
/** Settings for RabbitMQ that commands read. */
export const AMQP = { AMQP_URL: optional, ...tlsSettings };
/** Settings for Postgres that commands read. */
export const DATABASE = { DATABASE_URL: optional, ...tlsSettings };

/** RabbitMQ as the environment names it, with the settings that services have, else the running stack's. Throws NotRunning. */
export function brokerOf(env: NodeJS.ProcessEnv): ServerAddress {
  const settings = readEnvironment(AMQP, env);
  const isOfStack = settings.AMQP_URL === '';
  const AMQP_URL = isOfStack ? running('AMQP_URL', env) : settings.AMQP_URL;
  return { ...brokerAddress({ ...settings, AMQP_URL }), isOfStack };
}

/** Postgres as the environment names it, with the settings that services have, else the running stack's. Throws NotRunning. */
export function databaseOf(env: NodeJS.ProcessEnv): ServerAddress {
  const settings = readEnvironment(DATABASE, env);
  const isOfStack = settings.DATABASE_URL === '';
  const DATABASE_URL = isOfStack ? running('DATABASE_URL', env) : settings.DATABASE_URL;
  return { ...postgresAddress({ ...settings, DATABASE_URL }), isOfStack };
}

function running(name: 'AMQP_URL' | 'DATABASE_URL', env: NodeJS.ProcessEnv): string {
  const address = requireRunning(stackOf(env)).addresses[name];
  if (address === undefined) throw new Error(`the running stack is still starting and has no ${name} yet`);
  return address;
}
