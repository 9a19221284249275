import { findAction } from '@waybell/catalog/actions';
import type { ShownSubscription } from '../../subscriptions.ts';
import type { Caller } from '../authentication/authenticate.ts';

/** A subscription as its client sees it, on either interface; the verification token where it is given. */
export function subscriptionView(
  subscription: ShownSubscription,
  { features }: Pick<Caller, 'features'>,
  token?: string,
) {
  const { guid, action, callback_url, audit_field_set, is_active, stop, missed } = subscription;
  const { deactivated_at: offAt, paused_until: pausedUntil } = subscription;
  const feature = findAction(subscription.interface, action)?.feature;
  return {
    guid,
    action,
    callback_url,
    ...(audit_field_set !== null && { audit_field_set }),
    ...(token !== undefined && { verification_token: token }),
    is_active,
    created_at: subscription.created_at.toISOString(),
    changed_at: subscription.changed_at.toISOString(),
    ...(!is_active &&
      offAt !== null && { deactivation: { at: offAt.toISOString(), rule: subscription.deactivation_rule } }),
    // Its deliveries are suppressed or dropped as `feature_off`.
    ...(feature !== undefined && !features.includes(feature) && { suspension: { reason: 'feature_off', feature } }),
    ...(pausedUntil !== null && pausedUntil.getTime() > Date.now() && { paused_until: pausedUntil.toISOString() }),
    ...(stop !== null && { stopped: { at: new Date(stop.at).toISOString(), reason: stop.reason } }),
    ...(missed !== null && {
      missed: {
        since: new Date(missed.offMs).toISOString(),
        until: new Date(missed.onMs).toISOString(),
        ...(missed.count !== undefined && { count: missed.count }),
      },
    }),
  };
}
