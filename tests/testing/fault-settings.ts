/** Requests under way at once, in tests that break things: what a killed deliverer had in hand is at most this. */
export const SLOTS = 64;

/** The schedules of both interfaces in their own shape, but short. */
export const faultSettings = {
  SHIPPER_RETRY_DELAYS: '300ms,300ms,300ms,300ms,300ms',
  CARRIER_RETRY_DELAYS: '200ms,400ms,800ms',
  DELIVER_SLOTS: String(SLOTS),
};
