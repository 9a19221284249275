/** A subscription as `GET /v1/subscriptions` shows it. */
export type KeptSubscription = {
  guid: string;
  action: string;
  callback_url: string;
  audit_field_set?: readonly string[];
  is_active: boolean;
  created_at: string;
  changed_at: string;
  /** When, and by which rule, it was switched off. */
  deactivation?: { at: string; rule: string };
  /** The account lacks the feature that the action needs. */
  suspension?: { reason: string; feature: string };
  paused_until?: string;
  /** Stopped by an operator, who alone starts it again. */
  stopped?: { at: string; reason: string };
  /** While it was off: not replayed yet. */
  missed?: { since: string; until: string };
};

/** A trouble of keeping subscriptions. */
export type KeepingTrouble = {
  /**
   * For the API: `unreachable`, `no_rights` (the access token), `too_many_requests` or `not_taken`. For an action: `refused`,
   * `switched_off`, `changed_elsewhere`, `test_failed` (so that it stays off for now), `paused`, `stopped` or `suspended`.
   */
  reason:
    | 'unreachable'
    | 'no_rights'
    | 'too_many_requests'
    | 'not_taken'
    | 'refused'
    | 'switched_off'
    | 'changed_elsewhere'
    | 'test_failed'
    | 'paused'
    | 'stopped'
    | 'suspended';
  detail: string;
  /** Unless it is of the API. */
  action?: string;
};

/** A change that was made. `replayed`: number of missed deliveries that are sent now. */
export type KeepingChange = {
  kind: 'subscribed' | 'changed' | 'switched_on' | 'replayed';
  action: string;
  guid: string;
} & {
  count?: number;
};

export type KeptState = {
  /** Time of the last complete answer of the API; undefined before. */
  lookedAt: Date | undefined;
  subscriptions: readonly KeptSubscription[];
  /** Troubles that last. */
  troubles: readonly KeepingTrouble[];
};
