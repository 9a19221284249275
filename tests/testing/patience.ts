/** The settings of PATIENT, with the limit of a carrier's answer as it is shipped. */
export const PATIENT_BUT_WITH_CARRIERS = {
  CONNECT_LIMIT: '45s',
  DATABASE_TIMEOUT: '60s',
  GEOCODER_LIMIT: '50s',
  REDIS_TIMEOUT: '50s',
  // A test that waits asks again and again.
  REQUESTS_PER_MINUTE: '100000',
  SHIPPER_HANDOVER_LIMIT: '55s',
};

/**
 * Settings for services whose limits are not what is tested: a receiver, a server or a service that stands still for a
 * while, as on a busy machine, has neither failed nor gone.
 */
export const PATIENT = {
  ...PATIENT_BUT_WITH_CARRIERS,
  CARRIER_RESPONSE_LIMIT: '60s',
};

/** The limit of what a browser is asked to do, and of what a page is to come to: that of all waits. */
export const PAGE_PATIENCE_MS = 120_000;
