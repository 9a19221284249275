import { PATIENT } from '../testing/patience.ts';

/** Requests under way at once, in tests that break things. */
export const SLOTS = 64;

const HELD_NOW = 128;

/**
 * Deliveries in hand, at most: what a killed deliverer had made and not acknowledged is at most this. It counts members
 * of batches until their batch is acknowledged. On top come those from waiting rooms, half as many, and requests under way
 * for so long that their batch went without them.
 */
export const HELD = 1.5 * HELD_NOW + SLOTS;

/** The schedules of both interfaces in their own shape, but short. */
export const faultSettings = {
  SHIPPER_RETRY_DELAYS: '300ms,300ms,300ms,300ms,300ms',
  CARRIER_RETRY_DELAYS: '200ms,400ms,800ms',
  DELIVER_SLOTS: String(SLOTS),
  DELIVER_HELD: String(HELD_NOW),
  // Slow answers on a busy small machine must not count as outages: that would cost duplicates, and errors of the API.
  ...PATIENT,
};

/** The shipped value, for faults about an outage of Postgres. */
export const shippedDatabaseTimeout = { DATABASE_TIMEOUT: '' };

/** No two attempts at a delivery may be closer than this. */
export const shortestDelayMs = 200;
