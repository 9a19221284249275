/**
 * What a command or a stack of a test has of its caller's environment: no setting, and the cache without which each
 * process would compile all of its code anew.
 */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, NODE_COMPILE_CACHE };
}
