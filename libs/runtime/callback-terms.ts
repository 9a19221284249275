/** Facts that hold for every callback, for the code that makes callbacks and the documents that describe them. */
import manifest from './package.json' with { type: 'json' };

/** How requests name their sender. All packages are of one version. */
export const USER_AGENT = `Waybell/${manifest.version}`;

/** The oldest version of TLS that is spoken with receivers. */
export const LEAST_TLS = 'TLSv1.2';

/** Longest age of a connection to a receiver, however busy it is. */
export const LONGEST_CONNECTION_MS = 60_000;

/** Limit of a receiver's body that is read, in bytes. */
export const ANSWER_LIMIT_BYTES = 64 * 1024;
