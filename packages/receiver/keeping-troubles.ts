import type { KeepingTrouble, KeptSubscription } from './kept-subscription.ts';

export type KeepingTroubles = {
  standing: () => KeepingTrouble[];
  /** Begins a trouble, in the place of another of the same name. */
  raise: (name: string, trouble: KeepingTrouble) => void;
  settle: (name: string) => void;
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
    settle: (name) => void standing.delete(name),
  };
}

/** Trouble: a subscription that was right had another URL or other fields, and was changed back. */
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
