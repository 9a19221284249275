import { readTimestamp } from '@waybell/events/timestamp';
import type { Publication } from '@waybell/line/messages';
import { publishAnnouncement } from './announcement.ts';
import type { Candidate, Deactivation, Deactivations } from './deactivations.ts';
import type { RememberedVehicles } from './remembered-vehicles.ts';
import { isSilent, seenAtLatest, type Rules } from './vehicle.ts';

export type SweepOptions = {
  deactivations: Deactivations;
  remembered: RememberedVehicles;
  /** Resolves when a queue has it. Rejects where the claim runs out first. */
  publish: (publication: Publication) => Promise<void>;
  /** Whether no reports wait to be read: a vehicle whose report waits is not silent. Asked before each page. */
  isCaughtUp: () => Promise<boolean>;
  onAnnounced: (deactivation: Deactivation) => void;
  rules: Rules;
  rememberMs: number;
  now: () => number;
};

/**
 * `behind`: reports wait, so that nobody can be said to be silent. `unconfirmed`: the broker did not take all that is to
 * be announced; who has not been switched off yet waits for that.
 */
export type SweepResult = 'done' | 'behind' | 'unconfirmed';

/**
 * Announces what somebody switched off and did not get to announce, then finds the vehicles that are silent, switches
 * them off and announces that. Any number of replicas may sweep at once (decision G4).
 */
export async function sweep(options: SweepOptions): Promise<SweepResult> {
  const { deactivations, rules, rememberMs, now } = options;
  for (let late = await deactivations.claimAgain(); late.length > 0; late = await deactivations.claimAgain()) {
    if (!(await announce(late, options))) return 'unconfirmed';
  }
  const at = now();
  let page = await deactivations.candidates(at - rules.silenceMs);
  while (page.length > 0) {
    if (!(await options.isCaughtUp())) return 'behind';
    const switchedOff = await deactivations.switchOff(await silentAmong(page, at, options), at);
    if (!(await announce(switchedOff, options))) return 'unconfirmed';
    page = await deactivations.candidates(at - rules.silenceMs, page.at(-1));
  }
  await deactivations.forget(at - rememberMs);
  return 'done';
}

async function silentAmong(page: readonly Candidate[], now: number, { remembered, rules }: SweepOptions) {
  const known = await remembered.read(page.map(({ shipper, vehicle }) => ({ shipper, vehicle })));
  return page.flatMap((candidate, place) => {
    const exactly = known[place]?.vehicle.track?.seenAt ?? null;
    if (!isSilent(seenAtLatest(candidate.notedAt, exactly, rules), { rules, now })) return [];
    return [{ ...candidate, seenAt: Math.max(candidate.notedAt, exactly ?? 0) }];
  });
}

/** Settles what was confirmed; the rest stays claimed until that runs out. Whether all was. */
async function announce(switchedOff: readonly Deactivation[], options: SweepOptions): Promise<boolean> {
  const results = await Promise.allSettled(switchedOff.map((each) => options.publish(announcementOf(each))));
  const confirmed = switchedOff.filter((_, place) => results[place]?.status === 'fulfilled');
  if (confirmed.length > 0) await options.deactivations.settle(confirmed.map(({ guid }) => guid));
  confirmed.forEach(options.onAnnounced);
  return confirmed.length === switchedOff.length;
}

function announcementOf({ guid, shipper, vehicles, happenedAt }: Deactivation): Publication {
  const occurredAt = readTimestamp(new Date(happenedAt).toISOString());
  if (occurredAt === null) throw new Error('JavaScript wrote a timestamp that is none');
  const payload = { vehicle_guids: vehicles, gps_active: false };
  return publishAnnouncement({ cause: guid, action: 'vehicle.gps_deactivated', occurredAt, shipper, payload });
}
