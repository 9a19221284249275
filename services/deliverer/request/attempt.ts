import type { Delivery } from '@waybell/line/delivery';
import type { NoResult } from '@waybell/line/messages';
import type { Answer } from '@waybell/line/outcomes';
import type { Credentials } from '../credentials/credentials.ts';
import type { TooMuch } from '../flow/endpoint.ts';

/** One request to a receiver. */
export type AttemptRequest = {
  delivery: Delivery;
  callbackUrl: string;
  verificationToken: string;
  /** Sign the request, `whsec_…`; without one it is not signed. */
  signingSecrets: readonly string[];
  /** Credentials of the request; absent for most. */
  credentials?: Credentials | undefined;
  /** Present if the credentials have it need one. */
  accessToken?: string | undefined;
};

/** The result of one request. */
export type AttemptResult = Answer & {
  isDelivered: boolean;
  /** Present if the receiver asks to be left alone for a while. */
  tooMuch?: TooMuch;
  /**
   * The place where a request without a status failed. `here`: this machine has a fault. `connecting`: there was no connection.
   * `sent`: the request may have arrived. Absent if it must not be sent or its certificate was refused, and once `isOurs` is judged.
   */
  lostAt?: 'here' | 'connecting' | 'sent';
  /** The request failed for a fault of our own, and says nothing about the receiver. */
  isOurs?: true;
  /** There was no request, as the token URL did not answer in time. */
  isHung?: true;
};

/** Called once, when a request has ended: with its result, or with why it has none. */
export type OnAttempted = (ended: AttemptResult | NoResult) => void;
