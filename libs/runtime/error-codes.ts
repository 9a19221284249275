import { types } from 'node:util';

/** The error and what caused it, the outermost first. */
export function withCauses(error: unknown): Error[] {
  return types.isNativeError(error) ? [error, ...withCauses(error.cause)] : [];
}

/** The code that a library or the system gives an error; of anything else, none. */
export function codeOf(error: unknown): string {
  return types.isNativeError(error) && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
