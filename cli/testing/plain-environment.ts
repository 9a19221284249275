import { CONTAINER_LABEL } from '@waybell/stack/docker';

/** Variables with the address of the Docker engine, and with the test run's containers. */
const DOCKER = ['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', CONTAINER_LABEL];

/**
 * Returns the environment of a test's command or stack: none of its caller's settings, and the cache without which each process
 * would recompile all of its code.
 */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const docker = DOCKER.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return { PATH, HOME, NODE_COMPILE_CACHE, ...Object.fromEntries(docker) };
}
