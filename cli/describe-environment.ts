import { addressesIn } from '@waybell/runtime/addresses';
import { mistypedSettings } from '@waybell/runtime/environment';
import type { InheritedServer } from '@waybell/stack/inherited-servers';

/** Variables that commands read, in addition to the settings of the services. */
const OF_COMMANDS = ['WAYBELL_HOME', 'RABBITMQ_VERSION'];

export type EnvironmentNames = {
  /** The names of all settings of the services. */
  settings: readonly string[];
  servers: readonly InheritedServer[];
  env: NodeJS.ProcessEnv;
};

/** Lists what a stack uses of its caller's environment, and what it ignores there, a line each. */
export function describeEnvironment({ settings, servers, env }: EnvironmentNames): string[] {
  const variables = servers.map(({ variable }) => variable);
  const others = [...settings, ...OF_COMMANDS].filter((name) => isSet(name, env) && !variables.includes(name));
  const mistyped = mistypedSettings([...settings, ...OF_COMMANDS], env);
  return [
    ...servers.map(
      ({ variable, url }) =>
        `uses the server that ${variable} names: ${addressesIn(url).map(withoutPassword).join(',')}`,
    ),
    ...(others.length === 0 ? [] : [`follows the environment in ${others.toSorted().join(', ')}`]),
    ...mistyped.map(({ name, setting }) => `warning: ${name} is not a setting: is ${setting} meant?`),
  ];
}

/** Removes all settings from `env`. Returns the names of those that were there. */
export function removeSettings(settings: readonly string[], env: NodeJS.ProcessEnv): string[] {
  const names = [...settings, ...settings.map((name) => `${name}_FILE`), 'WAYBELL_HOME'].filter((name) => name in env);
  for (const name of names) delete env[name];
  return names.toSorted();
}

const isSet = (name: string, env: NodeJS.ProcessEnv): boolean => Boolean(env[name] || env[`${name}_FILE`]);

function withoutPassword(address: string): string {
  const url = URL.parse(address);
  // The fault is reported later, without the text.
  if (url === null) return 'not an address';
  return `${url.protocol}//${url.username}${url.username && '@'}${url.host}${url.pathname}`;
}
