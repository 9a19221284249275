import { pino, type Logger } from 'pino';

export type Log = Logger;

/** JSON lines on stdout, level and time by name. Never give it a body, a token or a secret. */
export function createLog({ service, level }: { service: string; level: string }): Log {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });
}
