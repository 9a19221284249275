import { EntitySchema } from 'typeorm';
import type { Interface } from '@waybell/catalog/action';

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

/** One client's subscription to one action. It is current until `ended_at`; then the row stays, for history. */
export type Subscription = {
  guid: string;
  interface: Interface;
  account_guid: string;
  client_id: string;
  action: string;
  callback_url: string;
  audit_field_set: string[] | null;
  verification_token_sealed: Buffer;
  verification_token_key_id: string;
  /** Raised by every subscribe, so that what was sent for an earlier one no longer counts. */
  generation: number;
  is_active: boolean;
  created_at: Date;
  changed_at: Date;
  ended_at: Date | null;
  deactivated_at: Date | null;
  deactivation_rule: 'exhausted' | 'window' | null;
  /** The delivery that switched it off. */
  deactivated_by: string | null;
  failing_since: Date | null;
  last_success_at: Date | null;
  last_failure_at: Date | null;
  last_failed_delivery: string | null;
  /** Its deliveries wait until then. */
  paused_until: Date | null;
  /** Since when an operator has had its deliveries wait, and why. */
  stopped_at: Date | null;
  stopped_reason: string | null;
  /** Why it ended, where its client did not end it. */
  ended_reason: 'gone' | 'closed' | null;
  /** When it was off, while what it missed has not been replayed. */
  missed_since: Date | null;
  missed_until: Date | null;
  missed_replayed_at: Date | null;
};

export const subscriptionTable = new EntitySchema<Subscription>({
  name: 'subscription',
  tableName: 'subscriptions',
  columns: {
    guid: { type: 'uuid', primary: true },
    interface: { type: 'text' },
    account_guid: { type: 'uuid' },
    client_id: { type: 'text' },
    action: { type: 'text' },
    callback_url: { type: 'text' },
    audit_field_set: { type: 'text', array: true, nullable: true },
    verification_token_sealed: { type: 'bytea' },
    verification_token_key_id: { type: 'text' },
    generation: { type: 'int' },
    is_active: { type: 'boolean' },
    created_at: { type: 'timestamptz' },
    changed_at: { type: 'timestamptz' },
    ended_at: { type: 'timestamptz', nullable: true },
    deactivated_at: { type: 'timestamptz', nullable: true },
    deactivation_rule: { type: 'text', nullable: true },
    deactivated_by: { type: 'uuid', nullable: true },
    failing_since: { type: 'timestamptz', nullable: true },
    last_success_at: { type: 'timestamptz', nullable: true },
    last_failure_at: { type: 'timestamptz', nullable: true },
    last_failed_delivery: { type: 'uuid', nullable: true },
    paused_until: { type: 'timestamptz', nullable: true },
    stopped_at: { type: 'timestamptz', nullable: true },
    stopped_reason: { type: 'text', nullable: true },
    ended_reason: { type: 'text', nullable: true },
    missed_since: { type: 'timestamptz', nullable: true },
    missed_until: { type: 'timestamptz', nullable: true },
    missed_replayed_at: { type: 'timestamptz', nullable: true },
  },
});
