import { randomUUID } from 'node:crypto';

const instance = randomUUID().slice(0, 8);
const startedAt = new Date(performance.timeOrigin).toISOString().replace(/\.\d+Z$/, 'Z');

/**
 * Names this process to Postgres, such as `waybell-deliverer 3f9a1c2e 2026-11-27T19:05:28Z`: its service, eight digits that no
 * other process has, and its start. Shorter than the 63 bytes that Postgres keeps.
 */
export const applicationName = (service: string): string => `waybell-${service} ${instance} ${startedAt}`;

/** A POSIX expression for such names. */
export const APPLICATION_NAME = '^waybell-[a-z-]+ [0-9a-f]{8} [0-9-]{10}T[0-9:]{8}Z$';
