import { createLog } from '../log.ts';

/** Long enough that a machine that stands still never looks like a server that is away. */
export const PATIENT_MS = 60_000;

export const silentLog = createLog({ service: 'test', level: 'silent' });
