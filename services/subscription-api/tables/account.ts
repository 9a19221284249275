import type { Interface } from '@waybell/catalog/action';
import { EntitySchema } from 'typeorm';

/** A shipper, broker (on the shipper interface) or carrier that uses the API. */
export type Account = {
  guid: string;
  interface: Interface;
  name: string | null;
  features: string[];
  created_at: Date;
  changed_at: Date;
  /** While an operator has closed it. */
  closed_at: Date | null;
};

export const accountTable = new EntitySchema<Account>({
  name: 'account',
  tableName: 'accounts',
  columns: {
    guid: { type: 'uuid', primary: true },
    interface: { type: 'text' },
    name: { type: 'text', nullable: true },
    features: { type: 'text', array: true },
    created_at: { type: 'timestamptz' },
    changed_at: { type: 'timestamptz' },
    closed_at: { type: 'timestamptz', nullable: true },
  },
});
