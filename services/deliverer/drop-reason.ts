import type { DropReason } from '@waybell/line/reasons';
import type { DeliveryTarget } from './find-target.ts';

/** Returns why nothing is sent to a target any more; undefined for an active one. */
export function dropReason(target: DeliveryTarget | undefined): DropReason | undefined {
  if (target === undefined || target.state === 'ended') return 'unsubscribed';
  if (target.state === 'deactivated') return 'deactivated';
  return target.isFeatureOn ? undefined : 'feature_off';
}
