import { Tables } from './0001-tables.ts';
import { Grants } from './0002-grants.ts';
import { SettleDeliveries } from './0003-settle-deliveries.ts';

/** Every migration, oldest first. One that was released is never changed; the next one changes the tables. */
export const migrations = [Tables, Grants, SettleDeliveries];
