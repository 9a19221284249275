import type { SilentVehicle, Deactivations } from './deactivations.ts';
import type { RememberedVehicles } from './remembered-vehicles.ts';
import { isSilent, seenAtLatest, type TrackingRules } from './vehicle.ts';

export type VehicleSweepOptions = {
  deactivations: Deactivations;
  remembered: RememberedVehicles;
  /** Announces vehicles switched off. Resolves with whether none is left except those claimed by others. */
  announce: () => Promise<boolean>;
  /** Returns whether no reports wait: a vehicle whose report waits is not silent. Called before each page. */
  isCaughtUp: () => Promise<boolean>;
  rules: TrackingRules;
  rememberMs: number;
  now: () => number;
};

/**
 * `behind`: reports wait, so no vehicle can be called silent. `unconfirmed`: the broker did not confirm all announcements;
 * vehicles not yet switched off wait for that.
 */
export type SweepResult = 'done' | 'behind' | 'unconfirmed';

/**
 * Announces vehicles that were switched off and not announced. Then finds silent vehicles, switches them off and announces them.
 * Any number of replicas may sweep at once.
 */
export async function sweep(options: VehicleSweepOptions): Promise<SweepResult> {
  const { announce, deactivations, rules, rememberMs, now } = options;
  if (!(await announce())) return 'unconfirmed';
  const at = now();
  let page = await deactivations.candidates(at - rules.silenceMs);
  while (page.length > 0) {
    if (!(await options.isCaughtUp())) return 'behind';
    await deactivations.switchOff(await silentAmong(page, at, options), at);
    if (!(await announce())) return 'unconfirmed';
    page = await deactivations.candidates(at - rules.silenceMs, page.at(-1));
  }
  await deactivations.forget(at - rememberMs);
  return 'done';
}

async function silentAmong(page: readonly SilentVehicle[], now: number, { remembered, rules }: VehicleSweepOptions) {
  const known = await remembered.read(page.map(({ shipper, vehicle }) => ({ shipper, vehicle })));
  return page.flatMap((candidate, place) => {
    const exactly = known[place]?.vehicle.track?.seenAt ?? null;
    if (!isSilent(seenAtLatest(candidate.notedAt, exactly, rules), { rules, now })) return [];
    return [{ ...candidate, seenAt: Math.max(candidate.notedAt, exactly ?? 0) }];
  });
}
