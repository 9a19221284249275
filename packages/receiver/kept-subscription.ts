/** The state that `keepSubscribed` shows: subscriptions, changes that were made, and the troubles that last. */

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
  /** Absent if the trouble is that of the API. */
  action?: string;
};

/** A change that was made. `replayed`: number of missed deliveries that are sent now. */
export type KeepingChange = {
  kind: 'subscribed' | 'changed' | 'switched_on' | 'replayed';
  action: string;
  guid: string;
  count?: number;
};

export type KeptState = {
  /** Time of the last complete answer of the API; undefined before. */
  lookedAt: Date | undefined;
  subscriptions: readonly KeptSubscription[];
  /** Troubles that last. */
  troubles: readonly KeepingTrouble[];
};

export type KeepingTroubles = {
  standing: () => KeepingTrouble[];
  /** Begins a trouble, in the place of another of the same name. */
  raise: (name: string, trouble: KeepingTrouble) => void;
  end: (name: string) => void;
};

/** Tracks troubles. Reports each when it begins, not again while it lasts. */
export function keepingTroubles(onTrouble: (trouble: KeepingTrouble) => void): KeepingTroubles {
  const standing = new Map<string, KeepingTrouble>();
  return {
    standing: () => [...standing.values()],
    raise(name, trouble) {
      const before = standing.get(name);
      standing.set(name, trouble);
      if (before?.reason !== trouble.reason || before.detail !== trouble.detail) onTrouble(trouble);
    },
    end: (name) => void standing.delete(name),
  };
}

/** Returns the trouble of a subscription that was right, had another URL or other fields, and was changed back. */
export function contested(action: string): KeepingTrouble {
  const detail =
    'something else changed it since the last look, and it was changed back: a replica with other options?';
  return { reason: 'changed_elsewhere', action, detail };
}

/** Returns the trouble of a subscription; undefined if it is right. */
export function troubleOf({ action, ...subscription }: KeptSubscription): KeepingTrouble | undefined {
  const { stopped, paused_until: until, suspension, is_active: isActive, deactivation } = subscription;
  if (stopped) {
    const detail = `an operator stopped it at ${stopped.at}: ${stopped.reason}. What is due waits until an operator starts it`;
    return { reason: 'stopped', action, detail };
  }
  if (!isActive) {
    const since = deactivation ? ` since ${deactivation.at} (${deactivation.rule})` : '';
    return { reason: 'switched_off', action, detail: `it is off${since}, and is switched on once a test is answered` };
  }
  if (until !== undefined)
    return { reason: 'paused', action, detail: `it is paused: what is due waits until ${until}` };
  if (suspension) {
    const detail = `nothing is sent while the account does not have the feature ${suspension.feature}`;
    return { reason: 'suspended', action, detail };
  }
  return undefined;
}
