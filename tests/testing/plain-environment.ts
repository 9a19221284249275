import { CONTAINER_LABEL } from '@waybell/stack/docker';

/** What says where the Docker engine is, and which containers are the test run's. */
const DOCKER = ['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', CONTAINER_LABEL];

/**
 * What a command or a stack of a test has of its caller's environment: no setting, and the cache without which each
 * process would compile all of its code anew.
 */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const docker = DOCKER.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return { PATH, HOME, NODE_COMPILE_CACHE, ...Object.fromEntries(docker) };
}
