import { AMQP, DATABASE } from '@waybell/stack/address-of';
import { READERS, type Setting } from '../../settings.ts';

const { '`waybell declare`': declare, ...services } = READERS;

/** The settings that each process of the chart reads: the services, and the jobs before them. */
export const PROCESSES: Record<string, Record<string, Setting>> = {
  ...services,
  migrate: DATABASE,
  declare: { ...AMQP, ...declare },
};
