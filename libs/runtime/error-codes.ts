import { types } from 'node:util';

/** Lists the error and its causes, the outermost first. */
export function withCauses(error: unknown): Error[] {
  return types.isNativeError(error) ? [error, ...withCauses(error.cause)] : [];
}

/** Returns the code that a library or the system gave an error; empty without one. */
export function codeOf(error: unknown): string {
  return types.isNativeError(error) && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
