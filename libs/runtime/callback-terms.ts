/** What holds of every callback, for what makes them and what tells of them. */
import manifest from './package.json' with { type: 'json' };

/** How requests name their sender. All packages are of one version. */
export const USER_AGENT = `Waybell/${manifest.version}`;

/** The oldest version of TLS that is spoken with receivers. */
export const LEAST_TLS = 'TLSv1.2';

/** So much of a receiver's body is read. */
export const ANSWER_LIMIT_BYTES = 64 * 1024;
